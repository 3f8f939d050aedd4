//! Log-mel spectrograms as `WhisperFeatureExtractor` makes them.

use crate::{audio::Audio, config_file::ConfigFile, error::PreprocessError};
use std::f64::consts::PI;
use testgen_nn::array::{Array, Arrays};

/// Hann windows, power spectrum, Slaney's mel filters, logarithm to base 10 over eight decades.
#[derive(Debug)]
pub(crate) struct LogMel {
    bins: usize,
    hop: usize,
    fft: usize,
    /// The samples that every recording is padded to.
    samples: usize,
    padding_value: f32,
    /// [bins, frequencies].
    filters: Vec<Vec<f64>>,
}

/// The frequency that the filters end at.
// `max_frequency` in `WhisperFeatureExtractor`, half of its sampling rate.
const HIGHEST: f64 = 8000.0;
/// The lower bound of a power.
// `WhisperFeatureExtractor` clamps powers to it, so that silence has a logarithm.
const FLOOR: f64 = 1e-10;
/// How many decades below the strongest are kept.
const DECADES: f64 = 8.0;

impl LogMel {
    pub(crate) fn read(file: &ConfigFile) -> Result<Self, PreprocessError> {
        // The defaults of `WhisperFeatureExtractor`.
        let count = |name, default| Ok::<_, PreprocessError>(file.count(name)?.unwrap_or(default));
        let rate = count("sampling_rate", 16_000)?;
        let (bins, fft) = (count("feature_size", 80)?, count("n_fft", 400)?);
        if file.number("dither")?.is_some_and(|dither| dither != 0.0) {
            // With noise, no two runs agree, nor does a run with the recorded golden.
            return Err(file.wrong("dither", "adds noise", "set it to 0"));
        }
        Ok(Self {
            bins,
            // The number of frames is divided by it, and a file may say 0.
            hop: count("hop_length", 160)?.max(1),
            fft,
            samples: count("chunk_length", 30)? * rate,
            padding_value: file.number("padding_value")?.unwrap_or(0.0) as f32,
            filters: filters(bins, fft / 2 + 1, rate),
        })
    }

    /// `input_features` [batch, bins, frames].
    pub(crate) fn process(&self, recordings: &[Audio]) -> Result<Arrays, PreprocessError> {
        // Centred windows make one frame more; `WhisperFeatureExtractor` drops the last one.
        let frames = self.samples / self.hop;
        let mut values = Vec::with_capacity(recordings.len() * self.bins * frames);
        for (index, audio) in recordings.iter().enumerate() {
            if audio.samples.len() > self.samples {
                let problem = format!(
                    "has {} samples, the model takes {}; cut it",
                    audio.samples.len(),
                    self.samples
                );
                return Err(PreprocessError::Audio { index, problem });
            }
            let mut samples = audio.samples.clone();
            samples.resize(self.samples, self.padding_value);
            self.append(&self.powers(&samples, frames), &mut values);
        }
        let features = Array::floats([recordings.len(), self.bins, frames], values);
        Ok(Arrays::from([("input_features".to_owned(), features)]))
    }

    /// The mel powers [frames][bins], windows centred on every hop, the ends mirrored.
    fn powers(&self, samples: &[f32], frames: usize) -> Vec<Vec<f64>> {
        let half = (self.fft / 2) as isize;
        let window: Vec<f64> =
            // Periodic, thus divided by `fft` and not by `fft - 1`: the default of
            // `window_function`.
            (0..self.fft).map(|place| 0.5 - 0.5 * (2.0 * PI * place as f64 / self.fft as f64).cos()).collect();
        // A plain sum over a table of one period: 400 points are not a power of two. In f64, as
        // numpy's FFT.
        let table: Vec<(f64, f64)> = (0..self.fft)
            .map(|place| (2.0 * PI * place as f64 / self.fft as f64).sin_cos())
            .collect();
        (0..frames)
            .map(|index| {
                let start = (index * self.hop) as isize - half;
                let frame: Vec<f64> = (0..self.fft)
                    .map(|place| {
                        f64::from(mirrored(samples, start + place as isize)) * window[place]
                    })
                    .collect();
                self.mel(&frame, &table)
            })
            .collect()
    }

    /// The power of one windowed frame in each bin; silence has none.
    fn mel(&self, frame: &[f64], table: &[(f64, f64)]) -> Vec<f64> {
        // Skips the transform for the padding, which is most of the 30 seconds of a short
        // recording.
        if frame.iter().all(|value| *value == 0.0) {
            return vec![0.0; self.bins];
        }
        let powers: Vec<f64> = (0..=self.fft / 2)
            .map(|frequency| {
                let (mut real, mut imaginary) = (0.0, 0.0);
                for (place, value) in frame.iter().enumerate() {
                    let (sine, cosine) = table[place * frequency % self.fft];
                    real += value * cosine;
                    imaginary += value * sine;
                }
                real * real + imaginary * imaginary
            })
            .collect();
        self.filters
            .iter()
            .map(|filter| {
                filter
                    .iter()
                    .zip(&powers)
                    .map(|(weight, power)| weight * power)
                    .sum()
            })
            .collect()
    }

    /// Appends [bins, frames].
    fn append(&self, powers: &[Vec<f64>], values: &mut Vec<f32>) {
        let most = powers
            .iter()
            .flatten()
            .map(|power| decades(*power))
            .fold(f64::NEG_INFINITY, f64::max);
        for bin in 0..self.bins {
            values.extend(
                powers
                    .iter()
                    // The shift and the scale are those of `WhisperFeatureExtractor`.
                    .map(|frame| ((decades(frame[bin]).max(most - DECADES) + 4.0) / 4.0) as f32),
            );
        }
    }
}

/// `mel_filter_bank` with Slaney's scale and norm: triangles between neighbours of equally spaced
/// mels, of equal area.
fn filters(bins: usize, frequencies: usize, rate: usize) -> Vec<Vec<f64>> {
    // The class hard-codes 8 kHz, whatever `sampling_rate` is.
    let top = to_mel(HIGHEST);
    let edges: Vec<f64> = (0..bins + 2)
        .map(|edge| to_hertz(top * edge as f64 / (bins + 1) as f64))
        .collect();
    // An integer division, as in `mel_filter_bank`.
    let step = (rate / 2) as f64 / (frequencies - 1) as f64;
    (0..bins)
        .map(|bin| {
            let (low, middle, high) = (edges[bin], edges[bin + 1], edges[bin + 2]);
            (0..frequencies)
                .map(|index| {
                    let frequency = index as f64 * step;
                    let slopes = ((frequency - low) / (middle - low))
                        .min((high - frequency) / (high - middle));
                    slopes.max(0.0) * 2.0 / (high - low)
                })
                .collect()
        })
        .collect()
}

/// The sample at a place, also at one beyond the ends, where the samples are mirrored.
fn mirrored(samples: &[f32], place: isize) -> f32 {
    let last = samples.len() as isize - 1;
    let place = match place.abs() {
        place if place > last => 2 * last - place,
        place => place,
    };
    // A signal shorter than half a window would need a second reflection.
    samples[place.max(0) as usize]
}

/// Linear below 1000 Hz, logarithmic above.
fn to_mel(hertz: f64) -> f64 {
    // Slaney's scale: 200/3 Hz a mel up to 1000 Hz, above it 27 mels for each factor of 6.4.
    if hertz < 1000.0 {
        3.0 * hertz / 200.0
    } else {
        15.0 + (hertz / 1000.0).ln() * 27.0 / 6.4_f64.ln()
    }
}

fn to_hertz(mel: f64) -> f64 {
    if mel < 15.0 {
        200.0 * mel / 3.0
    } else {
        1000.0 * ((mel - 15.0) * 6.4_f64.ln() / 27.0).exp()
    }
}

fn decades(power: f64) -> f64 {
    power.max(FLOOR).log10()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mels_and_hertz_are_inverse() {
        for hertz in [0.0, 440.0, 1000.0, 1001.0, 8000.0] {
            assert!(
                (to_hertz(to_mel(hertz)) - hertz).abs() < 1e-9 * hertz.max(1.0),
                "{hertz}"
            );
        }
    }

    #[test]
    fn every_filter_has_the_same_area() {
        let step = 8000.0 / 2000.0;
        for filter in filters(8, 2001, 16_000) {
            let area: f64 = filter.iter().sum::<f64>() * step;
            assert!((area - 1.0).abs() < 1e-2, "{area}");
        }
    }
}
