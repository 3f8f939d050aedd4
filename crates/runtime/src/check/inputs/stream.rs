//! The token sequences of a model that a check can be about, with the names of their arguments and
//! outputs.

use testgen_nn::array::Arrays;

/// A sequence of tokens that a model reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::check) enum TokenSequence<'a> {
    /// The only one.
    Text,
    /// The input of an encoder; the arrays are the arguments of the decoder.
    Source(&'a Arrays),
    /// The input of a decoder; the arrays are the arguments of the encoder.
    Target(&'a Arrays),
}

impl<'a> TokenSequence<'a> {
    /// The argument with the ids.
    pub(in crate::check) fn ids(self) -> &'static str {
        if matches!(self, Self::Target(_)) {
            "decoder_input_ids"
        } else {
            "input_ids"
        }
    }

    /// The argument that masks padding.
    pub(in crate::check) fn mask(self) -> &'static str {
        if matches!(self, Self::Target(_)) {
            "decoder_attention_mask"
        } else {
            "attention_mask"
        }
    }

    /// The arguments of the other half of an encoder-decoder.
    pub(in crate::check) fn other_arguments(self) -> Option<&'a Arrays> {
        match self {
            Self::Text => None,
            Self::Source(others) | Self::Target(others) => Some(others),
        }
    }

    /// The end of labels of comparisons.
    // Both sequences of an encoder-decoder need different labels.
    pub(in crate::check) fn suffix(self) -> &'static str {
        if matches!(self, Self::Source(_)) {
            " of the encoder"
        } else {
            ""
        }
    }

    /// Whether the output or trace `name` belongs to this sequence, if it has one entry per
    /// position at all.
    pub(in crate::check) fn owns(self, name: &str) -> bool {
        let name = name.strip_prefix("trace.").unwrap_or(name);
        let encoder = name.starts_with("encoder") || name.starts_with("question.");
        // The contexts that a generator with retrieval reads have other lengths than question and
        // answer.
        let contexts = name.starts_with("generator_enc");
        match self {
            Self::Text => true,
            Self::Source(_) => encoder,
            Self::Target(_) => !encoder && !contexts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sequence_owns_its_outputs_and_hidden_states() {
        let arguments = Arrays::new();
        let owned = |stream: TokenSequence<'_>| {
            let names = [
                "logits",
                "trace.decoder.layer.0",
                "encoder_last_hidden_state",
                "trace.encoder.layer.0",
                "trace.question.layer.0",
                "generator_enc_last_hidden_state",
            ];
            names.map(|name| stream.owns(name))
        };
        assert_eq!(owned(TokenSequence::Text), [true; 6]);
        assert_eq!(
            owned(TokenSequence::Source(&arguments)),
            [false, false, true, true, true, false]
        );
        assert_eq!(
            owned(TokenSequence::Target(&arguments)),
            [true, true, false, false, false, false]
        );
    }
}
