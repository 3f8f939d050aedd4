//! Converts recordings to features, as configured in `preprocessor_config.json`.

use crate::{audio::Audio, config_file::ConfigFile, error::PreprocessError, log_mel::LogMel};
use std::path::Path;
use testgen_nn::array::{Array, Arrays};

/// Turns recordings into the model's input: `WhisperFeatureExtractor` or
/// `Wav2Vec2FeatureExtractor`.
#[derive(Debug)]
pub struct FeatureExtractor {
    sampling_rate: usize,
    kind: ExtractorKind,
}

#[derive(Debug)]
enum ExtractorKind {
    /// `input_features` [batch, bins, frames].
    LogMel(LogMel),
    /// `input_values` [batch, samples].
    Waveform(Waveform),
}

#[derive(Debug)]
struct Waveform {
    normalize: bool,
    padding_value: f32,
    attention_mask: bool,
}

/// The epsilon that is added to a variance before its square root is taken.
// As `zero_mean_unit_var_norm` of transformers.
const EPS: f64 = 1e-7;

impl FeatureExtractor {
    /// Reads the file in `directory`, or `None` if there is no feature extractor.
    pub fn open(directory: &Path) -> Result<Option<Self>, PreprocessError> {
        const FIELD: &str = "feature_extractor_type";
        let Some(file) = ConfigFile::read(directory, "preprocessor_config.json")? else {
            return Ok(None);
        };
        if file.get("feature_size").is_none() {
            return Ok(None); // an image processor has the same file name
        }
        let kind = match file.text(FIELD)? {
            None => return Ok(None),
            Some("WhisperFeatureExtractor") => ExtractorKind::LogMel(LogMel::read(&file)?),
            Some("Wav2Vec2FeatureExtractor") => ExtractorKind::Waveform(Waveform::read(&file)?),
            Some(other) => {
                let hint =
                    "use a checkpoint with `WhisperFeatureExtractor` or `Wav2Vec2FeatureExtractor`";
                return Err(file.wrong(
                    FIELD,
                    &format!("is `{other}`, which is not supported"),
                    hint,
                ));
            }
        };
        Ok(Some(Self {
            // The default of both classes.
            sampling_rate: file.count("sampling_rate")?.unwrap_or(16_000),
            kind,
        }))
    }

    /// The samples in a second that recordings must have.
    pub fn sampling_rate(&self) -> usize {
        self.sampling_rate
    }

    /// The model's input for a batch of recordings.
    ///
    /// # Errors
    ///
    /// When a recording has another sampling rate, is empty, or is longer than the model takes.
    pub fn process(&self, recordings: &[Audio]) -> Result<Arrays, PreprocessError> {
        for (index, audio) in recordings.iter().enumerate() {
            if audio.sampling_rate != self.sampling_rate {
                let (found, expected) = (audio.sampling_rate, self.sampling_rate);
                let problem = format!(
                    "has {found} samples in a second, the checkpoint takes {expected}; resample it"
                );
                return Err(PreprocessError::Audio { index, problem });
            }
            if audio.samples.is_empty() {
                return Err(PreprocessError::Audio {
                    index,
                    problem: "is empty".to_owned(),
                });
            }
        }
        match &self.kind {
            ExtractorKind::LogMel(log_mel) => log_mel.process(recordings),
            ExtractorKind::Waveform(waveform) => Ok(waveform.process(recordings)),
        }
    }
}

impl Waveform {
    fn read(file: &ConfigFile) -> Result<Self, PreprocessError> {
        // Without a mask, padding changes what the model hears; on the left it would do so in
        // another place.
        if file
            .text("padding_side")?
            .is_some_and(|side| side != "right")
        {
            return Err(file.wrong(
                "padding_side",
                "is not `right`",
                "pad recordings after their end",
            ));
        }
        Ok(Self {
            // A field that is left out is as in the constructor of `Wav2Vec2FeatureExtractor`.
            normalize: file.flag("do_normalize")?.unwrap_or(true),
            padding_value: file.number("padding_value")?.unwrap_or(0.0) as f32,
            attention_mask: file.flag("return_attention_mask")?.unwrap_or(false),
        })
    }

    /// Filled up to the longest.
    fn process(&self, recordings: &[Audio]) -> Arrays {
        // Without a mask, padding counts as a part of the recording.
        let longest = recordings
            .iter()
            .map(|audio| audio.samples.len())
            .max()
            .unwrap_or(0);
        let (mut values, mut mask) = (Vec::new(), Vec::new());
        for Audio { samples, .. } in recordings {
            let mut row = samples.clone();
            // Before normalising, as in `Wav2Vec2FeatureExtractor.__call__`:
            // without a mask, the mean includes the padding.
            row.resize(longest, self.padding_value);
            let real = if self.attention_mask {
                samples.len()
            } else {
                longest
            };
            if self.normalize {
                normalize(&mut row[..real]);
            }
            values.extend(row);
            mask.extend((0..longest).map(|place| i64::from(place < samples.len())));
        }
        let shape = [recordings.len(), longest];
        let mut arrays = Arrays::from([("input_values".to_owned(), Array::floats(shape, values))]);
        if self.attention_mask {
            arrays.insert("attention_mask".to_owned(), Array::integers(shape, mask));
        }
        arrays
    }
}

/// Zero mean and unit variance.
fn normalize(row: &mut [f32]) {
    let count = row.len().max(1) as f64;
    let mean = row.iter().map(|value| f64::from(*value)).sum::<f64>() / count;
    let variance = row
        .iter()
        .map(|value| (f64::from(*value) - mean).powi(2))
        .sum::<f64>()
        / count;
    let scale = (variance + EPS).sqrt();
    row.iter_mut()
        .for_each(|value| *value = ((f64::from(*value) - mean) / scale) as f32);
}
