//! Several requests computed as one, and its answer taken apart again.

use super::ticket::{Answered, Ticket};
use crate::task::{HandlerError, Request, Response};

/// Whether two requests can be computed together.
pub(super) fn fits(first: &Request, next: &Request) -> bool {
    // Prompts cannot: drawing tokens for one would shift the other's. Images with texts cannot:
    // one's texts would compete for the other's images. Nor can recordings: without a mask padding
    // counts as a part of the shorter one.
    kind(first).is_some_and(|first| kind(next) == Some(first))
}

/// The properties that requests must have in common to be computed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BatchKey {
    Texts,
    Questions,
    Documents,
    /// By the number of choices, which all texts of a call have.
    Choices(usize),
    Images,
    Videos,
    Series,
    Graphs,
}

fn kind(request: &Request) -> Option<BatchKey> {
    match request {
        Request::Texts(_) => Some(BatchKey::Texts),
        Request::Questions(_) => Some(BatchKey::Questions),
        Request::Documents(_) => Some(BatchKey::Documents),
        Request::Choices(texts) => {
            let count = texts.first().map_or(0, |text| text.choices.len());
            Some(BatchKey::Choices(count))
        }
        Request::Images(_) => Some(BatchKey::Images),
        Request::Videos(_) => Some(BatchKey::Videos),
        Request::Series(_) => Some(BatchKey::Series),
        Request::Graphs(_) => Some(BatchKey::Graphs),
        Request::Prompts { .. }
        | Request::ImagePrompts { .. }
        | Request::ImagesWithTexts { .. }
        | Request::Speech { .. }
        | Request::Noise { .. }
        | Request::Latents(_)
        | Request::Calls(_) => None,
    }
}

/// Answers a batch in one call; when that fails or cannot be taken apart, one by one.
pub(super) fn answer(
    batch: Vec<(Ticket, Request)>,
    handle: &dyn Fn(Request) -> Result<Response, HandlerError>,
) -> Vec<Answered> {
    // Each request gets its own answer or its own error.
    if batch.len() > 1 {
        let counts: Vec<usize> = batch.iter().map(|(_, request)| request.len()).collect();
        let merged = merge(batch.iter().map(|(_, request)| request));
        // The error is dropped, because it may belong to one request; answering one by one finds it
        // again.
        let responses = merged
            .and_then(|request| handle(request).ok())
            .and_then(|response| split(response, &counts));
        if let Some(responses) = responses {
            let tickets = batch.iter().map(|(ticket, _)| *ticket);
            return tickets
                .zip(responses)
                .map(|(ticket, response)| Answered {
                    ticket,
                    response: Ok(response),
                })
                .collect();
        }
    }
    batch
        .into_iter()
        .map(|(ticket, request)| Answered {
            ticket,
            response: handle(request),
        })
        .collect()
}

/// All inputs as one request, or `None` if they are not of one kind.
fn merge<'a>(mut requests: impl Iterator<Item = &'a Request>) -> Option<Request> {
    let mut merged = requests.next()?.clone();
    for request in requests {
        match (&mut merged, request) {
            (Request::Texts(all), Request::Texts(more)) => all.extend_from_slice(more),
            (Request::Questions(all), Request::Questions(more)) => all.extend_from_slice(more),
            (Request::Documents(all), Request::Documents(more)) => all.extend_from_slice(more),
            (Request::Choices(all), Request::Choices(more)) => all.extend_from_slice(more),
            (Request::Images(all), Request::Images(more)) => all.extend_from_slice(more),
            (Request::Videos(all), Request::Videos(more)) => all.extend_from_slice(more),
            (Request::Series(all), Request::Series(more)) => all.extend_from_slice(more),
            (Request::Graphs(all), Request::Graphs(more)) => all.extend_from_slice(more),
            (_, _) => return None,
        }
    }
    Some(merged)
}

/// One response per request, or `None` if the response has not one entry per input.
fn split(response: Response, counts: &[usize]) -> Option<Vec<Response>> {
    match response {
        Response::TextEmbeddings(all) => portions(all, counts, Response::TextEmbeddings),
        Response::FilledMasks(all) => portions(all, counts, Response::FilledMasks),
        Response::Labels(all) => portions(all, counts, Response::Labels),
        Response::TokenLabels(all) => portions(all, counts, Response::TokenLabels),
        Response::Answers(all) => portions(all, counts, Response::Answers),
        Response::Generations(all) => portions(all, counts, Response::Generations),
        Response::RetrievedAnswers(all) => portions(all, counts, Response::RetrievedAnswers),
        Response::Detections(all) => portions(all, counts, Response::Detections),
        Response::Segments(all) => portions(all, counts, Response::Segments),
        Response::Speech(all) => portions(all, counts, Response::Speech),
        Response::Depths(all) => portions(all, counts, Response::Depths),
        Response::Keypoints(all) => portions(all, counts, Response::Keypoints),
        Response::Transcriptions(all) => portions(all, counts, Response::Transcriptions),
        Response::AudioEmbeddings(all) => portions(all, counts, Response::AudioEmbeddings),
        Response::ImageEmbeddings(all) => portions(all, counts, Response::ImageEmbeddings),
        Response::Forecasts(all) => portions(all, counts, Response::Forecasts),
        Response::Latents(all) => portions(all, counts, Response::Latents),
        Response::Pixels(all) => portions(all, counts, Response::Pixels),
        Response::Regressions(all) => portions(all, counts, Response::Regressions),
        Response::GraphEmbeddings(all) => portions(all, counts, Response::GraphEmbeddings),
        // Never from several requests: `fits` excludes images with texts.
        Response::ImageTextEmbeddings(_) => None,
        // Nor from several requests of calls.
        Response::Computed(_) => None,
        Response::Mock { why } => Some(
            counts
                .iter()
                .map(|_| Response::Mock { why: why.clone() })
                .collect(),
        ),
    }
}

fn portions<T>(
    all: Vec<T>,
    counts: &[usize],
    wrap: fn(Vec<T>) -> Response,
) -> Option<Vec<Response>> {
    if all.len() != counts.iter().sum::<usize>() {
        return None;
    }
    let mut rest = all.into_iter();
    Some(
        counts
            .iter()
            .map(|count| wrap(rest.by_ref().take(*count).collect()))
            .collect(),
    )
}
