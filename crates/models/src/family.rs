//! What a file of model code provides: its configuration, its heads and how to load it.

use crate::{class::Head, config::Config, load::LoadError, network::Network};
use testgen_nn::{backend::Ops, weights::Weights};

/// A model type.
pub(crate) trait Family {
    /// The struct of its `config.json`.
    type Config: Config;
    /// What its class names start with, for instance `Bert`.
    const NAME: &'static str;
    /// The heads that are implemented.
    const HEADS: &'static [Head];

    /// Builds the network from the tensors below `w`. `head` is one of [`Family::HEADS`], `labels` the width of a
    /// classification head.
    fn load<B: Ops>(config: &Self::Config, head: Head, labels: usize, w: &Weights<B>) -> Loaded<B>;
}

/// A network, or why there is none.
pub(crate) type Loaded<B> = Result<Box<dyn Network<B>>, LoadError>;
