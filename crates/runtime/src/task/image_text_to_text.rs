//! Continuations of prompts with images between the words.

use super::{
    Request, Response,
    call::{HandlerError, TaskCall},
    request_parts::ImagePrompts,
    text_generation,
};

const HINT: &str = "a class such as `LlavaForConditionalGeneration`";

pub(super) fn answer(call: &TaskCall<'_>, request: Request) -> Result<Response, HandlerError> {
    let ImagePrompts {
        images,
        prompts,
        controls,
    } = call.image_prompts(request)?;
    let ImageToken { token, count } = image_token(call)?;
    let places: Vec<usize> = prompts
        .iter()
        .map(|prompt| prompt.matches(&token).count())
        .collect();
    if places.iter().sum::<usize>() != images.len() {
        let (places, images) = (places.iter().sum::<usize>(), images.len());
        let problem = format!(
            "and the others have {places} places for images (`{token}`), the request has {images}"
        );
        return Err(HandlerError::BadInput { index: 0, problem });
    }
    // As `LlavaProcessor` does: a token for each vector of the image.
    let expanded: Vec<String> = prompts
        .iter()
        .map(|prompt| prompt.replace(&token, &token.repeat(count)))
        .collect();
    let pixels = if images.is_empty() {
        None
    } else {
        Some(call.image_processor()?.process(&images)?)
    };
    text_generation::continue_prompts(call, &expanded, pixels.unwrap_or_default(), &controls)
}

/// The token that represents an image in a prompt.
struct ImageToken {
    token: String,
    /// How many of them an image takes.
    count: usize,
}

fn image_token(call: &TaskCall<'_>) -> Result<ImageToken, HandlerError> {
    let config = call.model.config();
    let id = ["image_token_index", "image_token_id"]
        .iter()
        .find_map(|name| config.get(name)?.as_i64());
    // 32000 is the default of `LlavaConfig`.
    let token = call.tokenizer()?.token(id.unwrap_or(32000));
    let count = call.model.capabilities().tokens_per_image;
    token
        .zip(count)
        .map(|(token, count)| ImageToken { token, count })
        .ok_or_else(|| call.unsuitable("logits", HINT))
}
