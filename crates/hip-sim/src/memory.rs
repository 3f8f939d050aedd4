//! The memory of one device: host allocations whose sum is limited to the size of the device's
//! memory.

use crate::status::HipError;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;

/// The alignment of AMD's runtime, which burn derives from the texture alignment.
const ALIGNMENT: usize = 256;

/// The allocations of a device.
// Addresses are stored as numbers, because kernels use them on any thread.
#[derive(Debug)]
pub(crate) struct SimulatedMemory {
    total: usize,
    used: usize,
    blocks: BTreeMap<usize, Allocation>,
}

#[derive(Debug)]
struct Allocation {
    size: usize,
    layout: Layout,
}

impl SimulatedMemory {
    pub(crate) fn new(total: u64) -> Self {
        Self {
            total: usize::try_from(total).unwrap_or(usize::MAX),
            used: 0,
            blocks: BTreeMap::new(),
        }
    }

    /// Allocates `size` zeroed bytes.
    pub(crate) fn allocate(&mut self, size: usize) -> Result<usize, HipError> {
        if size > self.free_bytes() {
            return Err(HipError::OutOfMemory);
        }
        // An allocation of 0 bytes has an address as well, and is released later.
        let layout =
            Layout::from_size_align(size.max(1), ALIGNMENT).map_err(|_| HipError::InvalidValue)?;
        // Memory of a real device has arbitrary contents; zeros make runs reproducible.
        // SAFETY: the layout has at least one byte.
        let address = unsafe { alloc_zeroed(layout) } as usize;
        if address == 0 {
            return Err(HipError::OutOfMemory);
        }
        self.used += size;
        self.blocks.insert(address, Allocation { size, layout });
        Ok(address)
    }

    /// Releases an allocation of [`SimulatedMemory::allocate`].
    pub(crate) fn release(&mut self, address: usize) -> Result<(), HipError> {
        let block = self.blocks.remove(&address).ok_or(HipError::InvalidValue)?;
        self.used -= block.size;
        // SAFETY: the address came from `alloc_zeroed` with this layout, and was in the map until
        // now.
        unsafe { dealloc(address as *mut u8, block.layout) };
        Ok(())
    }

    /// Whether the `size` bytes from `address` are within one allocation.
    pub(crate) fn contains(&self, address: usize, size: usize) -> bool {
        let end = address.checked_add(size);
        self.block_of(address)
            .is_some_and(|(start, block)| end.is_some_and(|end| end <= start + block.size))
    }

    /// The bytes from `address` to the end of its allocation; `None` when it is in none.
    pub(crate) fn rest(&self, address: usize) -> Option<usize> {
        self.block_of(address)
            .and_then(|(start, block)| (start + block.size).checked_sub(address))
    }

    pub(crate) fn free_bytes(&self) -> usize {
        self.total - self.used
    }

    pub(crate) fn total_bytes(&self) -> usize {
        self.total
    }

    fn block_of(&self, address: usize) -> Option<(usize, &Allocation)> {
        self.blocks
            .range(..=address)
            .next_back()
            .map(|(start, block)| (*start, block))
    }
}

impl Drop for SimulatedMemory {
    fn drop(&mut self) {
        let addresses: Vec<usize> = self.blocks.keys().copied().collect();
        for address in addresses {
            // Cannot fail: every key is an allocation.
            let _ = self.release(address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SimulatedMemory;
    use crate::status::HipError;

    #[test]
    fn memory_is_limited_counted_and_aligned() {
        let mut memory = SimulatedMemory::new(1000);
        let first = memory.allocate(600).expect("fits");
        assert_eq!((first % 256, memory.free_bytes()), (0, 400));
        assert_eq!(memory.allocate(401), Err(HipError::OutOfMemory));
        assert_eq!(memory.release(first), Ok(()));
        assert_eq!(memory.release(first), Err(HipError::InvalidValue));
        assert_eq!(memory.free_bytes(), 1000);
    }

    #[test]
    fn an_access_must_be_within_one_allocation() {
        let mut memory = SimulatedMemory::new(1000);
        let address = memory.allocate(100).expect("fits");
        assert!(memory.contains(address + 40, 60));
        assert!(!memory.contains(address + 40, 61));
        assert!(!memory.contains(address - 1, 1));
        assert!(!memory.contains(address, usize::MAX));
        assert_eq!(memory.rest(address + 40), Some(60));
        assert_eq!(memory.rest(address - 1), None);
    }
}
