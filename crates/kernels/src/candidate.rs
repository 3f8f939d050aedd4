//! The kernels that burn-cubecl 0.21's autotuner tries (`kernel/matmul/tune/base.rs`), in its
//! order, and the kernel of `testgen-gpu`.

use cubek::matmul::{
    components::tile::TileMatmulKind::{self, Cmma, Mma},
    launch::Strategy,
    routines::{
        BlueprintStrategy::Inferred,
        TileSizeSelection::{self, MaxTileSize, MinTileSize},
        double_buffering::DoubleBufferingArgs,
        double_unit::DoubleUnitSelectionArgs,
        ordered_double_buffering::OrderedSelectionArgs,
        simple::SimpleArgs,
        simple_unit::SimpleUnitSelectionArgs,
        specialized::SpecializedStrategy,
    },
};
use testgen_gpu::ROW_MAJOR;

/// A kernel with its options.
pub enum Candidate {
    /// One of cubek's.
    Cubek(Strategy),
    /// `testgen_gpu::row_major_product`.
    RowMajor,
}

impl Candidate {
    /// All candidates.
    pub fn all() -> Vec<Self> {
        let mut strategies = vec![
            Strategy::Naive,
            Strategy::DoubleVecMat(Inferred(().into())),
            Strategy::SimpleVecMat(Inferred(().into())),
            Strategy::GemvPlaneParallel(Inferred(Default::default())),
            Strategy::GemvUnitPerpendicular(Inferred(Default::default())),
        ];
        for tile_size in [MaxTileSize, MinTileSize] {
            strategies.extend(units(tile_size));
        }
        strategies.extend(accelerated());
        let cubek = strategies.into_iter().map(Self::Cubek);
        cubek.chain([Self::RowMajor]).collect()
    }

    /// Its name, with the options: cubek's own for its kernels.
    pub fn name(&self) -> String {
        match self {
            Self::Cubek(strategy) => strategy.to_string(),
            Self::RowMajor => ROW_MAJOR.to_owned(),
        }
    }

    /// Whether the kernel runs on matrix units, which round f32 to TF32.
    pub fn needs_matrix_units(&self) -> bool {
        // `cmma` and `mma` are part of the names of all that do, and of no other.
        self.name().contains("mma")
    }
}

fn units(tile_size: TileSizeSelection) -> [Strategy; 2] {
    [
        Strategy::SimpleUnit(Inferred(SimpleUnitSelectionArgs { tile_size })),
        Strategy::DoubleUnit(Inferred(DoubleUnitSelectionArgs { tile_size })),
    ]
}

fn accelerated() -> Vec<Strategy> {
    let mut strategies = Vec::new();
    for multi_rows in [false, true] {
        strategies.push(Strategy::SimpleCyclicCmma(Inferred(SimpleArgs {
            multi_rows,
            tile_matmul: Cmma,
        })));
        strategies.push(Strategy::SimpleCyclicMma(Inferred(SimpleArgs {
            multi_rows,
            tile_matmul: Mma,
        })));
    }
    for row_count in [4, 8] {
        strategies.push(Strategy::OrderedDoubleCmma(Inferred(ordered(
            row_count, Cmma,
        ))));
        strategies.push(Strategy::OrderedDoubleMma(Inferred(ordered(
            row_count, Mma,
        ))));
    }
    for specialized in [false, true] {
        strategies.push(Strategy::DoubleCyclicCmma(Inferred(DoubleBufferingArgs {
            specialized,
            tile_matmul: Cmma,
        })));
        strategies.push(Strategy::DoubleCyclicMma(Inferred(DoubleBufferingArgs {
            specialized,
            tile_matmul: Mma,
        })));
    }
    strategies.push(Strategy::SpecializedCyclicCmma(Inferred(
        SpecializedStrategy { tile_matmul: Cmma },
    )));
    strategies.push(Strategy::SpecializedCyclicMma(Inferred(
        SpecializedStrategy { tile_matmul: Mma },
    )));
    for multi_rows in [false, true] {
        strategies.push(Strategy::SimpleTmaCmma(Inferred(SimpleArgs {
            multi_rows,
            tile_matmul: Cmma,
        })));
        strategies.push(Strategy::SimpleTmaMma(Inferred(SimpleArgs {
            multi_rows,
            tile_matmul: Mma,
        })));
    }
    strategies.push(Strategy::SpecializedTmaCmma(Inferred(
        SpecializedStrategy { tile_matmul: Cmma },
    )));
    strategies.push(Strategy::SpecializedTmaMma(Inferred(SpecializedStrategy {
        tile_matmul: Mma,
    })));
    strategies
}

fn ordered(row_count: u32, tile_matmul: TileMatmulKind) -> OrderedSelectionArgs {
    OrderedSelectionArgs {
        // The options of burn-cubecl's autotuner.
        partition_k: Some(2),
        row_count: Some(row_count),
        rows_per_plane: Some(2),
        tile_matmul,
    }
}

#[cfg(test)]
mod tests {
    use super::Candidate;
    use std::collections::BTreeSet;

    #[test]
    fn there_are_30_with_names_of_their_own() {
        let names: BTreeSet<String> = Candidate::all().iter().map(Candidate::name).collect();
        assert_eq!(names.len(), 30);
        assert!(
            names.contains("matmul_naive") && names.contains("matmul_simple_unit_max_tile_size")
        );
        assert_eq!(
            Candidate::all()
                .iter()
                .filter(|candidate| candidate.needs_matrix_units())
                .count(),
            20
        );
    }
}
