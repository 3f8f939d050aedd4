//! The embeddings of BERT and its relatives: words, positions and token types, summed and
//! normalised.

use burn_tensor::Tensor;
use testgen_nn::{
    backend::Ops,
    forward::ForwardError,
    inputs::Inputs,
    layer::{Embedding, LayerNorm, Linear, positions},
    weights::{Weights, WeightsError},
};

/// The rows of the tables and their width; a table of no rows is not there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EmbeddingsShape {
    pub(crate) width: usize,
    pub(crate) vocab: usize,
    pub(crate) positions: usize,
    pub(crate) token_types: usize,
    pub(crate) eps: f64,
}

/// How a type numbers the positions.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PositionNumbering {
    /// 0, 1, 2, ...
    FromZero,
    /// Counted over the tokens that are not padding, from the padding token's id + 1; padding has
    /// that id itself.
    FromPadding(i64),
}

/// The tables and the norm after their sum.
pub(crate) struct TextEmbeddings<B: Ops> {
    word_embeddings: Embedding<B>,
    position_embeddings: Option<Embedding<B>>,
    token_type_embeddings: Option<Embedding<B>>,
    /// From the width of the tables to the width of the norm, if they differ and the type projects
    /// before it.
    project: Option<Linear<B>>,
    norm: LayerNorm<B>,
    numbering: PositionNumbering,
    shape: EmbeddingsShape,
}

impl<B: Ops> TextEmbeddings<B> {
    /// The module `embeddings` below `w`.
    pub(crate) fn load(
        shape: EmbeddingsShape,
        numbering: PositionNumbering,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        Self::load_projected(shape, numbering, shape.width, w)
    }

    /// As [`TextEmbeddings::load`], with `embed_proj` to `width` before the norm if the tables are
    /// narrower.
    pub(crate) fn load_projected(
        shape: EmbeddingsShape,
        numbering: PositionNumbering,
        width: usize,
        w: &Weights<B>,
    ) -> Result<Self, WeightsError> {
        let w = w.module("embeddings");
        let table = |name, rows| Embedding::load(&w.module(name), rows, shape.width);
        Ok(Self {
            word_embeddings: table("word_embeddings", shape.vocab)?,
            position_embeddings: (shape.positions > 0)
                .then(|| table("position_embeddings", shape.positions))
                .transpose()?,
            token_type_embeddings: (shape.token_types > 0)
                .then(|| table("token_type_embeddings", shape.token_types))
                .transpose()?,
            project: (shape.width != width)
                .then(|| Linear::load_with_bias(&w.module("embed_proj"), shape.width, width, false))
                .transpose()?,
            norm: LayerNorm::load(&w.module("LayerNorm"), width, shape.eps)?,
            numbering,
            shape,
        })
    }

    /// [batch, seq, width].
    pub(crate) fn forward(&self, inputs: &Inputs<'_, B>) -> Result<Tensor<B, 3>, ForwardError> {
        let ids = inputs.indices("input_ids", self.shape.vocab)?;
        let [batch, seq] = ids.dims();
        // Words, types, positions: the order of `BertEmbeddings`, by which 16-bit types round.
        let mut sum = self.word_embeddings.forward(ids);
        if let Some(table) = &self.token_type_embeddings {
            let types = inputs.optional_indices("token_type_ids", self.shape.token_types)?;
            // Without types every token is of the first, as `BertEmbeddings` has it.
            let types = types.unwrap_or_else(|| inputs.put_indices(vec![0; seq], [1, seq]));
            sum = sum + table.forward(types);
        }
        if let Some(table) = &self.position_embeddings {
            let (values, shape) = self.numbers(inputs, [batch, seq])?;
            sum = sum
                + table.forward(inputs.checked_indices(
                    "position_ids",
                    values,
                    shape,
                    self.shape.positions,
                )?);
        }
        Ok(self.norm.forward(match &self.project {
            Some(project) => project.forward(sum),
            None => sum,
        }))
    }

    fn numbers(
        &self,
        inputs: &Inputs<'_, B>,
        shape: [usize; 2],
    ) -> Result<(Vec<i64>, [usize; 2]), ForwardError> {
        let PositionNumbering::FromPadding(padding) = self.numbering else {
            return positions(inputs, shape, 0);
        };
        // Given positions are rows of the table: `RobertaEmbeddings` adds nothing to them.
        if inputs.host("position_ids").is_some() {
            return positions(inputs, shape, 0);
        }
        // Integers, or `indices` would have refused them.
        let ids = inputs
            .host("input_ids")
            .and_then(|ids| ids.as_integers())
            .unwrap_or_default();
        Ok((
            ids.chunks(shape[1])
                .flat_map(|row| {
                    // `create_position_ids_from_input_ids`: padding has its own id and does not
                    // advance the count.
                    let mut last = padding;
                    row.iter()
                        .map(|id| {
                            if *id == padding {
                                padding
                            } else {
                                last = last.saturating_add(1);
                                last
                            }
                        })
                        .collect::<Vec<_>>()
                })
                .collect(),
            shape,
        ))
    }

    /// The sizes of the tables.
    pub(crate) fn shape(&self) -> &EmbeddingsShape {
        &self.shape
    }

    /// The table of words [vocab, width], for a tied head.
    pub(crate) fn words(&self) -> Tensor<B, 2> {
        self.word_embeddings.weight()
    }

    /// The longest sequence that there are positions for.
    pub(crate) fn max_positions(&self) -> Option<usize> {
        let reserved = match self.numbering {
            PositionNumbering::FromZero => 0,
            // The rows up to the padding's own are never a position of a text; a padding of -1 has
            // no row.
            PositionNumbering::FromPadding(padding) => {
                usize::try_from(padding.saturating_add(1)).unwrap_or(0)
            }
        };
        self.position_embeddings
            .as_ref()
            .map(|_| self.shape.positions.saturating_sub(reserved))
    }
}
