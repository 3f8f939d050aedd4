//! Blocks that several types share: norms, MLPs, mixtures of experts and attention of encoders.

use crate::{
    attention::{KeyValueTensors, attend, split_heads},
    elementwise::{ActivationMemory, elements},
    gpu_layout,
    product::{Order, ProjectionMatrix},
    tensor::{AllocatedTensor, ElementType, Machine, empty, workspace},
};

/// A normalisation of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NormKind {
    Layer,
    /// With a weight in the type of the model.
    Rms,
    /// With a weight in f32, whatever the type of the model.
    RmsInF32,
}

impl NormKind {
    pub(crate) fn forward(self, x: AllocatedTensor) -> AllocatedTensor {
        match self {
            Self::Layer => x.layer_norm(),
            Self::Rms => {
                let element = x.element;
                x.rms_norm(element)
            }
            Self::RmsInF32 => x.rms_norm(ElementType::F32),
        }
    }
}

/// The MLP of a layer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MlpKind {
    Plain {
        up: ProjectionMatrix,
        activation: ActivationMemory,
        down: ProjectionMatrix,
    },
    /// The gate is multiplied by up; `joined`: both are parts of one matrix.
    Gated {
        up: ProjectionMatrix,
        joined: bool,
        activation: ActivationMemory,
        down: ProjectionMatrix,
    },
    Experts(ExpertSizes),
}

impl MlpKind {
    pub(crate) fn plain(
        [width, inner]: [u64; 2],
        activation: ActivationMemory,
        bias: bool,
    ) -> Self {
        let (up, down) = (
            ProjectionMatrix::linear(width, inner, bias),
            ProjectionMatrix::linear(inner, width, bias),
        );
        Self::Plain {
            up,
            activation,
            down,
        }
    }

    /// With matrices in the order [in, out].
    pub(crate) fn turned([width, inner]: [u64; 2], activation: ActivationMemory) -> Self {
        Self::Plain {
            up: turned_projection(width, inner),
            activation,
            down: turned_projection(inner, width),
        }
    }

    pub(crate) fn gated(
        [width, inner]: [u64; 2],
        joined: bool,
        activation: ActivationMemory,
    ) -> Self {
        let (up, down) = (
            ProjectionMatrix::linear(width, inner, false),
            ProjectionMatrix::linear(inner, width, false),
        );
        Self::Gated {
            up,
            joined,
            activation,
            down,
        }
    }

    /// [batch, seq, width].
    pub(crate) fn forward(self, x: AllocatedTensor) -> AllocatedTensor {
        let element = x.element;
        self.forward_wide(x, element)
    }

    /// As [`MlpKind::forward`], with the last product in the type `sum`.
    pub(crate) fn forward_wide(self, x: AllocatedTensor, sum: ElementType) -> AllocatedTensor {
        match self {
            Self::Plain {
                up,
                activation,
                down,
            } => {
                let inner = up.forward(x).activate(activation);
                down.forward(inner.cast(sum))
            }
            Self::Gated {
                up,
                joined: false,
                activation,
                down,
            } => {
                let [gate, linear] = [up.forward(x.clone()), up.forward(x.clone())];
                // Both products have read it.
                drop(x);
                down.forward(gate.activate(activation).combine(linear).cast(sum))
            }
            Self::Gated {
                up,
                joined: true,
                activation,
                down,
            } => {
                let inner = up.out;
                let both = ProjectionMatrix {
                    out: 2 * inner,
                    ..up
                }
                .forward(x);
                let [gate, linear] = [0, inner].map(|start| both.clone().narrow(2, start, inner));
                drop(both);
                // No wider sum: only T5 has one, and its gate is a product by itself.
                down.forward(gate.activate(activation).combine(linear))
            }
            Self::Experts(experts) => experts.forward(x),
        }
    }
}

/// A mixture of experts: all are computed, and the experts that are not chosen get the weight zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExpertSizes {
    pub(crate) width: u64,
    pub(crate) inner: u64,
    pub(crate) count: u64,
    pub(crate) activation: ActivationMemory,
}

impl ExpertSizes {
    /// Loads the gates and the parts beside them one by one, and joins those of a layer.
    pub(crate) fn load(self, machine: &Machine) {
        let matrices = self.width.saturating_mul(2 * self.count);
        let (bytes, _) = gpu_layout::aligned(&[matrices, self.inner], machine.element.bytes());
        if machine.is_gpu() {
            machine.copy_while_loading(bytes);
        }
    }

    fn forward(self, x: AllocatedTensor) -> AllocatedTensor {
        let Self {
            width,
            inner,
            count,
            activation,
        } = self;
        let (dims, element, machine) = (x.dims().to_vec(), x.element, x.machine().clone());
        let tokens = dims[0].saturating_mul(dims[1]);
        let x = x.reshape(&[tokens, width]);
        let probabilities = ProjectionMatrix::linear(width, count, false)
            .forward(x.clone())
            .cast(ElementType::F32);
        // Ranks by comparisons of every pair: signs, ties, and their product with the order of
        // experts.
        drop([0; 3].map(|_| empty(&machine, &[tokens, count, count], ElementType::F32)));
        let weights = [probabilities.like(ElementType::F32), probabilities];
        let inward = expert_projection(width, (2 * count).saturating_mul(inner))
            .forward(x)
            .reshape(&[tokens, count, 2 * inner]);
        let gate = inward.clone().narrow(2, 0, inner).activate(activation);
        let up = inward.narrow(2, inner, inner);
        let hidden = gate.combine(up).cast(ElementType::F32);
        let weighed = if machine.is_gpu() {
            // The mask is a view of one for each expert, and both steps are in place.
            hidden.map()
        } else {
            // The mask of experts that were not chosen, a byte for each element.
            let _mask = workspace(&machine, &[elements(&hidden).div_ceil(4)], ElementType::F32);
            let weighed = hidden.like(ElementType::F32);
            drop(hidden);
            weighed
        };
        let y = expert_projection(count * inner, width)
            .forward(weighed.cast(element).reshape(&[tokens, count * inner]));
        drop(weights);
        y.reshape(&dims)
    }
}

/// Self-attention of an encoder, or attention to the output of one, with as many keys as queries
/// heads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attention {
    pub(crate) width: u64,
    pub(crate) heads: u64,
    /// Of all heads together.
    pub(crate) inner: u64,
    /// Whether the projections have a bias.
    pub(crate) bias: bool,
}

impl Attention {
    pub(crate) fn new(width: u64, heads: u64, bias: bool) -> Self {
        Self {
            width,
            heads,
            inner: width,
            bias,
        }
    }

    /// Keys and values of `x` [batch, seq, width].
    pub(crate) fn keys_values(self, x: &AllocatedTensor) -> KeyValueTensors {
        KeyValueTensors {
            key: self.split(x.clone()),
            value: self.split(x.clone()),
        }
    }

    /// [batch, seq, width]; `bias` is added to the scores.
    pub(crate) fn forward(
        self,
        x: AllocatedTensor,
        bias: Option<AllocatedTensor>,
    ) -> AllocatedTensor {
        let query = self.split(x.clone());
        let keys_values = self.keys_values(&x);
        let _held = x.held_on_host();
        self.project(attend(query, keys_values, false, bias))
    }

    /// Attention of `x` to `keys_values`.
    pub(crate) fn over(
        self,
        x: AllocatedTensor,
        keys_values: KeyValueTensors,
        bias: Option<AllocatedTensor>,
    ) -> AllocatedTensor {
        self.project(attend(self.split(x), keys_values, false, bias))
    }

    fn split(self, x: AllocatedTensor) -> AllocatedTensor {
        split_heads(
            ProjectionMatrix::linear(self.width, self.inner, self.bias).forward(x),
            self.heads,
        )
    }

    fn project(self, attended: AllocatedTensor) -> AllocatedTensor {
        ProjectionMatrix::linear(self.inner, self.width, self.bias).forward(attended)
    }
}

fn turned_projection(inner: u64, out: u64) -> ProjectionMatrix {
    ProjectionMatrix {
        order: Order::Turned,
        ..ProjectionMatrix::linear(inner, out, true)
    }
}

fn expert_projection(inner: u64, out: u64) -> ProjectionMatrix {
    ProjectionMatrix {
        inner,
        out,
        bias: false,
        order: Order::Turned,
    }
}
