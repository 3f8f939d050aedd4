//! Generates sequences token by token with a model's [`Session`].
//!
//! Follows `GenerationMixin.generate` of transformers for greedy search and sampling: the order of
//! the logits processors, position ids under left padding, end tokens. One difference, so that a
//! row alone equals the row in a batch: every row draws from its own generator of the same seed.

mod choose;
mod defaults;
mod error;
mod rules;
mod settings;

pub use defaults::{GenerationControls, GenerationDefaults};
pub use error::GenerationError;
pub use settings::GenerationSettings;

use choose::Chooser;
use testgen_nn::{
    array::{Array, Arrays},
    forward::Session,
};

/// Why a sequence ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    /// An end token was generated; it is the last of the ids.
    EndToken,
    /// `max_new_tokens` were generated.
    Length,
}

/// The continuation of one row of a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Continuation {
    /// The new tokens, with the end token where there is one.
    pub ids: Vec<i64>,
    /// Why it ended.
    pub finish: FinishReason,
    /// The model's logits for each new token, [ids, vocabulary], where they were asked for.
    pub logits: Option<Array>,
}

/// Continues every row of a prompt: `input_ids` [batch, seq] and, if rows are padded on the left,
/// `attention_mask`. The prompt of an encoder-decoder is `decoder_input_ids`, never padded, beside
/// what its encoder reads. What else is in it, such as `pixel_values`, is read with the first step.
pub fn generate(
    session: &mut dyn Session,
    prompt: &Arrays,
    settings: &GenerationSettings,
    keep_logits: bool,
) -> Result<Vec<Continuation>, GenerationError> {
    // The session may still hold the keys and values of an earlier prompt.
    session.reset();
    let mut feed = Feed::new(prompt)?;
    let mut rows: Vec<GeneratedRow> = feed
        .prompts()
        .map(|prompt| GeneratedRow::new(prompt, settings))
        .collect();
    for step in 0..settings.max_new_tokens {
        let logits = last_logits(&session.advance(&feed.inputs)?.outputs, rows.len())?;
        let mut tokens = Vec::with_capacity(rows.len());
        for (index, (row, logits)) in rows.iter_mut().zip(&logits).enumerate() {
            let token = match row.finish {
                // A batch advances as a whole, so that a finished row needs some token.
                Some(_) => settings.pad,
                None => row
                    .extend(logits, settings, keep_logits)
                    .ok_or(GenerationError::NotFinite { row: index, step })?,
            };
            tokens.push(token);
        }
        if rows.iter().all(|row| row.finish.is_some()) {
            break;
        }
        feed.push(&tokens);
    }
    Ok(rows.into_iter().map(GeneratedRow::finished).collect())
}

/// The logits after the newest token of every row.
fn last_logits(outputs: &Arrays, batch: usize) -> Result<Vec<Vec<f32>>, GenerationError> {
    let logits = outputs.get("logits").ok_or(GenerationError::NoLogits)?;
    let (&[rows, seq, vocabulary], Some(values)) = (logits.shape(), logits.as_floats()) else {
        return Err(GenerationError::NoLogits);
    };
    if rows != batch || seq == 0 {
        return Err(GenerationError::NoLogits);
    }
    Ok(values
        .chunks_exact(seq * vocabulary)
        .map(|row| row[(seq - 1) * vocabulary..].to_vec())
        .collect())
}

/// The state of one row.
struct GeneratedRow {
    chooser: Chooser,
    ids: Vec<i64>,
    logits: Vec<f32>,
    vocabulary: Option<usize>,
    finish: Option<FinishReason>,
}

impl GeneratedRow {
    fn new(prompt: Vec<i64>, settings: &GenerationSettings) -> Self {
        Self {
            chooser: Chooser::new(prompt, settings),
            ids: Vec::new(),
            logits: Vec::new(),
            vocabulary: None,
            finish: None,
        }
    }

    /// Chooses the next token and notes whether it is the last, or `None` if the logits are not
    /// finite.
    fn extend(
        &mut self,
        logits: &[f32],
        settings: &GenerationSettings,
        keep_logits: bool,
    ) -> Option<i64> {
        let token = self.chooser.choose(logits, self.ids.len(), settings)?;
        self.ids.push(token);
        if keep_logits {
            self.logits.extend_from_slice(logits);
            self.vocabulary = Some(logits.len());
        }
        if settings.eos.contains(&token) {
            self.finish = Some(FinishReason::EndToken);
        } else if self.ids.len() == settings.max_new_tokens {
            self.finish = Some(FinishReason::Length);
        }
        Some(token)
    }

    fn finished(self) -> Continuation {
        let logits = self
            .vocabulary
            .map(|vocabulary| Array::floats([self.ids.len(), vocabulary], self.logits));
        Continuation {
            ids: self.ids,
            // A limit of 0 tokens ends a row before it has a reason.
            finish: self.finish.unwrap_or(FinishReason::Length),
            logits,
        }
    }
}

/// The input of the session's next step, and the mask so far.
struct Feed {
    inputs: Arrays,
    /// The argument that grows.
    grown: &'static str,
    /// Row by row, or `None` if no row is padded.
    mask: Option<Vec<Vec<i64>>>,
}

impl Feed {
    fn new(prompt: &Arrays) -> Result<Self, GenerationError> {
        if let Some(start) = prompt.get("decoder_input_ids") {
            return Self::of_decoder(start, prompt);
        }
        let ids = prompt
            .get("input_ids")
            .ok_or_else(|| invalid_prompt("has no `input_ids`"))?;
        let (&[_, seq], Some(_)) = (ids.shape(), ids.as_integers()) else {
            return Err(invalid_prompt(
                "has `input_ids` that are not integers of shape [batch, seq]",
            ));
        };
        if seq == 0 {
            return Err(invalid_prompt("has no tokens"));
        }
        // The mask comes back below, if it masks anything.
        let beside = prompt
            .iter()
            .filter(|(name, _)| !matches!(name.as_str(), "attention_mask" | "token_type_ids"));
        let beside = beside
            .map(|(name, array)| (name.clone(), array.clone()))
            .collect();
        let mut feed = Self {
            inputs: beside,
            grown: "input_ids",
            mask: None,
        };
        if let Some(mask) = prompt.get("attention_mask") {
            let rows = left_padded_rows(mask, ids.shape())?;
            // A mask of ones says nothing, and would need positions in every step.
            if rows.iter().any(|row| row.contains(&0)) {
                feed.mask = Some(rows);
                feed.insert_mask(seq);
            }
        }
        Ok(feed)
    }

    /// The input of a decoder beside an encoder, which begins with the tokens `start`.
    fn of_decoder(start: &Array, prompt: &Arrays) -> Result<Self, GenerationError> {
        match start.shape() {
            [_, 0] => Err(invalid_prompt(
                "has no tokens for the decoder to start with",
            )),
            _ => Ok(Self {
                inputs: prompt.clone(),
                grown: "decoder_input_ids",
                mask: None,
            }),
        }
    }

    /// The tokens of every row without padding.
    fn prompts(&self) -> impl Iterator<Item = Vec<i64>> {
        let ids = &self.inputs[self.grown];
        let seq = ids.shape()[1];
        let rows = ids.as_integers().unwrap_or_default().chunks_exact(seq);
        rows.enumerate().map(|(index, row)| {
            let padding = self.mask.as_ref().map_or(0, |mask| {
                mask[index].iter().filter(|bit| **bit == 0).count()
            });
            row[padding..].to_vec()
        })
    }

    /// One new token for every row.
    fn push(&mut self, tokens: &[i64]) {
        // Cross attention needs the encoder's mask in every step; its
        // ids, pixels or features were encoded in the first.
        let encodes = self.grown == "decoder_input_ids";
        self.inputs
            .retain(|name, _| encodes && name == "attention_mask");
        self.inputs.insert(
            self.grown.to_owned(),
            Array::integers([tokens.len(), 1], tokens.to_vec()),
        );
        if let Some(mask) = &mut self.mask {
            mask.iter_mut().for_each(|row| row.push(1));
            self.insert_mask(1);
        }
    }

    /// The mask of all tokens, and the positions of the newest `new`.
    fn insert_mask(&mut self, new: usize) {
        let Some(mask) = &self.mask else { return };
        let total = mask.first().map_or(0, Vec::len);
        let positions = mask.iter().flat_map(|row| {
            // Tokens are counted without padding; padding has 0.
            let counted = row.iter().scan(0, |count, bit| {
                *count += bit;
                Some((*count - 1).max(0))
            });
            counted.skip(total - new).collect::<Vec<i64>>()
        });
        let positions = Array::integers([mask.len(), new], positions.collect::<Vec<i64>>());
        let all = Array::integers([mask.len(), total], mask.concat());
        self.inputs.insert("position_ids".to_owned(), positions);
        self.inputs.insert("attention_mask".to_owned(), all);
    }
}

#[cfg(test)]
mod tests;

/// The rows of a mask of ids with this shape, [batch, seq]; each has its padding on the left.
fn left_padded_rows(mask: &Array, ids: &[usize]) -> Result<Vec<Vec<i64>>, GenerationError> {
    let values = mask.as_integers().filter(|_| mask.shape() == ids);
    let values = values.ok_or_else(|| {
        invalid_prompt("has an `attention_mask` of another shape than `input_ids`")
    })?;
    let rows: Vec<Vec<i64>> = values.chunks_exact(ids[1]).map(<[i64]>::to_vec).collect();
    // New tokens follow the last column: after padding on the right, they would not be next to
    // their text.
    if rows
        .iter()
        .any(|row| row.last() == Some(&0) || !row.is_sorted())
    {
        return Err(invalid_prompt(
            "is padded on the right, or empty; pad on the left",
        ));
    }
    Ok(rows)
}

fn invalid_prompt(problem: &str) -> GenerationError {
    GenerationError::Prompt {
        problem: problem.to_owned(),
    }
}
