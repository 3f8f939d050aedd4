//! Answers as words of a page.
//!
//! Follows `DocumentQuestionAnsweringPipeline` for LayoutLM: the words of the question, then those of
//! the page with their places; the first token of the row competes for the probability. Unlike there,
//! words come from the caller and not from OCR, and a page that is too long is an error instead of a
//! number of windows. The successors of LayoutLM also read an image, and the pipeline passes it to
//! them under a name that they do not take.

use super::{
    Answer, DocumentQuestion, Request, Response,
    answer_span::{AnswerSpan, SpanLogits},
    call::{HandlerError, TaskCall},
};
use testgen_nn::array::Array;
use testgen_processing::tokenizer::{TokenBatch, WordsInput};
use testgen_types::ModelType;

const HINT: &str = "`LayoutLMForQuestionAnswering`";
/// The place of the tokens of the question, and of padding.
const NOWHERE: [i64; 4] = [0; 4];
/// The place of separators.
// Coordinates on a page go from 0 to 1000; transformers' pipeline has the corner for both points.
const AFTER_THE_PAGE: [i64; 4] = [1000; 4];

pub(super) fn answer(call: &TaskCall<'_>, request: Request) -> Result<Response, HandlerError> {
    if call.model.model_type() != ModelType::Layoutlm {
        return Err(call.unsuitable("start_logits", HINT));
    }
    let questions = call.documents(request)?;
    let batch = tokenize(call, &questions)?;
    let mut inputs = batch.arrays.clone();
    inputs.insert("bbox".to_owned(), places(call, &batch, &questions)?);
    let forward = call.model.forward(&inputs)?;
    let shape = inputs["input_ids"].shape();
    let starts = call.output(&forward, ("start_logits", 2), shape, HINT)?;
    let ends = call.output(&forward, ("end_logits", 2), shape, HINT)?;
    let answers = questions.iter().enumerate().map(|(index, question)| {
        let logits = SpanLogits {
            starts: starts.row(index),
            ends: ends.row(index),
        };
        // The first token, `[CLS]`, has the probability of a page without the answer.
        let best = logits.best(&batch.tokens_of(index, 1), &[0]);
        let best = best.ok_or_else(|| wordless(index))?;
        Ok(words_of(&best, question, &batch, index))
    });
    Ok(Response::Answers(
        answers.collect::<Result<_, HandlerError>>()?,
    ))
}

fn tokenize(
    call: &TaskCall<'_>,
    questions: &[DocumentQuestion],
) -> Result<TokenBatch, HandlerError> {
    let inputs = questions.iter().map(|each| -> WordsInput<'_> {
        let words = each.words.iter().map(|word| word.text.as_str());
        (each.question.split_whitespace().collect(), words.collect())
    });
    let batch = call.tokenizer()?.tokenize_words(inputs.collect())?;
    call.within_limit(batch)
}

/// The place of every token, [batch, seq, 4].
fn places(
    call: &TaskCall<'_>,
    batch: &TokenBatch,
    questions: &[DocumentQuestion],
) -> Result<Array, HandlerError> {
    let separator = call.tokenizer()?.special_id("sep_token");
    let ids = &batch.arrays["input_ids"];
    let tokens = ids.as_integers().unwrap_or_default().iter();
    let mut spans = batch
        .spans
        .iter()
        .zip(questions)
        .flat_map(|(spans, question)| {
            spans.iter().map(move |span| {
                // Words of the question have no place on the page.
                let of_page = span.word.filter(|_| span.sequence == Some(1));
                of_page.map(|word| question.words[word as usize].corners)
            })
        });
    let places = tokens.flat_map(|id| match spans.next().flatten() {
        Some(corners) => corners,
        None if separator == Some(*id) => AFTER_THE_PAGE,
        None => NOWHERE,
    });
    let shape = [ids.shape(), &[4]].concat();
    Ok(Array::integers(shape, places.collect()))
}

fn wordless(index: usize) -> HandlerError {
    let problem = "has no word; give at least one with its place".to_owned();
    HandlerError::BadInput { index, problem }
}

/// The whole words that a span of tokens begins and ends in.
fn words_of(
    best: &AnswerSpan,
    question: &DocumentQuestion,
    batch: &TokenBatch,
    row: usize,
) -> Answer {
    let word = |token: usize| batch.spans[row][token].word.unwrap_or_default() as usize;
    let (start, end) = (word(best.first), word(best.last) + 1);
    let words = question.words[start..end].iter();
    let text: Vec<&str> = words.map(|word| word.text.as_str()).collect();
    Answer {
        text: text.join(" "),
        start,
        end,
        score: best.score,
    }
}
