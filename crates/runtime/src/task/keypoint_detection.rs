//! The points of images that can be found again in other images.
//!
//! Follows `post_process_keypoint_detection` of SuperPoint's processor: places, which the model
//! returns as shares of the image, become whole pixels. The number of points is the model's choice.

use super::{
    ImageKeypoints, Request, Response,
    call::{FloatOutput, HandlerError, TaskCall},
};
use testgen_nn::array::Array;

const HINT: &str = "a class such as `SuperPointForKeypointDetection`";

pub(super) fn answer(call: &TaskCall<'_>, request: Request) -> Result<Response, HandlerError> {
    let (images, forward) = call.read_images(request)?;
    let scores = call.output(&forward, ("scores", 2), &[images.len()], HINT)?;
    let rows = [images.len(), scores.shape[1]];
    let places = call.output(&forward, ("keypoints", 3), &[rows[0], rows[1], 2], HINT)?;
    let descriptors = call.output(&forward, ("descriptors", 3), &rows, HINT)?;
    let found = images.iter().enumerate().map(|(index, image)| {
        let scores = scores.row(index);
        // Rows are padded to the image with the most points, and the score of a point is positive.
        let kept: Vec<usize> = (0..scores.len())
            .filter(|point| scores[*point] > 0.0)
            .collect();
        let size = [image.width() as f32, image.height() as f32];
        ImageKeypoints {
            points: pixels(&selected(&places, index, &kept), size),
            scores: Array::floats(
                [kept.len()],
                kept.iter()
                    .map(|point| scores[*point])
                    .collect::<Vec<f32>>(),
            ),
            descriptors: selected(&descriptors, index, &kept),
        }
    });
    Ok(Response::Keypoints(found.collect()))
}

/// The vectors of some points of an image, [points, width].
fn selected(vectors: &FloatOutput<'_>, image: usize, points: &[usize]) -> Array {
    let width = vectors.shape[2];
    let row = vectors.row(image);
    let values: Vec<f32> = points
        .iter()
        .flat_map(|point| &row[point * width..(point + 1) * width])
        .copied()
        .collect();
    Array::floats([points.len(), width], values)
}

/// Column and row of each place [points, 2], cut off to whole pixels.
fn pixels(places: &Array, size: [f32; 2]) -> Array {
    let values = places.as_floats().unwrap_or_default();
    let values: Vec<f32> = values
        .chunks_exact(2)
        // Not rounded: the processor of transformers converts to int32.
        .flat_map(|place| [0, 1].map(|axis| (place[axis] * size[axis]).trunc()))
        .collect();
    Array::floats(places.shape(), values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_columns_and_rows_in_whole_pixels() {
        let places = Array::floats([2, 2], vec![0.5, 0.25, 0.99, 0.0]);
        let expected = Array::floats([2, 2], vec![5.0, 1.0, 9.0, 0.0]);
        assert_eq!(pixels(&places, [10.0, 7.0]), expected);
    }
}
