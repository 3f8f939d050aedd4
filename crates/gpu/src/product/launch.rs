//! How cubek's kernels of a matrix product are launched: one strategy for each, with its tile.

use super::rule::ProductKernel;
use crate::runtime::GpuRuntime;
use burn_backend::DType;
use burn_cubecl::tensor::CubeTensor;
use cubecl::client::ComputeClient;
use cubek::matmul::{
    components::tile::TileMatmulKind,
    definition::{MatmulElems, MatmulGlobalElems, MatmulSetupError},
    launch::{launch_naive, launch_tiling},
    routines::{
        BlueprintStrategy, TileSizeSelection,
        simple::{SimpleAlgorithm, SimpleArgs},
        simple_unit::{SimpleUnitAlgorithm, SimpleUnitSelectionArgs},
        specialized::{SpecializedAlgorithm, SpecializedStrategy},
    },
};
use cubek::std::InputBinding;

/// Writes `left` times `right` to `output` by `kernel`, which is one of cubek's.
pub(super) fn launch(
    kernel: ProductKernel,
    left: CubeTensor<GpuRuntime>,
    right: CubeTensor<GpuRuntime>,
    output: CubeTensor<GpuRuntime>,
) -> Result<(), MatmulSetupError> {
    let client = output.client.clone();
    let mut types = MatmulElems::from_globals(&MatmulGlobalElems {
        lhs: left.dtype.into(),
        rhs: right.dtype.into(),
        out: output.dtype.into(),
    });
    let (left_type, right_type) = (left.dtype, right.dtype);
    let left = InputBinding::new(left.binding(), left_type.into());
    let right = InputBinding::new(right.binding(), right_type.into());
    let output = output.binding();
    match kernel {
        ProductKernel::Naive => launch_naive::launch_ref(&client, left, right, output, &types),
        ProductKernel::Unit => {
            let strategy = unit_strategy(&client, left_type);
            launch_tiling::launch_ref(&client, left, right, output, &strategy, &mut types)
        }
        ProductKernel::MatrixUnit => launch_tiling::launch_ref(
            &client,
            left,
            right,
            output,
            &matrix_unit_strategy(),
            &mut types,
        ),
        // An error and not a panic: callers answer any refusal with the naive kernel.
        ProductKernel::RowMajor => Err(MatmulSetupError::InvalidConfig(Box::new(
            "it is not a kernel of cubek",
        ))),
        ProductKernel::TmaMatrixUnit => {
            launch_tiling::launch_ref_tma(&client, left, right, output, &tma_strategy(), &mut types)
        }
    }
}

pub(super) fn unit_strategy(
    client: &ComputeClient<GpuRuntime>,
    dtype: DType,
) -> BlueprintStrategy<(), SimpleUnitAlgorithm> {
    BlueprintStrategy::Inferred(SimpleUnitSelectionArgs {
        tile_size: unit_tile(client, dtype),
    })
}

pub(super) fn matrix_unit_strategy() -> BlueprintStrategy<(), SimpleAlgorithm> {
    BlueprintStrategy::Inferred(SimpleArgs {
        multi_rows: false,
        tile_matmul: TileMatmulKind::Cmma,
    })
}

pub(super) fn tma_strategy() -> BlueprintStrategy<(), SpecializedAlgorithm> {
    BlueprintStrategy::Inferred(SpecializedStrategy {
        tile_matmul: TileMatmulKind::Mma,
    })
}

/// The largest tile that fits into shared memory.
fn unit_tile(client: &ComputeClient<GpuRuntime>, dtype: DType) -> TileSizeSelection {
    // With waves of 64, large tiles of 16 bits ask for 128 KiB, and a block of AMD's has 64
    // (cubek-matmul 0.2 does not check it before the launch).
    match (client.properties().hardware.plane_size_max, dtype) {
        (64.., DType::F16 | DType::BF16) => TileSizeSelection::MinTileSize,
        _ => TileSizeSelection::MaxTileSize,
    }
}
