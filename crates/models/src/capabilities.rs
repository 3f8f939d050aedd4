//! The properties of a loaded network: its limits, its cache, and the effect of padding.

/// Fixed once a network is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// The argument that grows token by token when the model generates.
    pub token_input_name: &'static str,
    /// The number of layers that keep keys and values; none for a model that does not generate.
    pub cached_layers: Option<usize>,
    /// The longest sequence that the model has positions for; none when there is no limit of its own.
    pub max_positions: Option<usize>,
    /// The longest sequence for which steps with a cache must equal the whole sequence at once; none for any length.
    pub cacheable_length: Option<usize>,
    /// The length beyond which every key must be computed again, once; none when keys never change.
    pub cache_reset_length: Option<usize>,
    /// Whether a token attends only to itself and earlier tokens.
    pub causal: bool,
    /// The token at which the pooled outputs of a text are read.
    pub pooling: Pooling,
    /// How many tokens of a text one image takes; none for a model that does not read images in texts.
    pub tokens_per_image: Option<usize>,
}

/// The token at which the pooled outputs of a text are read, which decides what padding may do to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// The first, or the last that is not padding: padding changes nothing.
    Fixed,
    /// One that is found by its id: padding after it changes nothing.
    EndToken,
    /// The last column, padding or not.
    LastColumn,
}

impl Default for Capabilities {
    /// Those of an encoder without a limit.
    fn default() -> Self {
        Self {
            token_input_name: "input_ids",
            cached_layers: None,
            max_positions: None,
            cacheable_length: None,
            cache_reset_length: None,
            causal: false,
            pooling: Pooling::Fixed,
            tokens_per_image: None,
        }
    }
}

impl Capabilities {
    /// The length that every text is padded to, of a model that reads its last column whether it is padding or not; its
    /// pipeline in transformers does the same.
    pub fn full_text_length(&self) -> Option<usize> {
        self.max_positions.filter(|_| self.pooling == Pooling::LastColumn)
    }

    /// Those of a decoder with `layers` layers and without a limit.
    pub(crate) fn decoder(layers: usize) -> Self {
        Self { cached_layers: Some(layers), causal: true, ..Self::default() }
    }
}
