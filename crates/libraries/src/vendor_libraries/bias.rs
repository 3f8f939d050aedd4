//! Products with a bias by a library that has no epilogues: the bias is written to the result, to
//! which the product is then added. PyTorch computes them so without cuBLASLt and hipBLASLt.

use crate::{
    blas::{Algorithm, Blas, Buffers},
    epilogue::{Epilogue, EpilogueActivation},
    gpu::{DeviceAddress, LibraryGpu},
    library_error::LibraryError,
    number_type::NumberType,
    product::{ComputeType, GemmCall, GemmTypes, MatrixStorage, Operand},
};
use std::{cell::RefCell, collections::HashMap};

/// Ones of each type in the memory of the device, which the driver frees with the process.
#[derive(Default)]
pub(super) struct BiasProducts(RefCell<HashMap<NumberType, Ones>>);

#[derive(Clone, Copy)]
struct Ones {
    address: DeviceAddress,
    count: usize,
}

impl BiasProducts {
    /// Starts a product whose only step is a bias.
    pub(super) fn run(
        &self,
        gpu: &dyn LibraryGpu,
        library: &dyn Blas,
        product: &GemmCall,
        buffers: Buffers,
    ) -> Result<(), LibraryError> {
        if product.scaled || product.epilogue.activation != EpilogueActivation::Identity {
            let name = library.name();
            return Err(LibraryError::unsupported(&format!(
                "{name} does not compute {product}"
            )));
        }
        let own = Algorithm::chosen_by_library();
        let ones = self.ones(gpu, product.stored(Operand::D).number, product.columns)?;
        let repeated = Buffers::new([buffers.bias, ones, buffers.d, buffers.d]);
        library.run(&repeated_bias(product), &own, repeated)?;
        let added = GemmCall {
            beta: 1.0,
            epilogue: Epilogue::NONE,
            ..product.clone()
        };
        library.run(&added, &own, buffers)
    }

    /// At least `count` ones.
    fn ones(
        &self,
        gpu: &dyn LibraryGpu,
        number: NumberType,
        count: usize,
    ) -> Result<DeviceAddress, LibraryError> {
        let known = self.0.borrow().get(&number).copied();
        if let Some(known) = known.filter(|known| known.count >= count) {
            return Ok(known.address);
        }
        let mut bytes = vec![0; count * number.bytes()];
        for one in bytes.chunks_exact_mut(number.bytes()) {
            number.encode(1.0, one);
        }
        let address = gpu.allocate(bytes.len())?;
        gpu.upload(address, &bytes)?;
        self.0.borrow_mut().insert(number, Ones { address, count });
        if let Some(smaller) = known {
            // An earlier product may still read them.
            gpu.synchronise()?;
            gpu.release(smaller.address, smaller.count * number.bytes())?;
        }
        Ok(address)
    }
}

/// The bias in each column of the result: its product with a row of ones.
fn repeated_bias(product: &GemmCall) -> GemmCall {
    let result = product.stored(Operand::D);
    let factor = |rows, columns| MatrixStorage {
        rows,
        columns,
        leading: rows,
        // All products of a batch read the same bias and the same ones.
        stride: 0,
        ..result
    };
    GemmCall {
        inner: 1,
        transposed: [false; 2],
        alpha: 1.0,
        beta: 0.0,
        // TF32 would round the bias.
        arithmetic: GemmTypes {
            factors: [result.number; 2],
            compute: ComputeType::F32,
            ..product.arithmetic
        },
        storage: [factor(product.rows, 1), factor(1, product.columns), result],
        epilogue: Epilogue::NONE,
        ..product.clone()
    }
}
