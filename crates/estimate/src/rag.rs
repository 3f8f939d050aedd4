//! RAG: an encoder of questions, an index of passages, and a BART that reads what was found.

use crate::{
    call::NetworkCall,
    config::TIED,
    encoder::bert_hidden,
    encoder_decoder::bart_stacks,
    error::EstimateError,
    product::{Order, ProjectionMatrix},
    tensor::{AllocatedTensor, ElementType},
    text_head::vocabulary,
};
use testgen_types::{Head, ModelType};

/// Reads questions of `tokens` tokens, and decodes as many with each passage that was found.
pub(crate) fn forward(call: &mut NetworkCall<'_>) -> Result<(), EstimateError> {
    let config = call.config;
    let docs = config.size("n_docs")?;
    search(call, docs)?;
    let generator = config.part("generator", "bart");
    let source = config.size("max_combined_length")?;
    let rows = call.batch.saturating_mul(docs);
    let part = |tokens| {
        let about = (ModelType::Bart, &generator, Head::ConditionalGeneration);
        let counts = [call.labels, rows, tokens, call.limit];
        NetworkCall::new(call.machine.clone(), about, counts, call.images)
    };
    let (encoding, mut decoding) = (part(source), part(call.tokens));
    decoding.within(generator.size("max_position_embeddings")?)?;
    let [encoder, decoder] = bart_stacks(&encoding, false)?;
    // Texts are shorter than the longest one.
    let hidden = || encoding.single(&[rows, 1, 1, source]);
    let encoded = encoder.encode(&encoding, Some(&hidden()));
    let states = decoder.decode(&mut decoding, &encoded, Some(hidden()));
    call.output(encoded);
    let sizes = [generator.size("d_model")?, generator.size("vocab_size")?];
    let logits = vocabulary(sizes, generator.flag(TIED)).forward(states);
    let marginal = call.head == Head::TokenGeneration && config.flag("do_marginalize");
    let logits = match marginal {
        true => marginalised(logits, [call.batch, docs]),
        false => logits,
    };
    call.output(logits);
    call.keep_from(decoding);
    Ok(())
}

/// The questions, their products with all passages, and the texts that are chosen on the host.
fn search(call: &mut NetworkCall<'_>, docs: u64) -> Result<(), EstimateError> {
    let config = call.config;
    let encoder = config.part("question_encoder", "dpr");
    let counts = [call.labels, call.batch, call.tokens, call.limit];
    let about = (ModelType::Bert, &encoder, Head::Base);
    let asking = NetworkCall::new(call.machine.clone(), about, counts, call.images);
    let last = bert_hidden(&asking)?;
    let (batch, width) = (call.batch, last.dims()[2]);
    let mut questions = last.narrow(1, 0, 1).reshape(&[batch, width]);
    if let Some(out) = encoder.positive("projection_dim") {
        questions = ProjectionMatrix::linear(width, out, true).forward(questions);
    }
    call.output(questions.clone());
    let width = config.size("retrieval_vector_size")?;
    let index = ProjectionMatrix {
        order: Order::Turned,
        ..ProjectionMatrix::linear(width, config.passages, false)
    };
    drop(index.forward(questions.cast(ElementType::F32)).read());
    drop(call.single(&[batch, docs, width]));
    Ok(())
}

/// [batch, seq, vocab]: the logarithms of probabilities over all passages.
fn marginalised(logits: AllocatedTensor, [batch, docs]: [u64; 2]) -> AllocatedTensor {
    let (element, seq, vocab) = (logits.element, logits.dims()[1], logits.dims()[2]);
    let x = logits.cast(ElementType::F32);
    let logarithms = x.like(ElementType::F32);
    drop(x);
    let x = logarithms.reshape(&[batch, docs, seq, vocab]);
    let largest = x.clone().reduce(1);
    let sum = x.combine(largest.clone()).map().reduce(1);
    let all = sum.map().combine(largest);
    all.reshape(&[batch, seq, vocab]).cast(element)
}
