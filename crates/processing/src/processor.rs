//! All processing of a checkpoint: inputs to tensors, and outputs to answers.

use crate::{
    error::PreprocessError,
    feature_extractor::FeatureExtractor,
    frame_tokens::FrameTokens,
    generation::GenerationDefaults,
    graph_collator::GraphCollator,
    image_processor::ImageProcessor,
    retrieval::{self, Retrieval},
    schedule::Scheduler,
    tokenizer::Tokenizer,
};
use std::path::Path;

/// All processing of a checkpoint: inputs to tensors, and outputs to answers.
#[derive(Debug, Default)]
pub struct Processor {
    tokenizer: Option<Tokenizer>,
    images: Option<ImageProcessor>,
    audio: Option<FeatureExtractor>,
    frame_tokens: Option<FrameTokens>,
    graphs: Option<GraphCollator>,
    generation: GenerationDefaults,
    scheduler: Option<Scheduler>,
    retrieval: Option<Retrieval>,
    problem: Option<PreprocessError>,
}

impl Processor {
    /// The processing of a checkpoint whose files cannot be used here, although other engines may
    /// have a use for its model.
    pub fn unusable(problem: PreprocessError) -> Self {
        Self {
            problem: Some(problem),
            ..Self::default()
        }
    }

    /// Why no part can be used, or `None` for a checkpoint whose parts were read.
    pub fn problem(&self) -> Option<&PreprocessError> {
        self.problem.as_ref()
    }

    /// Reads the tokenizer, image processor and generation files in `directory`; parts without a
    /// file are absent.
    ///
    /// A file that exists and cannot be used is an error that names the file, the field and the
    /// fix.
    pub fn open(directory: &Path) -> Result<Self, PreprocessError> {
        Ok(Self {
            // A checkpoint that retrieves has its tokenizers in folders, where `Tokenizer::open`
            // does not look.
            tokenizer: match retrieval::question_tokenizer(directory)? {
                Some(tokenizer) => Some(tokenizer),
                None => Tokenizer::open(directory)?,
            },
            images: ImageProcessor::open(directory)?,
            audio: FeatureExtractor::open(directory)?,
            frame_tokens: FrameTokens::open(directory)?,
            graphs: GraphCollator::open(directory)?,
            generation: GenerationDefaults::read(directory)?,
            scheduler: Scheduler::open(directory)?,
            retrieval: Retrieval::open(directory)?,
            problem: None,
        })
    }

    /// The tokenizer, if the checkpoint has one; of a model that retrieves that for questions.
    pub fn tokenizer(&self) -> Option<&Tokenizer> {
        self.tokenizer.as_ref()
    }

    /// The image processor, if the checkpoint has one.
    pub fn images(&self) -> Option<&ImageProcessor> {
        self.images.as_ref()
    }

    /// The feature extractor for recordings, if the checkpoint has one.
    pub fn audio(&self) -> Option<&FeatureExtractor> {
        self.audio.as_ref()
    }

    /// The vocabulary of a model with one token per frame, if the checkpoint has one.
    pub fn frame_tokens(&self) -> Option<&FrameTokens> {
        self.frame_tokens.as_ref()
    }

    /// The collator of graphs, if the model reads graphs.
    pub fn graphs(&self) -> Option<&GraphCollator> {
        self.graphs.as_ref()
    }

    /// The steps from noise to an image, if the checkpoint has a scheduler.
    pub fn scheduler(&self) -> Option<&Scheduler> {
        self.scheduler.as_ref()
    }

    /// The passages of a model that retrieves, if the checkpoint has some, and the tokenizer for
    /// its answers.
    pub fn retrieval(&self) -> Option<&Retrieval> {
        self.retrieval.as_ref()
    }

    /// The checkpoint's settings of generation.
    pub fn generation(&self) -> &GenerationDefaults {
        &self.generation
    }
}
