//! Operations of models as one kernel each, where burn launches several.
//!
//! Every kernel computes in f32, whatever the type of the tensors, and rounds where the composition
//! of burn's operators does. A row is reduced by one block, in an order that depends on the number
//! of threads only, so results are the same bits in every run and for every wave size.

mod activation;
mod block;
mod copy;
mod norm;
mod rotation;
mod row_major_product;
mod rows;
mod softmax;

pub use activation::{ElementFunction, activate};
pub use copy::merge_heads;
pub(crate) use copy::{contiguous, swapped};
pub use norm::{LayerNormWeights, layer_norm, rms_norm};
pub use rotation::rotate;
pub(crate) use row_major_product::is_row_major_product;
pub use row_major_product::row_major_product;
pub use softmax::masked_softmax;

/// Changes with the source of the kernels of this module. cubecl's keys of stored kernels do not.
pub const SOURCE_HASH: u64 = {
    // Not `rows.rs`, which has no kernel.
    let hash = hash(0, include_bytes!("fused/activation.rs"));
    let hash = self::hash(hash, include_bytes!("fused/block.rs"));
    let hash = self::hash(hash, include_bytes!("fused/copy.rs"));
    let hash = self::hash(hash, include_bytes!("fused/norm.rs"));
    let hash = self::hash(hash, include_bytes!("fused/rotation.rs"));
    let hash = self::hash(hash, include_bytes!("fused/row_major_product.rs"));
    self::hash(hash, include_bytes!("fused/softmax.rs"))
};

/// FNV-1a, continued from `state`.
const fn hash(state: u64, bytes: &[u8]) -> u64 {
    // The hashes of the standard library are not `const`.
    let mut hash = state ^ 0xcbf2_9ce4_8422_2325;
    let mut index = 0;
    while index < bytes.len() {
        hash = (hash ^ bytes[index] as u64).wrapping_mul(0x0100_0000_01b3);
        index += 1;
    }
    hash
}
