//! Outputs with a number for each place of an image, in the size of the image.
//!
//! Places are those of the model, often fewer than pixels. Owns where such an output is found and
//! how it becomes one number per pixel; the handlers own what the numbers mean.

use super::{
    Request,
    call::{HandlerError, TaskCall},
};
use testgen_processing::interpolate::{Interpolation, interpolate};

/// The maps of one image, such as the scores of each label.
pub(super) struct ImageMap<'a> {
    /// [maps, height, width] in the model's size.
    values: &'a [f32],
    computed: [usize; 2],
    /// The height and the width of the image as it was given.
    pub(super) size: [usize; 2],
}

impl ImageMap<'_> {
    /// Each map, [height, width] of the image.
    pub(super) fn interpolated(
        &self,
        interpolation: Interpolation,
    ) -> impl Iterator<Item = Vec<f32>> {
        let places = (self.computed[0] * self.computed[1]).max(1);
        self.values
            .chunks_exact(places)
            .map(move |map| interpolate(map, self.computed, self.size, interpolation))
    }
}

/// Computes the output `name` of `rank` dimensions, the last two of which are places, for the
/// images of a request; returns the result of `read` for each image's maps.
pub(super) fn of_each_image<T>(
    call: &TaskCall<'_>,
    request: Request,
    (name, rank): (&'static str, usize),
    hint: &'static str,
    read: impl Fn(&ImageMap<'_>) -> T,
) -> Result<Vec<T>, HandlerError> {
    let (images, forward) = call.read_images(request)?;
    let output = call.output(&forward, (name, rank), &[images.len()], hint)?;
    let computed = [output.shape[rank - 2], output.shape[rank - 1]];
    let maps = images.iter().enumerate().map(|(index, image)| ImageMap {
        values: output.row(index),
        computed,
        size: [image.height(), image.width()],
    });
    Ok(maps.map(|map| read(&map)).collect())
}

impl<'a> ImageMap<'a> {
    /// Maps that were computed in the size `computed`, of an image of the size `size`.
    pub(super) fn new(values: &'a [f32], computed: [usize; 2], size: [usize; 2]) -> Self {
        Self {
            values,
            computed,
            size,
        }
    }
}
