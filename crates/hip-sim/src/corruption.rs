//! Corruption of one element that a kernel wrote, for the faults `wrong` and `nan`.
//!
//! A code object does not say which buffers its kernel writes, so the bytes before and after the
//! launch are compared.

use crate::memory::SimulatedMemory;
use crate::module::Function;
use std::ffi::c_void;

/// How the element is corrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Corruption {
    /// The highest bit of the exponent is flipped.
    Wrong,
    /// All bits are set, which is NaN in every floating-point type.
    Nan,
}

/// A copy of the buffers of a launch from before it.
pub(crate) struct BuffersBefore {
    corruption: Corruption,
    buffers: Vec<(*mut u8, Vec<u8>)>,
}

/// An element of f32, or two of a half type.
const ELEMENT: usize = 4;

impl BuffersBefore {
    /// Copies the buffers among the arguments: pointers into the device's memory.
    ///
    /// # Safety
    ///
    /// `arguments` points to the kernel's arguments.
    pub(crate) unsafe fn copy(
        corruption: Corruption,
        memory: &SimulatedMemory,
        function: &Function,
        arguments: *mut *mut c_void,
    ) -> Self {
        // SAFETY: each argument is at least a pointer wide: cubecl binds buffers only.
        let addresses = (0..function.arguments)
            .map(|index| unsafe { **arguments.add(index).cast::<*mut *mut u8>() });
        let buffers = addresses.filter_map(|address| {
            let length = memory.rest(address as usize)?;
            // SAFETY: the bytes up to the end of the allocation are initialised: memory is zeroed
            // when it is allocated.
            Some((
                address,
                unsafe { std::slice::from_raw_parts(address, length) }.to_vec(),
            ))
        });
        Self {
            corruption,
            buffers: buffers.collect(),
        }
    }

    /// Corrupts the first element that the launch changed, in the last buffer with a change.
    pub(crate) fn corrupt(self) {
        // From the end, because cubecl binds outputs last.
        for (address, before) in self.buffers.iter().rev() {
            // SAFETY: the allocation still has its size, and no kernel runs: launches of a device
            // are sequential.
            let now = unsafe { std::slice::from_raw_parts_mut(*address, before.len()) };
            let changed = now
                .chunks_exact_mut(ELEMENT)
                .zip(before.chunks_exact(ELEMENT))
                .find(|(now, before)| now != before);
            if let Some((element, _)) = changed {
                match self.corruption {
                    // The last byte has the sign and the highest bits of the exponent.
                    Corruption::Wrong => element[ELEMENT - 1] ^= 0x40,
                    Corruption::Nan => element.fill(0xff),
                }
                return;
            }
        }
    }
}
