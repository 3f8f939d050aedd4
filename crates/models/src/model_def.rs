//! The interface of a file of model code: its configuration and how to load it. Names and heads are
//! in the registry.

use crate::{config::ModelConfig, load_error::LoadError, network::Network};
use testgen_nn::{backend::Ops, weights::Weights};
use testgen_types::Head;

/// A model definition; the registry names it for every model type that it loads.
pub(crate) trait ModelDef {
    /// The struct of its `config.json`.
    type Config: ModelConfig;

    /// Builds the network from the tensors below `w`. `head` is one that the registry lists for the
    /// type, `labels` the width of a classification head.
    fn load<B: Ops>(
        config: &Self::Config,
        head: Head,
        labels: usize,
        w: &Weights<B>,
    ) -> LoadedNetwork<B>;
}

/// A network, or why there is none.
pub(crate) type LoadedNetwork<B> = Result<Box<dyn Network<B>>, LoadError>;
