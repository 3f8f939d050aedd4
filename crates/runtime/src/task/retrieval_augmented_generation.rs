//! Answers to questions, written by a generator that reads the passages which were found for them.
//!
//! Follows `generate` of `RagTokenForGeneration` and of `RagSequenceForGeneration` ("thorough
//! decoding").

use super::{
    FoundPassage, GeneratedText, Request, Response, RetrievedAnswer,
    call::{HandlerError, TaskCall, rows},
    scores::softmax,
};
use serde_json::Value;
use testgen_nn::{
    array::{Array, Arrays},
    forward::Forward,
};
use testgen_processing::{
    generation::{Continuation, GenerationSettings, generate},
    retrieval::Retrieval,
    tokenizer::{TextInput, TokenizeOptions},
};

const HINT: &str = "`RagTokenForGeneration` or `RagSequenceForGeneration`";

pub(super) fn answer(call: &TaskCall<'_>, request: Request) -> Result<Response, HandlerError> {
    let (questions, controls) = call.prompts(request)?;
    let needed = "an index (`passages.jsonl` and `passages.safetensors`)";
    let retrieval = call
        .model
        .processor()
        .retrieval()
        .ok_or_else(|| call.lacks(needed))?;
    let defaults = call.model.processor().generation();
    let settings = GenerationSettings::new(&controls, defaults, 1)?;
    let needed = "a `decoder_start_token_id` in `generation_config.json` or `config.json`";
    let start = defaults.decoder_start().ok_or_else(|| call.lacks(needed))?;
    let asked = tokenized(call, &questions)?;
    let found = call.model.forward(&asked)?;
    let writer = Writer {
        call,
        settings,
        start,
    };
    let written = match call.model.class() {
        "RagSequenceForGeneration" => writer.by_sequence(&asked, &found)?,
        _ => writer.by_token(asked)?,
    };
    let answers = written.into_iter().zip(passages(call, retrieval, &found)?);
    Ok(Response::RetrievedAnswers(
        answers
            .map(|(row, passages)| {
                let text = retrieval.generator.decode(&row.ids, true)?;
                Ok(RetrievedAnswer {
                    answer: GeneratedText {
                        text,
                        ids: row.ids,
                        finish: row.finish,
                    },
                    passages,
                })
            })
            .collect::<Result<_, HandlerError>>()?,
    ))
}

/// The questions as the question encoder reads them.
fn tokenized(call: &TaskCall<'_>, questions: &[String]) -> Result<Arrays, HandlerError> {
    let texts: Vec<TextInput<'_>> = questions.iter().map(|text| (text.as_str(), None)).collect();
    let mut asked = call.tokenize(&texts, TokenizeOptions::default())?.arrays;
    // BERT's tokenizer also returns `token_type_ids`, which `RagModel` does not take.
    asked.retain(|name, _| matches!(name.as_str(), "input_ids" | "attention_mask"));
    Ok(asked)
}

/// The passages found for each question, best first.
fn passages(
    call: &TaskCall<'_>,
    retrieval: &Retrieval,
    found: &Forward,
) -> Result<Vec<Vec<FoundPassage>>, HandlerError> {
    let ids = found
        .host_outputs
        .get("retrieved_doc_ids")
        .ok_or_else(|| call.unsuitable("doc_scores", HINT))?;
    let scores = call.output(found, ("doc_scores", 2), ids.shape(), HINT)?;
    Ok(rows(ids)
        .enumerate()
        .map(|(index, ids)| {
            let probabilities = softmax(scores.row(index));
            let parts = ids.iter().zip(scores.row(index)).zip(probabilities);
            parts
                .map(|((id, score), probability)| FoundPassage {
                    id: *id,
                    passage: retrieval.passages[*id as usize].clone(),
                    score: *score,
                    probability,
                })
                .collect()
        })
        .collect())
}

/// The controls of every generated answer.
struct Writer<'a> {
    call: &'a TaskCall<'a>,
    settings: GenerationSettings,
    /// The token that the decoder begins with.
    start: i64,
}

impl Writer<'_> {
    /// Every token is chosen by all passages together.
    fn by_token(&self, mut asked: Arrays) -> Result<Vec<Continuation>, HandlerError> {
        let questions = asked["input_ids"].shape()[0];
        // As `generate` of transformers passes it, whatever the configuration says.
        asked.insert("do_marginalize".to_owned(), Array::integers([1], vec![1]));
        self.write(asked, questions)
    }

    /// Every passage writes a separate answer; the one with the smallest loss over all passages
    /// counts.
    fn by_sequence(
        &self,
        asked: &Arrays,
        found: &Forward,
    ) -> Result<Vec<Continuation>, HandlerError> {
        let masks = rows(&asked["attention_mask"]);
        // As in transformers 5 the generator runs without the mask of the padding after a passage,
        // and the loss is computed with it.
        let questions = rows(&asked["input_ids"]).zip(masks).map(|(ids, mask)| {
            // Each question is read alone for its loss, so it needs no padding.
            ids.iter()
                .zip(mask)
                .filter(|(_, shown)| **shown == 1)
                .map(|(id, _)| *id)
                .collect::<Vec<i64>>()
        });
        let docs = found
            .host_outputs
            .get("retrieved_doc_ids")
            .map_or(0, |ids| ids.shape()[1]);
        questions
            .enumerate()
            .map(|(index, question)| self.best(&question, index * docs..(index + 1) * docs, found))
            .collect()
    }

    fn best(
        &self,
        question: &[i64],
        docs: std::ops::Range<usize>,
        found: &Forward,
    ) -> Result<Continuation, HandlerError> {
        let rows: Vec<usize> = docs.collect();
        let contexts = "context_input_ids";
        let prompt = Arrays::from([(
            contexts.to_owned(),
            found.host_outputs[contexts].select_rows(&rows),
        )]);
        let mut written = self.write(prompt, rows.len())?;
        // `RagConfig` has true as the default.
        if self
            .call
            .model
            .config()
            .pointer("/do_deduplication")
            .and_then(Value::as_bool)
            .unwrap_or(true)
        {
            written = deduplicated(written);
        }
        let pad = padding_token(self.call.model.config());
        let losses = self
            .call
            .model
            .forward(&self.loss_inputs(question, &written, pad))?;
        let losses = self
            .call
            .output(&losses, ("loss", 1), &[written.len()], HINT)?;
        let best = (0..written.len())
            .reduce(|best: usize, next: usize| {
                if losses.all()[next] < losses.all()[best] {
                    next
                } else {
                    best
                }
            })
            .unwrap_or(0);
        Ok(written.swap_remove(best))
    }

    /// The question with every answer as its label.
    fn loss_inputs(&self, question: &[i64], written: &[Continuation], pad: i64) -> Arrays {
        let longest = written.iter().map(|row| row.ids.len()).max().unwrap_or(0);
        let labels = written
            .iter()
            .flat_map(|row| {
                let fill = std::iter::repeat_n(pad, longest - row.ids.len());
                [self.start]
                    .into_iter()
                    .chain(row.ids.iter().copied())
                    .chain(fill)
                    .collect::<Vec<i64>>()
            })
            .collect();
        Arrays::from([
            (
                "input_ids".to_owned(),
                Array::integers(
                    [written.len(), question.len()],
                    question.repeat(written.len()),
                ),
            ),
            (
                "labels".to_owned(),
                Array::integers([written.len(), longest + 1], labels),
            ),
            // As `generate` of transformers passes it, whatever the configuration says.
            (
                "exclude_bos_score".to_owned(),
                Array::integers([1], vec![1]),
            ),
        ])
    }

    fn write(&self, mut prompt: Arrays, rows: usize) -> Result<Vec<Continuation>, HandlerError> {
        prompt.insert(
            "decoder_input_ids".to_owned(),
            Array::integers([rows, 1], vec![self.start; rows]),
        );
        let mut session = self.call.model.session()?;
        Ok(generate(session.as_mut(), &prompt, &self.settings, false)?)
    }
}

/// The token that the generator pads answers with.
pub(crate) fn padding_token(config: &Value) -> i64 {
    // 1 is the default of `BartConfig`.
    config
        .pointer("/generator/pad_token_id")
        .and_then(Value::as_i64)
        .unwrap_or(1)
}

/// The first of equal rows.
fn deduplicated(written: Vec<Continuation>) -> Vec<Continuation> {
    let mut kept: Vec<Continuation> = Vec::new();
    for row in written {
        // Rows are compared with their padding, so it matters not why they ended.
        if kept.iter().all(|known| known.ids != row.ids) {
            kept.push(row);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use testgen_processing::generation::FinishReason;

    #[test]
    fn equal_answers_are_scored_once_in_their_order() {
        let row = |ids: &[i64]| Continuation {
            ids: ids.to_vec(),
            finish: FinishReason::Length,
            logits: None,
        };
        let kept = deduplicated([&[3, 4][..], &[5], &[3, 4], &[5, 6]].map(row).to_vec());
        assert_eq!(
            kept.iter()
                .map(|row| row.ids.as_slice())
                .collect::<Vec<_>>(),
            [&[3, 4][..], &[5], &[5, 6]]
        );
    }
}
