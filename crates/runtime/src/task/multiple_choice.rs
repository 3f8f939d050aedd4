//! The choices of texts.
//!
//! Follows the classes `...ForMultipleChoice`: a text is read once with each of its choices, and the
//! scores of its choices compete. transformers has no pipeline for the task.

use super::{
    LabelScore, Request, Response, TextChoices,
    call::{HandlerError, TaskCall},
    scores::{ranked, softmax},
};
use testgen_nn::array::Arrays;
use testgen_processing::tokenizer::{TextInput, TokenizeOptions};

const HINT: &str = "a class such as `ErnieForMultipleChoice`";

pub(super) fn answer(call: &TaskCall<'_>, request: Request) -> Result<Response, HandlerError> {
    let texts = call.choices(request)?;
    let shape = [texts.len(), common_count(&texts)?];
    let pairs: Vec<TextInput<'_>> = texts.iter().flat_map(pairs).collect();
    let batch = call.tokenize(&pairs, TokenizeOptions::default())?;
    let forward = call.model.forward(&by_text(&batch.arrays, shape))?;
    let logits = call.output(&forward, ("logits", 2), &shape, HINT)?;
    let answers = texts.iter().enumerate();
    Ok(Response::Labels(
        answers
            .map(|(index, text)| scored(text, logits.row(index)))
            .collect(),
    ))
}

/// The number of choices of every text, which are one dimension of the model's input.
fn common_count(texts: &[TextChoices]) -> Result<usize, HandlerError> {
    let count = texts.first().map_or(0, |text| text.choices.len());
    let counts = texts.iter().map(|text| text.choices.len()).enumerate();
    for (index, found) in counts {
        if found == 0 || found != count {
            let problem = format!(
                "has {found} choices, the first text {count}; \
                 give each text a choice, and texts with other numbers in another request"
            );
            return Err(HandlerError::BadInput { index, problem });
        }
    }
    Ok(count)
}

fn pairs(text: &TextChoices) -> impl Iterator<Item = TextInput<'_>> {
    let choices = text.choices.iter();
    choices.map(|choice| (text.prompt.as_str(), Some(choice.as_str())))
}

/// [texts * choices, seq] as [texts, choices, seq].
fn by_text(arrays: &Arrays, [texts, choices]: [usize; 2]) -> Arrays {
    let shaped = arrays.iter().map(|(name, array)| {
        let shape = [&[texts, choices], &array.shape()[1..]].concat();
        (name.clone(), array.reshaped(&shape))
    });
    shaped.collect()
}

fn scored(text: &TextChoices, logits: &[f32]) -> Vec<LabelScore> {
    let choices = ranked(softmax(logits)).into_iter();
    choices
        .map(|(index, score)| LabelScore {
            label: text.choices[index].clone(),
            score,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use testgen_nn::array::Array;

    fn text(choices: &[&str]) -> TextChoices {
        TextChoices {
            prompt: "It is".to_owned(),
            choices: choices.iter().copied().map(str::to_owned).collect(),
        }
    }

    #[test]
    fn texts_have_equally_many_choices() {
        let count = |texts: &[TextChoices]| common_count(texts).map_err(|error| error.to_string());
        assert_eq!(count(&[text(&["a", "b"]), text(&["c", "d"])]), Ok(2));
        let problem = count(&[text(&["a", "b"]), text(&["c"])]).expect_err("they differ");
        assert!(
            problem.contains("has 1 choices, the first text 2"),
            "{problem}"
        );
        assert!(count(&[text(&[])]).is_err());
    }

    #[test]
    fn the_choices_of_a_text_stay_together() {
        let ids = Array::integers([4, 1], vec![1, 2, 3, 4]);
        let shaped = by_text(&Arrays::from([("input_ids".to_owned(), ids)]), [2, 2]);
        let expected = Array::integers([2, 2, 1], vec![1, 2, 3, 4]);
        assert_eq!(shaped["input_ids"], expected);
        let labels = scored(&text(&["a", "b"]), &[0.0, 1.0]);
        assert_eq!([&labels[0].label, &labels[1].label], ["b", "a"]);
        assert!((labels[0].score - 0.731_058_6).abs() < 1e-6);
    }
}
