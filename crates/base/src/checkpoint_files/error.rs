//! The reasons for which a checkpoint directory is refused.

use crate::{cli_error::CliError, text::Quoted};
use std::path::PathBuf;
use testgen_types::{QuantizedCheckpoint, bounded_file::FileError};

/// Why a directory is not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointFilesError {
    /// The only weights are a pickle.
    #[error(
        "{} is a pickle, which can run any program when it is read; testgen reads safetensors only",
        Quoted(&path.display().to_string())
    )]
    Pickle {
        /// The file.
        path: PathBuf,
    },
    /// The weights are quantized by a method that is not dequantized.
    #[error("{}: {quantized}", Quoted(&path.display().to_string()))]
    Quantized {
        /// The checkpoint's directory.
        path: PathBuf,
        /// The method, and the sign of it.
        quantized: QuantizedCheckpoint,
    },
    /// The index cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The index is not an index.
    #[error("{} is not an index of shards: {reason}", Quoted(&path.display().to_string()))]
    Index {
        /// The index.
        path: PathBuf,
        /// The parser's message.
        reason: String,
    },
    /// The index names a file elsewhere.
    #[error(
        "{} names the shard {}, which is not in the checkpoint's directory",
        Quoted(&path.display().to_string()),
        Quoted(shard)
    )]
    ShardOutside {
        /// The index.
        path: PathBuf,
        /// The shard.
        shard: String,
    },
    /// The index names a file of another format.
    #[error("{} names the shard {}, which is not safetensors", Quoted(&path.display().to_string()), Quoted(shard))]
    Shard {
        /// The index.
        path: PathBuf,
        /// The shard.
        shard: String,
    },
    /// The configuration names other weights.
    #[error(
        "{} names other weights in `transformers_weights`: {}",
        Quoted(&path.display().to_string()),
        Quoted(name)
    )]
    OtherWeights {
        /// The configuration.
        path: PathBuf,
        /// The file that it names.
        name: String,
    },
    /// An adapter is beside the weights.
    #[error(
        "{} describes an adapter, which transformers adds to the weights if `peft` is installed",
        Quoted(&path.display().to_string())
    )]
    Adapter {
        /// The configuration of the adapter.
        path: PathBuf,
    },
    /// A link leads elsewhere.
    #[error(
        "the link {} leads out of the checkpoint's directory, to {}",
        Quoted(&path.display().to_string()),
        Quoted(&target.display().to_string())
    )]
    LinkOutside {
        /// The link.
        path: PathBuf,
        /// The file that it leads to.
        target: PathBuf,
    },
    /// A link leads nowhere.
    #[error("the link {} leads to a file that does not exist", Quoted(&path.display().to_string()))]
    DanglingLink {
        /// The link.
        path: PathBuf,
    },
}

impl CliError for CheckpointFilesError {
    fn help(&self) -> Option<String> {
        match self {
            Self::Pickle { .. } => Some(
                "write safetensors with `model.save_pretrained(directory)`, on a machine where running the file does no harm"
                    .to_owned(),
            ),
            Self::Quantized { quantized, .. } => Some(quantized.remedy()),
            Self::OtherWeights { .. } => Some(
                "write the weights as model.safetensors with `model.save_pretrained(directory)`, and delete the field".to_owned(),
            ),
            Self::Adapter { .. } => Some(
                "merge it with `model.merge_and_unload()`, and save the result in another directory".to_owned(),
            ),
            Self::LinkOutside { .. } => Some("copy the file into the directory".to_owned()),
            Self::DanglingLink { .. } => Some("copy the file into the directory, or delete the link".to_owned()),
            Self::File(_) | Self::Index { .. } | Self::ShardOutside { .. } | Self::Shard { .. } => None,
        }
    }
}
