//! The parts of a request: each function takes one kind of request, and refuses another kind and an
//! empty one.

use super::{
    call::{HandlerError, TaskCall},
    request::{DocumentQuestion, QuestionContext, Request, TextChoices, TimeSeries},
};
use testgen_nn::{
    array::{Array, Arrays},
    forward::Forward,
};
use testgen_processing::{
    audio::Audio, generation::GenerationControls, graph::Graph, image::Image,
};

/// Prompts with images between the words.
pub(super) struct ImagePrompts {
    pub(super) images: Vec<Image>,
    pub(super) prompts: Vec<String>,
    pub(super) controls: GenerationControls,
}

/// Noise to be turned into latents.
pub(super) struct Denoising {
    /// [batch, channels, height, width].
    pub(super) noise: Array,
    pub(super) condition: Arrays,
    /// The number of steps.
    pub(super) steps: usize,
}

/// Defines the functions that take the list out of a request of one kind.
macro_rules! lists {
    ($($name:ident: $kind:ident($item:ty), $expected:literal;)+) => {$(
        pub(super) fn $name(&self, request: Request) -> Result<Vec<$item>, HandlerError> {
            match request {
                Request::$kind(items) => self.filled(items, $expected),
                other => Err(self.wrong($expected, &other)),
            }
        }
    )+};
}

impl TaskCall<'_> {
    lists! {
        texts: Texts(String), "texts";
        questions: Questions(QuestionContext), "questions with contexts";
        documents: Documents(DocumentQuestion), "questions about documents";
        choices: Choices(TextChoices), "texts with choices";
        images: Images(Image), "images";
        videos: Videos(Vec<Image>), "videos";
        series: Series(TimeSeries), "series";
        graphs: Graphs(Graph), "graphs";
    }

    pub(super) fn prompts(
        &self,
        request: Request,
    ) -> Result<(Vec<String>, GenerationControls), HandlerError> {
        const EXPECTED: &str = "prompts";
        match request {
            Request::Prompts { prompts, controls } => {
                Ok((self.filled(prompts, EXPECTED)?, controls))
            }
            other => Err(self.wrong(EXPECTED, &other)),
        }
    }

    pub(super) fn image_prompts(&self, request: Request) -> Result<ImagePrompts, HandlerError> {
        const EXPECTED: &str = "prompts with images";
        match request {
            Request::ImagePrompts {
                images,
                prompts,
                controls,
            } => Ok(ImagePrompts {
                images,
                prompts: self.filled(prompts, EXPECTED)?,
                controls,
            }),
            other => Err(self.wrong(EXPECTED, &other)),
        }
    }

    /// The content of a request for denoising.
    pub(super) fn noise(&self, request: Request) -> Result<Denoising, HandlerError> {
        const EXPECTED: &str = "noise";
        match request {
            Request::Noise {
                noise,
                condition,
                steps,
            } => Ok(Denoising {
                noise: self.image_like(noise, EXPECTED)?,
                condition,
                steps,
            }),
            other => Err(self.wrong(EXPECTED, &other)),
        }
    }

    pub(super) fn latents(&self, request: Request) -> Result<Array, HandlerError> {
        const EXPECTED: &str = "latents";
        match request {
            Request::Latents(latents) => self.image_like(latents, EXPECTED),
            other => Err(self.wrong(EXPECTED, &other)),
        }
    }

    /// Floats of four dimensions, at least one row.
    fn image_like(&self, array: Array, expected: &'static str) -> Result<Array, HandlerError> {
        match (array.shape(), array.as_floats()) {
            ([0, ..], _) => Err(HandlerError::EmptyRequest {
                task: self.task,
                expected,
            }),
            ([_, _, _, _], Some(_)) => Ok(array),
            (shape, _) => {
                let problem = format!(
                    "has the shape {shape:?}, expected are floats [batch, channels, height, width]"
                );
                Err(HandlerError::BadInput { index: 0, problem })
            }
        }
    }

    /// The images of a request, and the model's outputs for them.
    pub(super) fn read_images(
        &self,
        request: Request,
    ) -> Result<(Vec<Image>, Forward), HandlerError> {
        let images = self.images(request)?;
        let inputs = self.image_processor()?.process(&images)?;
        let forward = self.model.forward(&inputs)?;
        Ok((images, forward))
    }

    pub(super) fn images_with_texts(
        &self,
        request: Request,
    ) -> Result<(Vec<Image>, Vec<String>), HandlerError> {
        const EXPECTED: &str = "images with texts";
        match request {
            Request::ImagesWithTexts { images, texts } => Ok((
                self.filled(images, EXPECTED)?,
                self.filled(texts, EXPECTED)?,
            )),
            other => Err(self.wrong(EXPECTED, &other)),
        }
    }

    pub(super) fn speech(
        &self,
        request: Request,
    ) -> Result<(Vec<Audio>, GenerationControls), HandlerError> {
        const EXPECTED: &str = "recordings";
        match request {
            Request::Speech {
                recordings,
                controls,
            } => Ok((self.filled(recordings, EXPECTED)?, controls)),
            other => Err(self.wrong(EXPECTED, &other)),
        }
    }

    fn filled<T>(&self, inputs: Vec<T>, expected: &'static str) -> Result<Vec<T>, HandlerError> {
        if inputs.is_empty() {
            Err(HandlerError::EmptyRequest {
                task: self.task,
                expected,
            })
        } else {
            Ok(inputs)
        }
    }

    fn wrong(&self, expected: &'static str, request: &Request) -> HandlerError {
        HandlerError::WrongRequest {
            task: self.task,
            expected,
            found: request.kind(),
        }
    }
}
