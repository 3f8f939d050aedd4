//! RAG: an encoder of questions, a search in an index of passages, and a generator that reads each
//! question with every passage that was found.

use crate::{
    call::NetworkCall,
    config::{CompleteConfig, TIED},
    encoder::bert_hidden,
    encoder_decoder::bart_stacks,
    error::EstimateError,
    product::{Order, ProjectionMatrix},
    tensor::{AllocatedTensor, ElementType, workspace},
    text_head::vocabulary,
};
use testgen_types::{Head, ModelType};

/// The arrays of ids and of a mask that the host has of the texts that the generator reads: for
/// later steps, as outputs, and as the generator's inputs.
const CONTEXT_ARRAYS: u64 = 3 * 2;

/// Reads questions of `tokens` tokens, and decodes as many for each passage of a question.
pub(crate) fn forward(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    let docs = call.config.size("n_docs")?;
    within_positions(call)?;
    let questions = questions(call)?;
    call.output(questions.clone());
    if call.passages > 0 {
        let scores = search(call, questions, docs);
        call.output(scores);
    }
    let sizes = ContextSizes {
        rows: call.batch.saturating_mul(docs),
        length: call.config.size("max_combined_length")?,
    };
    // In 64 bits.
    let arrays = [2 * CONTEXT_ARRAYS, sizes.rows, sizes.length];
    let is_host = !call.machine.is_gpu();
    let _arrays = is_host.then(|| workspace(&call.machine, &arrays, ElementType::F32));
    let logits = generate(call, &sizes)?;
    let by_token = call.head == Head::TokenGeneration && call.config.flag("do_marginalize");
    let output = match by_token {
        true => marginal(call, logits, docs),
        false => logits,
    };
    call.output(output);
    Ok(())
}

/// The texts that the generator reads.
struct ContextSizes {
    /// Passages of all questions.
    rows: u64,
    /// Tokens of a passage with its question; shorter ones are padded.
    length: u64,
}

/// An error when there are more tokens than positions of one of the parts.
fn within_positions(call: &NetworkCall<'_>) -> Result<(), EstimateError> {
    // Of both, because an estimate decodes as many tokens as a question has.
    let positions = [question_encoder(call), generator(call)]
        .map(|config| config.size("max_position_embeddings"));
    let [questions, decoded] = positions;
    call.within(questions?.min(decoded?))
}

fn question_encoder(call: &NetworkCall<'_>) -> CompleteConfig {
    call.config.part("question_encoder", "dpr")
}

fn generator(call: &NetworkCall<'_>) -> CompleteConfig {
    call.config.part("generator", ModelType::Bart.as_str())
}

/// A part of the model that reads `batch` inputs of `tokens` tokens.
fn part<'a>(
    call: &NetworkCall<'_>,
    (model_type, config): (ModelType, &'a CompleteConfig),
    [batch, tokens]: [u64; 2],
) -> NetworkCall<'a> {
    let counts = [call.labels, batch, tokens, call.limit];
    let about = (model_type, config, call.head);
    NetworkCall::new(call.machine.clone(), about, counts, call.images)
}

/// [batch, width]: the state of the first token, projected if configured.
fn questions(call: &NetworkCall<'_>) -> Result<AllocatedTensor, EstimateError> {
    let config = question_encoder(call);
    let sizes = [call.batch, call.tokens];
    let hidden = bert_hidden(&part(call, (ModelType::Bert, &config), sizes))?;
    let width = hidden.dims()[2];
    let first = hidden.narrow(1, 0, 1).reshape(&[call.batch, width]);
    Ok(match config.positive("projection_dim") {
        Some(out) => ProjectionMatrix::linear(width, out, true).forward(first),
        None => first,
    })
}

/// The scores [batch, docs] of the passages that are nearest to `questions` [batch, width].
fn search(call: &NetworkCall<'_>, questions: AllocatedTensor, docs: u64) -> AllocatedTensor {
    let ([batch, passages], element) = ([call.batch, call.passages], questions.element);
    let width = questions.dims()[1];
    let index = ProjectionMatrix {
        // The index stays in its mapped file.
        order: Order::View,
        ..ProjectionMatrix::linear(width, passages, false)
    };
    let queries = questions.cast(ElementType::F32);
    let products = index.forward(queries.clone()).read();
    let is_host = !call.machine.is_gpu();
    let on_host = |dims: &[u64]| is_host.then(|| workspace(&call.machine, dims, ElementType::F32));
    // The numbers of all passages for each question, in 64 bits, are sorted one question after
    // another, and keep their memory when all but the first are cut off.
    let _order = on_host(&[2, batch, passages]);
    drop((on_host(&[2, sort_buffer(passages)]), products));
    // Flex copies the whole index before it picks columns of the view.
    let copy = on_host(&[width, passages]);
    let picked = call.single(&[width, batch.saturating_mul(docs)]);
    drop(copy);
    let picked = picked.swap(0, 1).cast(element).cast(ElementType::F32);
    let queries = queries.reshape(&[batch, 1, width]);
    let products = picked.reshape(&[batch, docs, width]).combine(queries);
    products.reduce(2).reshape(&[batch, docs]).cast(element)
}

/// The numbers in the buffer of Rust's stable sort of `count` numbers of 64 bits: as many, or half
/// of them if these are more than 8 MB.
fn sort_buffer(count: u64) -> u64 {
    // The limit of the standard library, in numbers of 8 bytes.
    const MOST: u64 = 1_000_000;
    (count / 2).max(count.min(MOST))
}

/// The logits [rows, tokens, vocab] of each question with each of its passages.
fn generate(
    call: &mut NetworkCall<'_>,
    sizes: &ContextSizes,
) -> Result<AllocatedTensor, EstimateError> {
    let config = generator(call);
    let about = (ModelType::Bart, &config);
    let encoder_call = part(call, about, [sizes.rows, sizes.length]);
    let mut decoder_call = part(call, about, [sizes.rows, call.tokens]);
    if sizes.length > config.size("max_position_embeddings")? {
        return Err(call.config.wrong(
            "max_combined_length",
            "at most `max_position_embeddings` of the generator",
        ));
    }
    let [encoder, decoder] = bart_stacks(&encoder_call, false)?;
    // Hides the padding of short passages.
    let padding = || encoder_call.single(&[sizes.rows, 1, 1, sizes.length]);
    let encoded = encoder.encode(&encoder_call, Some(&padding()));
    let hidden = decoder.decode(&mut decoder_call, &encoded, Some(padding()));
    call.output(encoded);
    let matrix = [config.size("d_model")?, config.size("vocab_size")?];
    let logits = vocabulary(matrix, config.flag(TIED)).forward(hidden);
    // Keys and values were kept in the call of the decoder, and remain after it.
    call.keep_from(decoder_call);
    Ok(logits)
}

/// The log-probabilities [batch, tokens, vocab] over all passages, computed in f32.
fn marginal(call: &NetworkCall<'_>, logits: AllocatedTensor, docs: u64) -> AllocatedTensor {
    let (element, [seq, vocab]) = (logits.element, [logits.dims()[1], logits.dims()[2]]);
    let tokens = log_softmax(logits.cast(ElementType::F32));
    let tokens = tokens.reshape(&[call.batch, docs, seq, vocab]);
    let all = tokens.combine(call.single(&[call.batch, docs, 1, 1]));
    // The largest is taken out of the sum of exponentials.
    let largest = all.clone().reduce(1);
    let sum = all.combine(largest.clone()).map().reduce(1);
    let log = sum.map().combine(largest);
    log.reshape(&[call.batch, seq, vocab]).cast(element)
}

/// Composed of burn's operators, over the last dimension of [rows, tokens, vocab].
fn log_softmax(x: AllocatedTensor) -> AllocatedTensor {
    let largest = x.clone().reduce(2);
    let shifted = x.combine(largest);
    let sum = shifted.clone().map().reduce(2);
    shifted.combine(sum.map())
}
