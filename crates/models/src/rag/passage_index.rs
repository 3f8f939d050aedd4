//! From questions to the generator's inputs: the search, and the texts of the passages that it
//! found.

use super::{config::RagConfig, nearest_neighbours::NearestNeighbours};
use crate::{config::ConfigError, load_error::LoadError};
use burn_tensor::{DType, Tensor};
use testgen_nn::{
    array::{Array, Arrays},
    backend::Ops,
    context::ForwardContext,
    forward::ForwardError,
    inputs::Inputs,
    weights::Weights,
};
use testgen_processing::retrieval::{ContextFormat, EMBEDDINGS, Retrieval};

/// The passages of a checkpoint with their index.
pub(super) struct PassageIndex<B: Ops> {
    retrieval: Retrieval,
    index: NearestNeighbours<B>,
    /// How many passages a question is answered with.
    count: usize,
    format: ContextFormat,
}

impl<B: Ops> PassageIndex<B> {
    /// None if the checkpoint has no passages.
    pub(super) fn open(config: &RagConfig, w: &Weights<B>) -> Result<Option<Self>, LoadError> {
        let Some(retrieval) = Retrieval::open(w.directory())? else {
            return Ok(None);
        };
        let (passages, count) = (retrieval.passages.len(), config.n_docs);
        // The search would return fewer, and every question has `count` contexts.
        if count > passages {
            let message =
                format!("`n_docs` {count} is above the {passages} passages of the checkpoint");
            return Err(ConfigError::Invalid {
                model_type: "rag".to_owned(),
                message,
            }
            .into());
        }
        let index = NearestNeighbours::load(
            &w.beside(EMBEDDINGS, DType::F32)?,
            passages,
            config.retrieval_vector_size,
        )?;
        let format = ContextFormat {
            prefix: config.generator.prefix.clone().unwrap_or_default(),
            title_sep: config.title_sep.clone(),
            doc_sep: config.doc_sep.clone(),
            length: config.max_combined_length,
        };
        Ok(Some(Self {
            retrieval,
            index,
            count,
            format,
        }))
    }

    /// `input_ids` and `attention_mask` of the texts, [batch * docs, length], and `doc_scores`
    /// [batch, docs]. Leaves the last as an output, and what was chosen as decisions.
    pub(super) fn find(
        &self,
        (questions, mask): (Tensor<B, 2>, Array),
        inputs: &Inputs<'_, B>,
        context: &mut ForwardContext<'_, B>,
    ) -> Result<Arrays, ForwardError> {
        let chosen = self.index.search(questions.clone(), self.count)?;
        let scores = context.output_to_host("doc_scores", self.index.scores(questions, &chosen))?;
        let ids = inputs
            .host("input_ids")
            .ok_or(ForwardError::MissingInput { name: "input_ids" })?;
        // A token of the question that a mask hides is left out of its text. transformers keeps it,
        // which makes no difference for padding tokens, because no text has them.
        let read = self
            .retrieval
            .contexts(&without_padding(ids, &mask), &chosen, &self.format);
        let mut found = read.map_err(|error| ForwardError::Retrieval {
            message: error.to_string(),
        })?;
        let numbers = chosen.iter().flatten().map(|index| *index as i64).collect();
        context.output_from_host(
            "retrieved_doc_ids",
            Array::integers([chosen.len(), self.count], numbers),
        );
        for name in ["input_ids", "attention_mask"] {
            context.output_from_host(&format!("context_{name}"), found[name].clone());
        }
        found.insert("doc_scores".to_owned(), scores);
        Ok(found)
    }
}

/// The ids of each row that `mask` shows.
fn without_padding(ids: &Array, mask: &Array) -> Vec<Vec<i64>> {
    // `chunks` panics at 0.
    let seq = ids.shape().last().copied().unwrap_or(1).max(1);
    let rows = ids.as_integers().unwrap_or_default().chunks(seq);
    let masks = mask.as_integers().unwrap_or_default().chunks(seq);
    rows.zip(masks)
        .map(|(ids, mask)| {
            ids.iter()
                .zip(mask)
                .filter(|pair| *pair.1 != 0)
                .map(|pair| *pair.0)
                .collect()
        })
        .collect()
}

/// The error that the argument `name` is not what the model takes.
pub(super) fn lacking(name: &str, found: &Array, expected: &str) -> ForwardError {
    let found = format!("a tensor of shape {:?}", found.shape());
    ForwardError::WrongInput {
        name: name.to_owned(),
        found,
        expected: expected.to_owned(),
    }
}
