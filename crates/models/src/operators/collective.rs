//! Collectives within one process: each rank is a device, to which the others copy their tensors,
//! and which computes its own result.

use crate::operators::{
    arguments::CallArguments,
    value::{DeviceTensor, slices},
};
use burn_tensor::{Shape, TensorMetadata, ops::FloatTensor};
use testgen_nn::backend::Ops;
use testgen_operators::calls::CallError;
use testgen_types::{DeviceKind, Operator};

/// The results of all ranks, on the device of the call.
pub(crate) fn computed<B: Ops>(
    arguments: &CallArguments<'_, B>,
) -> Result<DeviceTensor<B>, CallError> {
    let ranks = Ranks::of_call(arguments)?;
    let inputs = ranks.distributed(arguments.float(0)?);
    let results: Vec<FloatTensor<B>> = match arguments.operator {
        Operator::ColumnParallelProduct | Operator::RowParallelProduct => {
            let weights = ranks.distributed(arguments.float(1)?);
            let products: Vec<FloatTensor<B>> = inputs
                .into_iter()
                .zip(weights)
                .map(|(x, weight)| B::matmul_op(x, weight))
                .collect();
            let by_columns = arguments.operator == Operator::ColumnParallelProduct;
            ranks.each(|to| match by_columns {
                true => B::float_cat(ranks.received(&products, to), 1),
                // In the order of the ranks on each of them, so that all get the same bits.
                false => sum::<B>(ranks.received(&products, to)),
            })
        }
        Operator::AllReduce => ranks.each(|to| sum::<B>(ranks.received(&inputs, to))),
        Operator::AllGather => ranks.each(|to| B::float_cat(ranks.received(&inputs, to), 0)),
        Operator::ReduceScatter => {
            ranks.each(|to| sum::<B>(ranks.received(&ranks.parts(&inputs, to), to)))
        }
        Operator::AllToAll => {
            ranks.each(|to| B::float_cat(ranks.received(&ranks.parts(&inputs, to), to), 0))
        }
        Operator::BroadcastFromRank => {
            let sent = &inputs[arguments.attributes.root % inputs.len()];
            ranks.each(|to| B::float_to_device(sent.clone(), &ranks.devices[to]))
        }
        _ => return Err(arguments.refused("it is not a collective")),
    };
    // The result of an operator is one tensor, so the results of all ranks go to one device.
    let rows = results
        .into_iter()
        .map(|result| unsqueezed::<B>(B::float_to_device(result, arguments.device)))
        .collect();
    Ok(DeviceTensor::Float(B::float_cat(rows, 0)))
}

/// The device of each rank.
struct Ranks<B: Ops> {
    devices: Vec<B::Device>,
}

impl<B: Ops> Ranks<B> {
    fn of_call(arguments: &CallArguments<'_, B>) -> Result<Self, CallError> {
        let count = arguments.float(0)?.shape()[0] as u16;
        let (home, devices) = (arguments.device, arguments.devices);
        // The processor is one device for all ranks; only a GPU must not replace several.
        if devices < count && B::kind(home) != DeviceKind::Cpu {
            return Err(CallError::Unsupported {
                operator: arguments.operator,
                message: format!(
                    "{count} ranks need as many devices of an engine that uses several, such as native/split; this one has {devices}"
                ),
            });
        }
        let devices = (0..count).map(|rank| B::after(home, rank, devices));
        Ok(Self {
            devices: devices.collect(),
        })
    }

    /// Each row on the device of its rank.
    fn distributed(&self, x: FloatTensor<B>) -> Vec<FloatTensor<B>> {
        let shape = x.shape().to_vec();
        self.each(|rank| {
            let row = B::float_slice(x.clone(), &slices(&[[rank, rank + 1, 1]]));
            let row = B::float_reshape(row, Shape::from(shape[1..].to_vec()));
            B::float_to_device(row, &self.devices[rank])
        })
    }

    /// The part that each rank has for rank `to`.
    fn parts(&self, tensors: &[FloatTensor<B>], to: usize) -> Vec<FloatTensor<B>> {
        tensors
            .iter()
            .map(|x| {
                let length = x.shape()[0] / self.devices.len();
                B::float_slice(x.clone(), &slices(&[[to * length, (to + 1) * length, 1]]))
            })
            .collect()
    }

    /// The tensors of all ranks on the device of rank `to`.
    fn received(&self, tensors: &[FloatTensor<B>], to: usize) -> Vec<FloatTensor<B>> {
        let device = &self.devices[to];
        tensors
            .iter()
            .map(|x| B::float_to_device(x.clone(), device))
            .collect()
    }

    fn each<T>(&self, work: impl FnMut(usize) -> T) -> Vec<T> {
        (0..self.devices.len()).map(work).collect()
    }
}

/// The sum of tensors of one shape, each added in their type.
fn sum<B: Ops>(tensors: Vec<FloatTensor<B>>) -> FloatTensor<B> {
    tensors
        .into_iter()
        .reduce(B::float_add)
        .expect("there are ranks")
}

fn unsqueezed<B: Ops>(x: FloatTensor<B>) -> FloatTensor<B> {
    let shape = [&[1], &x.shape().to_vec()[..]].concat();
    B::float_reshape(x, Shape::from(shape))
}
