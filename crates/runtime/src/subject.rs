//! The subject of a harness: a model with a checkpoint, or operators, which have none. As a harness
//! names it, and as an endpoint computes with it; `load` makes one of the other.

use std::{collections::BTreeMap, fmt, path::Path, time::Duration};
use testgen_engine::Feature;
use testgen_models::{Checkpoint, Model, Source};
use testgen_nn::weights::Residency;
use testgen_operators::calls::{
    Call, CallError, Computed, Execute, PeriodicCall, PeriodicResult, Piece,
};
use testgen_types::{ModelType, Operator, Precision, Repetitions};

/// The subject of a harness.
#[derive(Debug, Clone, Copy)]
pub enum Subject {
    /// A model.
    Model {
        /// The `model_type` of `config.json`.
        model_type: ModelType,
        /// The source of the checkpoint.
        source: Source,
    },
    /// Operators of the backend, with the shapes that they are computed on.
    Operators {
        /// Each operator with its shapes.
        shapes: &'static [OperatorShapes],
    },
}

/// An operator with the shapes that it is computed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperatorShapes {
    /// The operator.
    pub operator: Operator,
    /// Each shape has the sizes that [`Operator::sizes`] names.
    pub shapes: &'static [&'static [usize]],
    /// The shapes of the check `stress`.
    pub stress: &'static [StressShapes],
}

/// Shapes of the check `stress` with their origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StressShapes {
    /// The issue that reports a fault of such sizes, `repository#number`, or a word.
    pub issue: &'static str,
    /// Each shape has the sizes that [`Operator::sizes`] names.
    pub shapes: &'static [&'static [usize]],
}

impl Subject {
    /// The type of a model.
    pub(crate) fn model_type(&self) -> Option<ModelType> {
        match self {
            Self::Model { model_type, .. } => Some(*model_type),
            Self::Operators { .. } => None,
        }
    }

    /// The checkpoint of a model, for a suite in `base`; operators have none.
    pub(crate) fn checkpoint(&self, base: &Path) -> Option<Checkpoint> {
        match self {
            Self::Model { source, .. } => Some(source.checkpoint(base)),
            Self::Operators { .. } => None,
        }
    }
}

/// The subject that an endpoint computes with.
#[derive(Debug)]
pub enum LoadedSubject {
    /// A model.
    Model {
        /// The model with its weights.
        model: Box<Model>,
        /// The features that it does not have in an engine, with the reasons.
        lacks: BTreeMap<Feature, String>,
        /// Where its layers are.
        residency: Residency,
        /// The time of the load.
        load_time: Duration,
    },
    /// Operators.
    Operators(OperatorSet),
}

/// Operators on a device, in a precision.
pub struct OperatorSet {
    pub(crate) shapes: &'static [OperatorShapes],
    pub(crate) precision: Precision,
    pub(crate) executor: Box<dyn Execute + Send + Sync>,
}

impl LoadedSubject {
    /// The precision that it computes in.
    pub fn precision(&self) -> Precision {
        match self {
            Self::Model { model, .. } => model.precision(),
            Self::Operators(set) => set.precision,
        }
    }

    /// The model, or `None` for operators.
    pub fn model(&self) -> Option<&Model> {
        match self {
            Self::Model { model, .. } => Some(model),
            Self::Operators(_) => None,
        }
    }

    /// The operators, or `None` for a model.
    pub fn operators(&self) -> Option<&OperatorSet> {
        match self {
            Self::Model { .. } => None,
            Self::Operators(set) => Some(set),
        }
    }

    /// Why the model does not have a feature, or `None` if it has.
    pub(crate) fn lacks(&self, feature: Feature) -> Option<&str> {
        let Self::Model { lacks, .. } = self else {
            return None;
        };
        lacks.get(&feature).map(String::as_str)
    }

    /// Replaces the model, as tests do to put a fault into it. Operators are unchanged.
    #[must_use]
    pub fn map_model(self, replace: impl FnOnce(Model) -> Model) -> Self {
        match self {
            Self::Model {
                model,
                lacks,
                residency,
                load_time,
            } => Self::Model {
                model: Box::new(replace(*model)),
                lacks,
                residency,
                load_time,
            },
            Self::Operators(set) => Self::Operators(set),
        }
    }
}

impl OperatorSet {
    /// The operators with their shapes.
    pub fn shapes(&self) -> &'static [OperatorShapes] {
        self.shapes
    }

    /// Replaces what computes the calls, as tests do to put a fault into it.
    #[must_use]
    pub fn map_executor(
        self,
        replace: impl FnOnce(Box<dyn Execute + Send + Sync>) -> Box<dyn Execute + Send + Sync>,
    ) -> Self {
        Self {
            executor: replace(self.executor),
            ..self
        }
    }
}

impl Execute for OperatorSet {
    fn execute(&self, call: &Call) -> Result<Computed, CallError> {
        self.executor.execute(call)
    }

    fn execute_periodic(
        &self,
        call: &PeriodicCall,
        read: &mut dyn FnMut(Piece<'_>),
    ) -> Result<PeriodicResult, CallError> {
        self.executor.execute_periodic(call, read)
    }

    fn time(&self, call: &Call, repetitions: Repetitions) -> Result<Vec<f64>, CallError> {
        self.executor.time(call, repetitions)
    }
}

impl fmt::Debug for OperatorSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperatorSet")
            .field("precision", &self.precision)
            .finish_non_exhaustive()
    }
}
