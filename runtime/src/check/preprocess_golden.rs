//! `preprocess_golden`: text becomes the recorded token ids and mask, an image the recorded pixel values, a recording the
//! recorded features, a graph the recorded paths and degrees.
//!
//! `token_type_ids` are not compared: the recorder chooses them itself, so that both types are seen.

use super::{Examination, Failures, Found, Stop, graphs::recorded_graphs};
use crate::{
    Array, Audio, Image, PaddingSide, Processor, TextInput, TokenizeOptions, Values,
    golden::{Case, Golden, Noise},
    preprocess::full_text_length,
    tolerance::Tolerance,
};
use std::fmt::Display;
use testgen_contract::Precision;

pub(super) fn run(exam: &mut Examination<'_>) -> Found {
    let golden = exam.golden()?;
    if let Some(reason) = inapplicable(&golden) {
        return Err(Stop::Ignored(reason));
    }
    let subject = exam.subject()?;
    let processor = subject.model().processor();
    let mut failures = Failures::default();
    for case in golden.cases.iter().filter(|case| case.texts.is_some()) {
        texts(processor, case, full_text_length(subject.model().config()), &mut failures)?;
    }
    if !golden.images.is_empty() {
        images(exam, processor, &golden, &mut failures)?;
    }
    if !golden.audio.is_empty() {
        recordings(exam, processor, &golden, &mut failures)?;
    }
    if !golden.graphs.is_empty() {
        graphs(processor, &golden, &mut failures)?;
    }
    failures.conclude()?;
    Ok(None)
}

/// Why a golden has nothing to compare with.
pub(super) fn inapplicable(golden: &Golden) -> Option<String> {
    let seen = !golden.images.is_empty() || !golden.audio.is_empty() || !golden.graphs.is_empty();
    let recorded = seen || golden.cases.iter().any(|case| case.texts.is_some());
    let reason = "the golden has no texts, images, recordings or graphs: the checkpoint had nothing that reads them";
    (!recorded).then(|| reason.to_owned())
}

fn texts(processor: &Processor, case: &Case, pad_to: Option<usize>, failures: &mut Failures) -> Result<(), Stop> {
    let Some(tokenizer) = processor.tokenizer() else {
        failures.push("the golden has texts, and the checkpoint has no tokenizer");
        return Ok(());
    };
    let texts: Vec<TextInput<'_>> = case.texts.iter().flatten().map(|text| (text.as_str(), None)).collect();
    let options = TokenizeOptions { padding_side: Some(PaddingSide::Right), pad_to, max_length: None };
    let encoded = tokenizer.tokenize(&texts, options)?.arrays;
    for name in ["input_ids", "attention_mask"] {
        let Some(expected) = case.inputs.get(name) else { continue };
        let told = case.tell(name);
        match encoded.get(name) {
            Some(got) => failures.note(first_other(&told, expected, got)),
            None => failures.push(format!("the tokenizer gives no `{told}`")),
        }
    }
    Ok(())
}

/// Collators write numbers, they do not compute any: the zeros and infinities of a bias are held to the bit, too.
fn graphs(processor: &Processor, golden: &Golden, failures: &mut Failures) -> Result<(), Stop> {
    let Some(collator) = processor.graphs() else {
        failures.push("the golden has graphs, and the model reads none");
        return Ok(());
    };
    let collated = collator.process(&recorded_graphs(golden))?;
    for (name, expected) in &golden.main().inputs {
        match collated.get(name) {
            Some(got) => failures.note(first_other(name, expected, got)),
            None => failures.push(format!("the collator gives no `{name}`")),
        }
    }
    Ok(())
}

/// The first number that differs.
pub(super) fn first_other(name: &str, expected: &Array, got: &Array) -> Option<String> {
    if expected.shape() != got.shape() {
        return Some(format!("`{name}` has the shape {:?}, expected {:?}", got.shape(), expected.shape()));
    }
    match (expected.values(), got.values()) {
        (Values::I64(expected_values), Values::I64(values)) => first_unequal(name, expected, expected_values, values),
        (Values::F32(expected_values), Values::F32(values)) => first_unequal(name, expected, expected_values, values),
        _ => Some(format!("`{name}` does not hold numbers of the recorded kind")),
    }
}

fn first_unequal<T: PartialEq + Display>(name: &str, array: &Array, expected: &[T], got: &[T]) -> Option<String> {
    let flat = expected.iter().zip(got).position(|(expected, got)| expected != got)?;
    let width = array.shape().last().copied().unwrap_or(1).max(1);
    let (row, place) = (flat / width, flat % width);
    Some(format!("`{name}` row {row}, position {place}: expected {}, got {}", expected[flat], got[flat]))
}

/// Features are made on the host in f32, whatever the device.
fn recordings(
    exam: &mut Examination<'_>,
    processor: &Processor,
    golden: &Golden,
    failures: &mut Failures,
) -> Result<(), Stop> {
    let Some(extractor) = processor.audio() else {
        failures.push("the golden has recordings, and the checkpoint has no feature extractor");
        return Ok(());
    };
    let audio = |samples: &Array| Audio {
        sampling_rate: extractor.sampling_rate(),
        samples: samples.as_floats().unwrap_or_default().to_vec(),
    };
    let processed = extractor.process(&golden.audio.iter().map(audio).collect::<Vec<_>>())?;
    let noise = Noise::default();
    let tolerance = Tolerance::new(&noise, &[], Precision::F32, false);
    for (name, got) in &processed {
        match golden.main().inputs.get(name) {
            Some(expected) if expected.as_integers().is_some() => failures.note(first_other(name, expected, got)),
            Some(expected) => failures.note(exam.compare(name, expected, got, tolerance.golden(name))),
            None => failures.push(format!("the golden has recordings and no `input.{name}`")),
        }
    }
    Ok(())
}

/// Pixels are made on the host in f32, whatever the device: the row of f32 holds, without noise.
fn images(
    exam: &mut Examination<'_>,
    processor: &Processor,
    golden: &Golden,
    failures: &mut Failures,
) -> Result<(), Stop> {
    let Some(processor) = processor.images() else {
        failures.push("the golden has images, and the checkpoint has no image processor");
        return Ok(());
    };
    let images = golden.images.iter().map(Image::from_array).collect::<Result<Vec<_>, _>>()?;
    let processed = processor.process(&images)?;
    let noise = Noise::default();
    let threshold = Tolerance::new(&noise, &[], Precision::F32, false).golden("pixel_values");
    if let Some(expected) = golden.main().inputs.get("pixel_mask") {
        match processed.get("pixel_mask") {
            Some(got) => failures.note(first_other("pixel_mask", expected, got)),
            None => failures.push("the image processor gives no `pixel_mask`"),
        }
    }
    match (golden.main().inputs.get("pixel_values"), processed.get("pixel_values")) {
        (Some(expected), Some(got)) => failures.note(exam.compare("pixel_values", expected, got, threshold)),
        (expected, _) => failures.push(match expected {
            Some(_) => "the image processor gives no `pixel_values`",
            None => "the golden has images and no `input.pixel_values`",
        }),
    }
    Ok(())
}
