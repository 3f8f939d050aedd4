//! The layout of tensors on a GPU: where cubecl 0.10 begins rows, and which other shapes burn 0.21
//! sees in the same memory.

/// The bytes to whose multiples rows are aligned: the power of two from a row's size on, within
/// these limits.
const ALIGNMENT: [u64; 2] = [16, 512];

/// The bytes to whose multiples a part of a tensor must begin and end to be a view.
const VIEW_ALIGNMENT: u64 = ALIGNMENT[1];

/// The bytes from one row of `columns` elements to the next, as the allocator aligns them.
pub(crate) fn pitch(columns: u64, size: u64) -> u64 {
    let row = columns.saturating_mul(size);
    let [fewest, most] = ALIGNMENT;
    let alignment = row
        .checked_next_power_of_two()
        .unwrap_or(most)
        .clamp(fewest, most);
    match columns {
        // cubecl aligns single elements to their size alone.
        1 => row,
        _ => row.checked_next_multiple_of(alignment).unwrap_or(row),
    }
}

/// The bytes of a tensor with aligned rows, and its strides.
pub(crate) fn aligned(dims: &[u64], size: u64) -> (u64, Vec<u64>) {
    let Some((columns, outer)) = dims.split_last() else {
        return (size, Vec::new());
    };
    let pitch = pitch(*columns, size);
    let mut stride = pitch / size;
    let mut strides = vec![1];
    for length in outer.iter().rev() {
        strides.push(stride);
        stride = stride.saturating_mul(*length);
    }
    strides.reverse();
    (product(outer).saturating_mul(pitch), strides)
}

/// The strides of elements that follow each other.
pub(crate) fn contiguous(dims: &[u64]) -> Vec<u64> {
    (0..dims.len())
        .map(|dimension| product(&dims[dimension + 1..]))
        .collect()
}

/// The strides of `target` in the memory of `dims`; `None` if burn copies (`reshape_analysis` of
/// burn-std).
pub(crate) fn viewed(dims: &[u64], strides: &[u64], target: &[u64]) -> Option<Vec<u64>> {
    if strides == contiguous(dims) {
        return Some(contiguous(target));
    }
    if dims == target {
        return Some(strides.to_vec());
    }
    // With the same number of dimensions or fewer, burn looks for no view.
    let added = target.len().checked_sub(dims.len()).filter(|it| *it > 0)?;
    let (outer, inner) = target.split_at(added);
    if inner == dims && product(outer) == 1 {
        let outer = std::iter::repeat_n(product(dims), added);
        return Some(outer.chain(strides.iter().copied()).collect());
    }
    only_splits(dims, target).then(|| split(dims, strides, target))
}

/// Whether every one of `target` is a part of one of `dims`.
fn only_splits(dims: &[u64], target: &[u64]) -> bool {
    let (mut part, mut whole) = (1_u64, dims.iter());
    let mut current = whole.next();
    for length in target {
        part = part.saturating_mul(*length);
        match current {
            // burn skips it too: 1 is also the product before the first length.
            _ if *length == 1 => {}
            Some(whole) if part < *whole => {}
            Some(all) if part == *all => {
                part = 1;
                current = whole.next();
            }
            _ => return false,
        }
    }
    true
}

fn split(dims: &[u64], strides: &[u64], target: &[u64]) -> Vec<u64> {
    let mut old = dims.len() - 1;
    let (mut stride, mut part) = (strides[old], 1_u64);
    let mut found = vec![1; target.len()];
    for (own, length) in found.iter_mut().zip(target).rev() {
        part = part.saturating_mul(*length);
        *own = stride;
        if *length == 1 {
            continue;
        }
        if part == dims[old] {
            // After the outermost dimension only lengths of 1 follow, which `only_splits` ensures.
            old = old.saturating_sub(1);
            (stride, part) = (strides[old], 1);
        } else {
            stride = stride.saturating_mul(*length);
        }
    }
    found
}

/// Whether `length` positions of a dimension from `start` on can be seen where they are.
pub(crate) fn is_view([all, stride]: [u64; 2], [start, length]: [u64; 2], size: u64) -> bool {
    let after = all.saturating_sub(start).saturating_sub(length);
    [start, after].into_iter().all(|skipped| {
        let bytes = skipped.saturating_mul(stride).saturating_mul(size);
        bytes.is_multiple_of(VIEW_ALIGNMENT)
    })
}

/// Whether rows of the last dimension have one distance from each other, as the fused kernels read
/// them.
pub(crate) fn has_rows(dims: &[u64], strides: &[u64]) -> bool {
    let last = dims.len() - 1;
    if strides[last] != 1 && dims[last] != 1 {
        return false;
    }
    // Dimensions of length one have any stride.
    let mut outer = (0..last).rev().filter(|dimension| dims[*dimension] != 1);
    let Some(first) = outer.next() else {
        return true;
    };
    let mut next = strides[first].saturating_mul(dims[first]);
    outer.all(|dimension| {
        let follows = strides[dimension] == next;
        next = strides[dimension].saturating_mul(dims[dimension]);
        follows
    })
}

/// Whether only rows of the last dimension have gaps between them, as the allocator aligns them.
pub(crate) fn is_aligned(dims: &[u64], strides: &[u64]) -> bool {
    let last = dims.len() - 1;
    let follows =
        |outer: usize| strides[outer] == strides[outer + 1].saturating_mul(dims[outer + 1]);
    strides[last] == 1
        && (last == 0 || strides[last - 1] >= dims[last])
        && (0..last.saturating_sub(1)).all(follows)
}

pub(crate) fn product(dims: &[u64]) -> u64 {
    dims.iter()
        .fold(1, |product, length| product.saturating_mul(*length))
}

#[cfg(test)]
mod tests {
    use super::{aligned, contiguous, has_rows, is_aligned, is_view, pitch, viewed};

    #[test]
    fn rows_begin_where_a_gpu_reads_fast() {
        // As measured on an H100: 192 numbers of f32 and f16, and widths that are aligned.
        assert_eq!((pitch(192, 4), pitch(192, 2)), (1024, 512));
        assert_eq!([256, 64, 704].map(|it| pitch(it, 4)), [1024, 256, 3072]);
        // Rows of three take 16 bytes, and rows of one element follow each other.
        assert_eq!([pitch(3, 4), pitch(3, 2), pitch(1, 2)], [16, 16, 2]);
        assert_eq!(aligned(&[2, 5, 3], 2), (160, vec![40, 8, 1]));
    }

    #[test]
    fn contiguous_elements_have_any_shape() {
        assert_eq!(viewed(&[4, 6], &[6, 1], &[3, 8]), Some(vec![8, 1]));
        // A pitch, which dimensions within rows or of rows keep.
        assert_eq!(viewed(&[4, 6], &[8, 1], &[24]), None);
        assert_eq!(
            viewed(&[4, 6], &[8, 1], &[2, 2, 2, 3]),
            Some(vec![16, 8, 3, 1])
        );
        assert_eq!(viewed(&[4, 6], &[8, 1], &[4, 6]), Some(vec![8, 1]));
        assert_eq!(viewed(&[4, 6], &[8, 1], &[1, 4, 6]), Some(vec![24, 8, 1]));
        assert_eq!(viewed(&[4, 6], &[1, 4], &[2, 12]), None);
        // burn copies although the first dimension has one element only.
        assert_eq!(viewed(&[1, 4, 6], &[32, 8, 1], &[1, 2, 2, 6]), None);
    }

    #[test]
    fn a_part_is_a_view_where_it_begins_and_ends_at_512_bytes() {
        assert!(is_view([4, 128], [1, 3], 4) && is_view([4, 3], [0, 4], 2));
        assert!(!is_view([4, 64], [1, 3], 4) && !is_view([4, 64], [0, 3], 4));
    }

    #[test]
    fn rows_with_one_distance_need_no_copy() {
        let (bytes, strides) = aligned(&[2, 3, 5], 4);
        assert_eq!(bytes, 6 * 32);
        assert!(has_rows(&[2, 3, 5], &strides) && is_aligned(&[2, 3, 5], &strides));
        assert!(!has_rows(&[2, 3, 5], &[5, 10, 1]) && !is_aligned(&[2, 3, 5], &[5, 10, 1]));
        assert!(has_rows(&[3, 5], &contiguous(&[3, 5])) && !has_rows(&[3, 5], &[1, 3]));
    }
}
