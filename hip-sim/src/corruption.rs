//! Damaging one element that a kernel wrote, for the faults `wrong` and `nan`.
//!
//! Which buffers a kernel writes is not in its code object, so the bytes before and after are compared.

use crate::memory::Memory;
use crate::{Function, Launch};

/// What becomes of the element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Damage {
    /// The highest bit of the exponent is turned over.
    Wrong,
    /// All bits are set, which is no number in any floating-point type.
    Nan,
}

/// The buffers of a launch as they were before it.
pub(crate) struct Before {
    damage: Damage,
    buffers: Vec<(*mut u8, Vec<u8>)>,
}

/// An element of f32, or two of a half type.
const ELEMENT: usize = 4;

impl Before {
    /// Copies what the arguments lead to, as far as they lead into the device's memory.
    ///
    /// # Safety
    ///
    /// `launch.arguments` are those of the kernel.
    pub(crate) unsafe fn new(damage: Damage, memory: &Memory, function: &Function, launch: &Launch) -> Self {
        // SAFETY: each argument is at least a pointer wide: cubecl binds buffers only.
        let addresses =
            (0..function.arguments).map(|index| unsafe { **launch.arguments.add(index).cast::<*mut *mut u8>() });
        let buffers = addresses.filter_map(|address| {
            let length = memory.rest(address as usize)?;
            // SAFETY: the bytes up to the end of the allocation are initialised: memory is zeroed when it is allocated.
            Some((address, unsafe { std::slice::from_raw_parts(address, length) }.to_vec()))
        });
        Self { damage, buffers: buffers.collect() }
    }

    /// Damages the first element that differs now, in the last buffer that has one: outputs come last.
    pub(crate) fn corrupt(self) {
        for (address, before) in self.buffers.iter().rev() {
            // SAFETY: the allocation is as long as it was, and no kernel runs: launches of a device are made one by one.
            let now = unsafe { std::slice::from_raw_parts_mut(*address, before.len()) };
            let changed =
                now.chunks_exact_mut(ELEMENT).zip(before.chunks_exact(ELEMENT)).find(|(now, before)| now != before);
            if let Some((element, _)) = changed {
                match self.damage {
                    Damage::Wrong => element[ELEMENT - 1] ^= 0x40,
                    Damage::Nan => element.fill(0xff),
                }
                return;
            }
        }
    }
}
