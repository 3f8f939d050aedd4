//! `preprocess_golden`: a text becomes the recorded token ids and mask, an image the recorded pixel
//! values, a recording the recorded features, a graph the recorded paths and degrees.
//!
//! The digest of the vocabulary covers the tokens that no recorded text contains.
//!
//! `token_type_ids` are not compared: the recorder chooses them itself, so that both types occur.

#[cfg(test)]
use super::tests::faulty::{Detected, Fault};
use super::{
    inputs::graphs::recorded_graphs,
    run::{Abort, CheckResult, CheckRun, Failures},
};
use crate::{
    golden::{Golden, Noise, RecordedCase},
    tolerance::{Threshold, Tolerance},
};
use std::fmt::Display;
use testgen_nn::{
    array::{Array, Values},
    forward::{ForwardError, Unsupported},
};
use testgen_processing::{
    audio::Audio,
    image::Image,
    processor::Processor,
    tokenizer::{PaddingSide, TextInput, TokenizeOptions},
};
use testgen_types::Precision;

#[cfg(test)]
pub(super) const FAULT: Detected = Detected::new(
    Fault::OtherInputsRecorded,
    "other inputs were recorded",
    "position 0: expected|at [0, 0, 0",
);

pub(super) fn check(run: &mut CheckRun<'_>) -> CheckResult {
    let golden = run.golden()?;
    Abort::skip_if(inapplicable(&golden))?;
    let tested = run.subject_under_test()?;
    let processor = tested.model().processor();
    // A processor that is not supported here must not look like wrong inputs.
    if let Some(problem) = processor.problem() {
        return Err(ForwardError::from(Unsupported(format!(
            "the checkpoint's processors: {problem}"
        )))
        .into());
    }
    let mut failures = Failures::default();
    for case in golden.cases.iter().filter(|case| case.texts.is_some()) {
        texts(
            processor,
            case,
            tested.model().capabilities().full_text_length(),
            &mut failures,
        )?;
    }
    let warning = vocabulary(processor, &golden, &mut failures)?;
    if !golden.images.is_empty() {
        images(run, processor, &golden, &mut failures)?;
    }
    if !golden.audio.is_empty() {
        audio(run, processor, &golden, &mut failures)?;
    }
    if !golden.graphs.is_empty() {
        graphs(processor, &golden, &mut failures)?;
    }
    failures.conclude()?;
    Ok(warning)
}

/// Compares the digest of the vocabulary; a warning if the golden has texts and no digest.
fn vocabulary(processor: &Processor, golden: &Golden, failures: &mut Failures) -> CheckResult {
    let Some(tokenizer) = processor
        .tokenizer()
        .filter(|_| golden.cases.iter().any(|case| case.texts.is_some()))
    else {
        return Ok(None);
    };
    let Some(recorded) = &golden.vocabulary else {
        let warning = "only the tokens of the recorded texts are compared: the golden has no digest of the vocabulary; \
                       record it again to compare all";
        return Ok(Some(warning.to_owned()));
    };
    // The texts alone would pass with a tokenizer that differs in a token that they do not contain.
    if tokenizer.vocabulary_digest()? != *recorded {
        failures.push(
            "the vocabulary is another one than that of the golden: a token, a merge or a score differs, maybe outside of the \
             recorded texts; restore the tokenizer's files, or record the golden again",
        );
    }
    Ok(None)
}

/// Why a golden has nothing to compare with.
pub(super) fn inapplicable(golden: &Golden) -> Option<String> {
    let raw = !golden.images.is_empty() || !golden.audio.is_empty() || !golden.graphs.is_empty();
    let recorded = raw || golden.cases.iter().any(|case| case.texts.is_some());
    let reason = "the golden has no texts, images, recordings or graphs: when it was recorded, the checkpoint had no tokenizer \
                  or processor";
    (!recorded).then(|| reason.to_owned())
}

fn texts(
    processor: &Processor,
    case: &RecordedCase,
    pad_to: Option<usize>,
    failures: &mut Failures,
) -> Result<(), Abort> {
    let Some(tokenizer) = processor.tokenizer() else {
        failures.push("the golden has texts, but the checkpoint has no tokenizer");
        return Ok(());
    };
    let texts: Vec<TextInput<'_>> = case
        .texts
        .iter()
        .flatten()
        .map(|text| (text.as_str(), None))
        .collect();
    // The recorder pads on the right, whatever the tokenizer's configuration says.
    let options = TokenizeOptions {
        padding_side: Some(PaddingSide::Right),
        pad_to,
        max_length: None,
    };
    let encoded = tokenizer.tokenize(&texts, options)?.arrays;
    // Only what the tokenizer decides: the recorder draws the other arguments.
    for name in ["input_ids", "attention_mask"] {
        let Some(expected) = case.inputs.get(name) else {
            continue;
        };
        let label = case.qualified(name);
        match encoded.get(name) {
            Some(got) => failures.extend(first_difference(&label, &by_row(expected), got)),
            None => failures.push(format!("the tokenizer returns no `{label}`")),
        }
    }
    Ok(())
}

/// Ids [batch, choices, seq] as [batch * choices, seq]: the golden has a text for each choice.
fn by_row(array: &Array) -> Array {
    match *array.shape() {
        [batch, choices, seq] => array.reshaped(&[batch * choices, seq]),
        _ => array.clone(),
    }
}

/// Compares exactly: a collator copies and counts, so there is no rounding, and the zeros and
/// infinities of the bias matter.
fn graphs(processor: &Processor, golden: &Golden, failures: &mut Failures) -> Result<(), Abort> {
    let Some(collator) = processor.graphs() else {
        failures.push("the golden has graphs, but the model reads none");
        return Ok(());
    };
    let collated = collator.process(&recorded_graphs(golden))?;
    for (name, expected) in &golden.main().inputs {
        match collated.get(name) {
            Some(got) => failures.extend(first_difference(name, expected, got)),
            None => failures.push(format!("the collator returns no `{name}`")),
        }
    }
    Ok(())
}

/// The first element that is not equal.
pub(super) fn first_difference(name: &str, expected: &Array, got: &Array) -> Option<String> {
    if expected.shape() != got.shape() {
        return Some(format!(
            "`{name}` has the shape {:?}, expected {:?}",
            got.shape(),
            expected.shape()
        ));
    }
    match (expected.values(), got.values()) {
        (Values::I64(expected_values), Values::I64(values)) => {
            first_unequal(name, expected, expected_values, values)
        }
        (Values::F32(expected_values), Values::F32(values)) => {
            first_unequal(name, expected, expected_values, values)
        }
        _ => Some(format!(
            "`{name}` and the recorded tensor are not of the same type"
        )),
    }
}

fn first_unequal<T: PartialEq + Display>(
    name: &str,
    array: &Array,
    expected: &[T],
    got: &[T],
) -> Option<String> {
    let flat = expected
        .iter()
        .zip(got)
        .position(|(expected, got)| expected != got)?;
    let width = array.shape().last().copied().unwrap_or(1).max(1);
    let (row, position) = (flat / width, flat % width);
    Some(format!(
        "`{name}` row {row}, position {position}: expected {}, got {}",
        expected[flat], got[flat]
    ))
}

fn audio(
    run: &mut CheckRun<'_>,
    processor: &Processor,
    golden: &Golden,
    failures: &mut Failures,
) -> Result<(), Abort> {
    let Some(extractor) = processor.audio() else {
        failures.push("the golden has recordings, but the checkpoint has no feature extractor");
        return Ok(());
    };
    let processed = extractor.process(
        &golden
            .audio
            .iter()
            .map(|samples| Audio {
                // Goldens do not contain the rate: the recorder makes its samples at the
                // extractor's.
                sampling_rate: extractor.sampling_rate(),
                samples: samples.as_floats().unwrap_or_default().to_vec(),
            })
            .collect::<Vec<_>>(),
    )?;
    for (name, got) in &processed {
        match golden.main().inputs.get(name) {
            // Masks of frames are counted, so they are exact.
            Some(expected) if expected.as_integers().is_some() => {
                failures.extend(first_difference(name, expected, got))
            }
            Some(expected) => {
                failures.extend(run.compare(name, expected, got, host_threshold(name)))
            }
            None => failures.push(format!("the golden has recordings, but no `input.{name}`")),
        }
    }
    Ok(())
}

fn images(
    run: &mut CheckRun<'_>,
    processor: &Processor,
    golden: &Golden,
    failures: &mut Failures,
) -> Result<(), Abort> {
    let Some(processor) = processor.images() else {
        failures.push("the golden has images, but the checkpoint has no image processor");
        return Ok(());
    };
    let images = golden
        .images
        .iter()
        .map(Image::from_array)
        .collect::<Result<Vec<_>, _>>()?;
    let processed = match golden.main().inputs.get("pixel_values").map(Array::shape) {
        // The frames of videos, one video after another.
        Some(&[_, frames, 3, _, _]) if frames > 0 && images.len().is_multiple_of(frames) => {
            let videos: Vec<Vec<Image>> = images.chunks(frames).map(<[Image]>::to_vec).collect();
            processor.process_videos(&videos)?
        }
        _ => processor.process(&images)?,
    };
    if let Some(expected) = golden.main().inputs.get("pixel_mask") {
        match processed.get("pixel_mask") {
            Some(got) => failures.extend(first_difference("pixel_mask", expected, got)),
            None => failures.push("the image processor returns no `pixel_mask`"),
        }
    }
    let name = "pixel_values";
    match (golden.main().inputs.get(name), processed.get(name)) {
        (Some(expected), Some(got)) => {
            failures.extend(run.compare(name, expected, got, host_threshold(name)))
        }
        (Some(_), None) => failures.push("the image processor returns no `pixel_values`"),
        // Else the images would have been compared with nothing.
        (None, _) => failures.push("the golden has images, but no `input.pixel_values`"),
    }
    Ok(())
}

/// The threshold of f32 without noise.
fn host_threshold(name: &str) -> Threshold {
    // Inputs are computed on the host in f32, whatever the device and its precision.
    Tolerance::new(&Noise::default(), &[], Precision::F32, false).golden(name)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::check::tests::{OnHost, fixtures};
    use testgen_types::Architecture;

    #[test]
    fn a_difference_names_its_row_and_position() {
        let ids = |values: Vec<i64>| Array::integers([2, 3], values);
        let difference =
            |values| first_difference("input_ids", &ids(vec![1, 2, 3, 4, 5, 6]), &ids(values));
        assert_eq!(difference(vec![1, 2, 3, 4, 5, 6]), None);
        let found = difference(vec![1, 2, 3, 4, 5, 7]);
        assert_eq!(
            found.as_deref(),
            Some("`input_ids` row 1, position 2: expected 6, got 7")
        );
    }

    /// The result of comparing the features of recordings that have a mask.
    fn recordings(golden: &Golden) -> Result<(), Abort> {
        let processor = Processor::open(&fixtures().join("wav2vec2_stable"))?;
        let mut failures = Failures::default();
        OnHost::for_architecture(Architecture::Speech)
            .run(|run| audio(run, &processor, golden, &mut failures))?;
        failures.conclude()
    }

    #[test]
    fn the_mask_of_recordings_is_compared_exactly() {
        let mut golden = Golden::read(&fixtures().join("wav2vec2_stable")).unwrap();
        assert_eq!(recordings(&golden), Ok(()));
        let mask = golden.cases[0].inputs.get_mut("attention_mask").unwrap();
        let mut values = mask.as_integers().unwrap().to_vec();
        values[1] = 0;
        *mask = Array::integers(mask.shape(), values);
        let reason = "`attention_mask` row 0, position 1: expected 0, got 1";
        assert_eq!(recordings(&golden), Err(Abort::Fail(reason.to_owned())));
    }
}
