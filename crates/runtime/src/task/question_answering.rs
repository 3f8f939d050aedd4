//! Answers as spans of a context.
//!
//! Follows `QuestionAnsweringPipeline`: probabilities among the context's tokens only, start not
//! after end, at most 15 tokens. Unlike there, a context that is too long is an error instead of a
//! number of windows, and the span is not widened to whole words.

use super::{
    Answer, Request, Response,
    answer_span::SpanLogits,
    call::{HandlerError, TaskCall},
};
use testgen_processing::tokenizer::{TextInput, TokenizeOptions};

const HINT: &str = "an extractive model, such as `BertForQuestionAnswering`";

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
        let spans = &batch.spans[index];
        let logits = SpanLogits {
            starts: starts.row(index),
            ends: ends.row(index),
        };
        let best = logits
            .best(&batch.tokens_of(index, 1), &[])
            .ok_or_else(|| HandlerError::BadInput {
                index,
                problem: "has a context without tokens".to_owned(),
            })?;
        let (start, end) = (spans[best.first].start, spans[best.last].end);
        let text = pair.context.get(start..end).unwrap_or_default().to_owned();
        answers.push(Answer {
            text,
            start,
            end,
            score: best.score,
        });
    }
    Ok(Response::Answers(answers))
}
