//! Weights that stay in the mapped file: a tensor of the host processor that shares its pages,
//! nothing is copied.

use super::FileTensor;
use crate::heap::HeldBytes;
use burn_tensor::{AllocationProperty, Bytes, DType};
use memmap2::Mmap;
use safetensors::Dtype;
use std::{ops::Range, sync::Arc};

/// The bytes of one tensor in a mapped file, which stays mapped while this exists.
struct MappedTensor {
    map: Arc<Mmap>,
    range: Range<usize>,
    /// Counts as memory in use: a model that is not dropped must be detected although its weights
    /// are not on the heap.
    _held: HeldBytes,
}

impl AsRef<[u8]> for MappedTensor {
    fn as_ref(&self) -> &[u8] {
        &self.map[self.range.clone()]
    }
}

/// The bytes of `stored` without a copy, or `None` if it has another type than `dtype` or is not
/// aligned for it. burn copies them before it writes to them.
pub(super) fn share(stored: &FileTensor<'_>, dtype: DType) -> Option<Bytes> {
    let pair = (stored.dtype, dtype);
    let same = matches!(
        pair,
        (Dtype::F32, DType::F32) | (Dtype::F16, DType::F16) | (Dtype::BF16, DType::BF16)
    );
    let aligned = stored.bytes().as_ptr().addr().is_multiple_of(dtype.size());
    // A file's numbers are little-endian, and its header may have any length.
    if !same || !aligned || cfg!(target_endian = "big") {
        return None;
    }
    let (map, range) = (Arc::clone(&stored.file.map), stored.range.clone());
    let tensor = MappedTensor {
        map,
        _held: HeldBytes::new(range.len()),
        range,
    };
    Some(Bytes::from_shared(
        bytes::Bytes::from_owner(tensor),
        AllocationProperty::Native,
    ))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::{super::Files, share};
    use burn_tensor::DType;
    use std::fs;

    /// A checkpoint of one f32 tensor [2] whose data starts `shift` bytes off the alignment of its
    /// type.
    fn checkpoint(shift: usize) -> (tempfile::TempDir, Files) {
        let directory = tempfile::tempdir().unwrap();
        let mut header = r#"{"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#.to_owned();
        header.push_str(&" ".repeat((8 - header.len() % 8) % 8 + shift));
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend(header.bytes());
        file.extend([1.0_f32, -2.5].iter().flat_map(|value| value.to_le_bytes()));
        fs::write(directory.path().join("model.safetensors"), file).unwrap();
        let files = Files::open(directory.path()).unwrap();
        (directory, files)
    }

    #[test]
    fn a_tensor_of_the_same_type_is_not_copied() {
        let (_directory, files) = checkpoint(0);
        let stored = files.find("w").unwrap();
        let mut bytes = share(&stored, DType::F32).unwrap();
        assert_eq!(bytes.as_ptr(), stored.bytes().as_ptr());
        bytes[0] = 1;
        assert_ne!(bytes.as_ptr(), stored.bytes().as_ptr());
        assert_eq!(stored.bytes()[0], 0, "the file is as it was");
    }

    #[test]
    fn the_file_stays_while_a_tensor_is_there() {
        let (directory, files) = checkpoint(0);
        let bytes = share(&files.find("w").unwrap(), DType::F32).unwrap();
        drop((files, directory));
        assert_eq!(
            bytes[..],
            [1.0_f32.to_le_bytes(), (-2.5_f32).to_le_bytes()].concat()
        );
    }

    #[test]
    fn other_types_and_odd_places_are_not_shared() {
        let (_directory, files) = checkpoint(0);
        assert!(share(&files.find("w").unwrap(), DType::F16).is_none());
        let (_directory, files) = checkpoint(2);
        assert!(share(&files.find("w").unwrap(), DType::F32).is_none());
    }
}
