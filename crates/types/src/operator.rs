//! The operators that specs of the architecture `operators` name, in their groups, with the sizes
//! of a shape.

use crate::closed_enum::closed_enum;

/// Declares the operators and their groups.
macro_rules! operators {
    ($(
        $(#[$group_doc:meta])* $group:ident $group_text:literal {
            $($(#[$doc:meta])* $operator:ident = $text:literal,)+
        }
    )+) => {
        closed_enum! {
            /// An operator with the meaning of PyTorch's function of the same name, unless its
            /// comment says otherwise.
            Operator: "operator" {
                $($($(#[$doc])* $operator = $text,)+)+
            }
        }

        closed_enum! {
            /// Operators that are computed alike, and whose cases are in one file.
            OperatorGroup: "group of operators" {
                $($(#[$group_doc])* $group = $group_text,)+
            }
        }

        impl Operator {
            /// Its group.
            pub const fn group(self) -> OperatorGroup {
                match self {
                    $($(Self::$operator)|+ => OperatorGroup::$group,)+
                }
            }
        }
    };
}

operators! {
    /// Each element from those at its position.
    Elementwise "elementwise" {
        /// a + b.
        Add = "add",
        /// a - b.
        Sub = "sub",
        /// a * b.
        Mul = "mul",
        /// a / b.
        Div = "div",
        /// a to the power b.
        Pow = "pow",
        /// The larger of a and b, as `torch.max(a, b)`; NaN where either is NaN.
        MaxBinary = "max_binary",
        /// The smaller of a and b, as `torch.min(a, b)`; NaN where either is NaN.
        MinBinary = "min_binary",
        /// -a.
        Neg = "neg",
        /// |a|.
        Abs = "abs",
        /// The square root.
        Sqrt = "sqrt",
        /// e to the power a.
        Exp = "exp",
        /// The natural logarithm.
        Log = "log",
        /// The sine of radians.
        Sin = "sin",
        /// The cosine of radians.
        Cos = "cos",
        /// The hyperbolic tangent.
        Tanh = "tanh",
        /// a if a condition holds, else b.
        Where = "where",
        /// The larger of a and b; NaN where either is NaN.
        Maximum = "maximum",
        /// The smaller of a and b; NaN where either is NaN.
        Minimum = "minimum",
        /// The nearest number between two limits; NaN stays NaN.
        Clamp = "clamp",
        /// The identity, as in evaluation; in training each element is zero or divided by 1 - p.
        Dropout = "dropout",
    }
    /// Truth values.
    Comparison "comparison" {
        /// Whether a equals b.
        Eq = "eq",
        /// Whether a differs from b.
        Ne = "ne",
        /// Whether a is below b.
        Lt = "lt",
        /// Whether a is at most b.
        Le = "le",
        /// Whether a is above b.
        Gt = "gt",
        /// Whether a is at least b.
        Ge = "ge",
        /// As `lt`.
        Less = "less",
    }
    /// Activations and softmaxes.
    Activation "activation" {
        /// max(a, 0).
        Relu = "relu",
        /// max(a, 0), at most 6.
        Relu6 = "relu6",
        /// 1 / (1 + exp(-a)).
        Sigmoid = "sigmoid",
        /// The Gaussian error linear unit, with erf and in its tanh form.
        Gelu = "gelu",
        /// a * sigmoid(a).
        Silu = "silu",
        /// The softmax over a dimension.
        Softmax = "softmax",
        /// The logarithm of the softmax over a dimension.
        LogSoftmax = "log_softmax",
    }
    /// Sums and extremes.
    Reduction "reduction" {
        /// The sum of all elements, or over a dimension.
        Sum = "sum",
        /// The mean of all elements, or over a dimension.
        Mean = "mean",
        /// The largest of all elements, or over a dimension.
        Max = "max",
        /// The smallest of all elements, or over a dimension.
        Min = "min",
        /// The product of all elements, or over a dimension.
        Prod = "prod",
    }
    /// Products of matrices.
    Matrix "matrix" {
        /// A product of two matrices.
        Matmul = "matmul",
        /// A matrix with rows and columns exchanged.
        Transpose = "transpose",
        /// Products of the matrices of two batches.
        BatchMatmul = "batch_matmul",
        /// alpha a b + beta c, with factors that may be transposed in memory (`addmm`); c is not
        /// read where beta is 0.
        Gemm = "gemm",
    }
    /// Convolutions.
    Convolution "convolution" {
        /// A convolution over one dimension.
        Conv1d = "conv1d",
        /// A convolution over two dimensions.
        Conv2d = "conv2d",
        /// A convolution over three dimensions.
        Conv3d = "conv3d",
        /// The transposed convolution over two dimensions.
        ConvTranspose2d = "conv_transpose2d",
    }
    /// Pools.
    Pooling "pooling" {
        /// The largest of each window of one dimension.
        MaxPool1d = "max_pool1d",
        /// The largest of each window of two dimensions.
        MaxPool2d = "max_pool2d",
        /// The largest of each window of three dimensions.
        MaxPool3d = "max_pool3d",
        /// The mean of each window of one dimension.
        AvgPool1d = "avg_pool1d",
        /// The mean of each window of two dimensions.
        AvgPool2d = "avg_pool2d",
        /// The mean of each window of three dimensions.
        AvgPool3d = "avg_pool3d",
        /// Means of as many windows of one dimension as the output has elements.
        AdaptiveAvgPool1d = "adaptive_avg_pool1d",
        /// Means of as many windows of two dimensions as the output has elements.
        AdaptiveAvgPool2d = "adaptive_avg_pool2d",
    }
    /// Normalisations.
    Normalisation "normalisation" {
        /// Normalisation of each channel by recorded statistics.
        BatchNorm = "batch_norm",
        /// Normalisation over the last dimension.
        LayerNorm = "layer_norm",
        /// Normalisation of groups of channels.
        GroupNorm = "group_norm",
        /// Normalisation of each channel of each row by itself.
        InstanceNorm = "instance_norm",
        /// Normalisation by the root mean square over the last dimension.
        RmsNorm = "rms_norm",
    }
    /// Moves of elements.
    Movement "movement" {
        /// Another shape for the same elements.
        Reshape = "reshape",
        /// Another shape for the same memory.
        View = "view",
        /// Removes a dimension of size 1.
        Squeeze = "squeeze",
        /// Adds a dimension of size 1.
        Unsqueeze = "unsqueeze",
        /// A copy.
        Copy = "copy",
        /// A row-major copy of a tensor with other strides.
        Contiguous = "contiguous",
        /// Channels last: [batch, channels, height, width] to [batch, height, width, channels].
        LayoutTransform = "layout_transform",
        /// Repeats dimensions of size 1.
        Broadcast = "broadcast",
        /// Joins tensors along a dimension.
        Concat = "concat",
        /// Joins tensors along a new dimension.
        Stack = "stack",
        /// Every n-th element of a range of a dimension.
        Slice = "slice",
    }
    /// Moves of elements at indices.
    Indexing "indexing" {
        /// The elements of a dimension at indices, one for each element of the result.
        Gather = "gather",
        /// The rows of a table at indices.
        Embedding = "embedding",
    }
    /// Losses.
    Loss "loss" {
        /// The mean of squared differences.
        MseLoss = "mse_loss",
        /// The mean of absolute differences.
        L1Loss = "l1_loss",
        /// The Huber loss with a delta of 1.
        SmoothL1Loss = "smooth_l1_loss",
        /// The binary cross entropy of probabilities.
        BceLoss = "bce_loss",
        /// The binary cross entropy of logits.
        BceWithLogitsLoss = "bce_with_logits_loss",
        /// The cross entropy of logits and classes.
        CrossEntropyLoss = "cross_entropy_loss",
        /// The negative log likelihood of classes.
        NllLoss = "nll_loss",
        /// The Kullback-Leibler divergence of log probabilities from probabilities.
        KlDivLoss = "kl_div_loss",
    }
    /// Attention and its parts.
    Attention "attention" {
        /// Rotary position embeddings, the halves of a head rotated.
        Rope = "rope",
        /// Attention: plain, causal, with a mask, with fewer heads of keys and values.
        ScaledDotProductAttention = "scaled_dot_product_attention",
        /// A sum of rows, each multiplied by a weight.
        WeightedSum = "weighted_sum",
    }
    /// Operators of several devices, the ranks. The first dimension of inputs and of the result is
    /// the rank that has the rest.
    Collective "collective" {
        /// The sum of the tensors of all ranks, on every rank.
        AllReduce = "all_reduce",
        /// The tensors of all ranks one after another, on every rank.
        AllGather = "all_gather",
        /// The sum of the tensors of all ranks, of which each rank has an equal part.
        ReduceScatter = "reduce_scatter",
        /// Each rank has a part for every rank, and gets one from every rank.
        AllToAll = "all_to_all",
        /// The tensor of one rank, on every rank.
        BroadcastFromRank = "broadcast_from_rank",
        /// a b, of which each rank computes some columns; all columns on every rank.
        ColumnParallelProduct = "column_parallel_product",
        /// a b, of which each rank multiplies a part of the inner dimension; the sum on every rank.
        RowParallelProduct = "row_parallel_product",
    }
    /// Patterns that engines fuse.
    Fused "fused" {
        /// relu(a b + bias).
        MatmulBiasRelu = "matmul_bias_relu",
        /// gelu(a b + bias).
        MatmulBiasGelu = "matmul_bias_gelu",
        /// relu(batch_norm(conv2d(a))).
        ConvBatchNormRelu = "conv_batch_norm_relu",
        /// relu(a + b).
        AddRelu = "add_relu",
        /// a * b + c.
        MulAdd = "mul_add",
    }
}

impl Operator {
    /// The number of tensors that an elementwise operator or a comparison takes.
    pub const fn elementwise_inputs(self) -> usize {
        match self {
            Self::Neg
            | Self::Abs
            | Self::Sqrt
            | Self::Exp
            | Self::Log
            | Self::Sin
            | Self::Cos
            | Self::Tanh
            | Self::Clamp
            | Self::Dropout => 1,
            Self::Where => 3,
            _ => 2,
        }
    }

    /// The meaning of each size of a shape in a spec.
    pub const fn sizes(self) -> &'static [&'static str] {
        match self {
            Self::Matmul | Self::Gemm | Self::MatmulBiasRelu | Self::MatmulBiasGelu => {
                &["rows", "inner", "columns"]
            }
            Self::AllReduce
            | Self::AllGather
            | Self::ReduceScatter
            | Self::AllToAll
            | Self::BroadcastFromRank => &["ranks", "elements"],
            Self::ColumnParallelProduct | Self::RowParallelProduct => {
                &["ranks", "rows", "inner", "columns"]
            }
            Self::BatchMatmul => &["batch", "rows", "inner", "columns"],
            Self::Conv1d => &["batch", "in", "out", "length", "kernel"],
            Self::Conv2d | Self::ConvTranspose2d | Self::ConvBatchNormRelu => {
                &["batch", "in", "out", "height", "width", "kernel"]
            }
            Self::Conv3d => &["batch", "in", "out", "depth", "height", "width", "kernel"],
            Self::MaxPool1d | Self::AvgPool1d => &["batch", "channels", "length", "kernel"],
            Self::MaxPool2d | Self::AvgPool2d => {
                &["batch", "channels", "height", "width", "kernel"]
            }
            Self::MaxPool3d | Self::AvgPool3d => {
                &["batch", "channels", "depth", "height", "width", "kernel"]
            }
            Self::AdaptiveAvgPool1d => &["batch", "channels", "length", "output"],
            Self::AdaptiveAvgPool2d => &["batch", "channels", "height", "width", "output"],
            Self::BatchNorm | Self::InstanceNorm => &["batch", "channels", "positions"],
            Self::GroupNorm => &["batch", "groups", "channels of a group", "positions"],
            Self::LayoutTransform => &["batch", "channels", "height", "width"],
            Self::Gather => &["rows", "columns", "picks"],
            Self::Embedding => &["rows", "width", "picks"],
            Self::CrossEntropyLoss | Self::NllLoss => &["rows", "classes"],
            Self::Rope => &["batch", "heads", "seq", "head_dim"],
            Self::ScaledDotProductAttention => &["batch", "heads", "queries", "keys", "head_dim"],
            _ => &["rows", "columns"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Operator, OperatorGroup};

    #[test]
    fn every_operator_has_sizes_and_another_name_than_the_groups() {
        for operator in Operator::ALL {
            assert!((2..=7).contains(&operator.sizes().len()), "{operator}");
            assert!(
                operator.as_str().parse::<OperatorGroup>().is_err(),
                "{operator}"
            );
        }
    }
}
