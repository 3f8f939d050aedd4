//! Launches a candidate, as cubek's `Strategy` does, but compiles the candidates alone: cubek has
//! twice as many kernels.

use crate::candidate::Candidate;
use burn_cubecl::tensor::CubeTensor;
use cubek::matmul::{
    definition::{MatmulElems, MatmulGlobalElems, MatmulSetupError},
    launch::{
        Strategy, launch_naive,
        launch_tiling::{launch_ref, launch_ref_tma},
        launch_vecmat_plane_parallel, launch_vecmat_unit_perpendicular,
    },
};
use cubek::std::InputBinding;
use testgen_gpu::{GpuRuntime, row_major_product};

pub(crate) fn launch(
    candidate: &Candidate,
    left: CubeTensor<GpuRuntime>,
    right: CubeTensor<GpuRuntime>,
    output: CubeTensor<GpuRuntime>,
) -> Result<(), MatmulSetupError> {
    let Candidate::Cubek(strategy) = candidate else {
        return row_major_product(&left, &right, &output)
            .map_err(|error| MatmulSetupError::InvalidConfig(Box::new(error)));
    };
    let client = &output.client.clone();
    let types = &mut MatmulElems::from_globals(&MatmulGlobalElems {
        lhs: left.dtype.into(),
        rhs: right.dtype.into(),
        out: output.dtype.into(),
    });
    let dtype = left.dtype.into();
    let (left, right) = (
        InputBinding::new(left.binding(), dtype),
        InputBinding::new(right.binding(), dtype),
    );
    let output = output.binding();
    match strategy {
        Strategy::Naive => launch_naive::launch_ref(client, left, right, output, types),
        Strategy::SimpleVecMat(options) => launch_ref(client, left, right, output, options, types),
        Strategy::DoubleVecMat(options) => launch_ref(client, left, right, output, options, types),
        Strategy::GemvPlaneParallel(options) => {
            launch_vecmat_plane_parallel::launch_ref(client, left, right, output, options, types)
        }
        Strategy::GemvUnitPerpendicular(options) => launch_vecmat_unit_perpendicular::launch_ref(
            client, left, right, output, options, types,
        ),
        Strategy::SimpleUnit(options) => launch_ref(client, left, right, output, options, types),
        Strategy::DoubleUnit(options) => launch_ref(client, left, right, output, options, types),
        Strategy::SimpleCyclicCmma(options) | Strategy::SimpleCyclicMma(options) => {
            launch_ref(client, left, right, output, options, types)
        }
        Strategy::OrderedDoubleCmma(options) | Strategy::OrderedDoubleMma(options) => {
            launch_ref(client, left, right, output, options, types)
        }
        Strategy::DoubleCyclicCmma(options) | Strategy::DoubleCyclicMma(options) => {
            launch_ref(client, left, right, output, options, types)
        }
        Strategy::SpecializedCyclicCmma(options) | Strategy::SpecializedCyclicMma(options) => {
            launch_ref(client, left, right, output, options, types)
        }
        Strategy::SimpleTmaCmma(options) | Strategy::SimpleTmaMma(options) => {
            launch_ref_tma(client, left, right, output, options, types)
        }
        Strategy::SpecializedTmaCmma(options) | Strategy::SpecializedTmaMma(options) => {
            launch_ref_tma(client, left, right, output, options, types)
        }
        // `Candidate::all` constructs no other.
        other => Err(MatmulSetupError::InvalidConfig(Box::new(format!(
            "{other} is not a candidate"
        )))),
    }
}
