//! Values that can be moved to another device: what goes through the layers of a model that is
//! split over several.

use crate::{backend::Ops, inputs::Inputs};
use burn_tensor::Tensor;

/// A value with tensors, all of them on one device.
pub trait Movable<B: Ops> {
    /// Moves its tensors to `device`.
    fn move_to(&mut self, device: &B::Device);
}

impl<B: Ops, const D: usize> Movable<B> for Tensor<B, D> {
    fn move_to(&mut self, device: &B::Device) {
        *self = self.clone().to_device(device);
    }
}

/// Nothing.
impl<B: Ops> Movable<B> for () {
    fn move_to(&mut self, _device: &B::Device) {}
}

impl<B: Ops, T: Movable<B>> Movable<B> for Option<T> {
    fn move_to(&mut self, device: &B::Device) {
        self.iter_mut().for_each(|value| value.move_to(device));
    }
}

impl<B: Ops, T: Movable<B>> Movable<B> for Vec<T> {
    fn move_to(&mut self, device: &B::Device) {
        self.iter_mut().for_each(|value| value.move_to(device));
    }
}

impl<B: Ops, T: Movable<B>, U: Movable<B>> Movable<B> for (T, U) {
    fn move_to(&mut self, device: &B::Device) {
        self.0.move_to(device);
        self.1.move_to(device);
    }
}

impl<B: Ops, T: Movable<B>, U: Movable<B>, V: Movable<B>> Movable<B> for (T, U, V) {
    fn move_to(&mut self, device: &B::Device) {
        self.0.move_to(device);
        self.1.move_to(device);
        self.2.move_to(device);
    }
}

/// The arguments that are put on a device from now on are put on this one.
impl<B: Ops> Movable<B> for Inputs<'_, B> {
    fn move_to(&mut self, device: &B::Device) {
        self.set_device(device.clone());
    }
}
