//! From an operator to the group that computes it.

use crate::operators::{
    activation, arguments::CallArguments, attention, collective, convolution, elementwise, fused,
    loss, matrix, movement, normalisation, pooling, reduction, value::DeviceTensor,
};
use testgen_nn::backend::Ops;
use testgen_operators::calls::CallError;
use testgen_types::OperatorGroup;

/// The result of a call on the device.
pub(crate) fn compute<B: Ops>(
    arguments: CallArguments<'_, B>,
) -> Result<DeviceTensor<B>, CallError> {
    let arguments = &arguments;
    match arguments.operator.group() {
        OperatorGroup::Elementwise => elementwise::computed(arguments),
        OperatorGroup::Comparison => elementwise::compared(arguments),
        OperatorGroup::Activation => activation::computed(arguments),
        OperatorGroup::Reduction => reduction::reduced(arguments),
        OperatorGroup::Matrix => matrix::computed(arguments),
        OperatorGroup::Convolution => convolution::computed(arguments),
        OperatorGroup::Pooling => pooling::computed(arguments),
        OperatorGroup::Normalisation => normalisation::computed(arguments),
        OperatorGroup::Movement | OperatorGroup::Indexing => movement::moved(arguments),
        OperatorGroup::Loss => loss::loss(arguments),
        OperatorGroup::Attention => attention::computed(arguments),
        OperatorGroup::Collective => collective::computed(arguments),
        OperatorGroup::Fused => fused::computed(arguments),
    }
}
