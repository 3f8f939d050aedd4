//! Answers as spans of a context.
//!
//! Follows `QuestionAnsweringPipeline`: probabilities among the context's tokens only, start not
//! after end, at most 15 tokens. Unlike there, a context that is too long is an error instead of a
//! number of windows, and the span is not widened to whole words.

use super::{
    Answer, Request, Response,
    call::{HandlerError, TaskCall},
    scores::softmax,
};
use testgen_processing::tokenizer::{TextInput, TokenSpan, TokenizeOptions};

const HINT: &str = "an extractive model, such as `BertForQuestionAnswering`";
/// The most tokens of an answer.
const LONGEST_ANSWER: usize = 15;

pub(super) fn answer(call: &TaskCall<'_>, request: Request) -> Result<Response, HandlerError> {
    let questions = call.questions(request)?;
    let inputs: Vec<TextInput<'_>> = questions
        .iter()
        .map(|pair| (pair.question.as_str(), Some(pair.context.as_str())))
        .collect();
    let batch = call.tokenize(&inputs, TokenizeOptions::default())?;
    let forward = call.model.forward(&batch.arrays)?;
    let shape = batch.arrays["input_ids"].shape();
    let starts = call.output(&forward, ("start_logits", 2), shape, HINT)?;
    let ends = call.output(&forward, ("end_logits", 2), shape, HINT)?;
    let mut answers = Vec::with_capacity(questions.len());
    for (index, pair) in questions.iter().enumerate() {
        let best = best_span(starts.row(index), ends.row(index), &batch.spans[index]);
        let ContextSpan { start, end, score } = best.ok_or_else(|| HandlerError::BadInput {
            index,
            problem: "has a context without tokens".to_owned(),
        })?;
        let text = pair.context.get(start..end).unwrap_or_default().to_owned();
        answers.push(Answer {
            text,
            start,
            end,
            score,
        });
    }
    Ok(Response::Answers(answers))
}

/// A span of a context.
struct ContextSpan {
    /// The first byte.
    start: usize,
    /// The byte after the last.
    end: usize,
    /// The probability.
    score: f32,
}

/// The best span of the context; the first of equals.
fn best_span(starts: &[f32], ends: &[f32], spans: &[TokenSpan]) -> Option<ContextSpan> {
    let tokens: Vec<usize> = (0..spans.len())
        .filter(|token| spans[*token].sequence == Some(1))
        .collect();
    let (starts, ends) = (probabilities(starts, &tokens), probabilities(ends, &tokens));
    let mut best: Option<(usize, usize, f32)> = None;
    for (first, start) in starts.iter().enumerate() {
        for (last, end) in ends.iter().enumerate().skip(first).take(LONGEST_ANSWER) {
            if best.is_none_or(|(_, _, score)| start * end > score) {
                best = Some((first, last, start * end));
            }
        }
    }
    best.map(|(first, last, score)| ContextSpan {
        start: spans[tokens[first]].start,
        end: spans[tokens[last]].end,
        score,
    })
}

fn probabilities(logits: &[f32], tokens: &[usize]) -> Vec<f32> {
    softmax(
        &tokens
            .iter()
            .map(|token| logits[*token])
            .collect::<Vec<f32>>(),
    )
}
