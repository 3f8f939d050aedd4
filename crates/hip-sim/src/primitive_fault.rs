//! Faults of softmax, activations, pools, reductions and norms.

use crate::named_faults::named_faults;

named_faults! {
    /// A fault of the simulated MIOpen outside of convolutions.
    PrimitiveFault {
        /// The accurate softmax and its logarithm do not subtract the maximum.
        Shift = "shift",
        /// Activations take the absolute value of their input.
        Sign = "sign",
        /// The mean of a window counts padding in every mode.
        Padding = "padding",
        /// The last block of 256 elements of a sum, a mean, a norm or a variance is left out if it is
        /// not full, and others are.
        Block = "block",
        /// The largest magnitude and the sum of absolute values take elements with their signs.
        Magnitude = "magnitude",
        /// The root of the sum of squares is not taken.
        Root = "root",
        /// A product starts with 0 in place of 1.
        Start = "start",
        /// The variance of a norm is divided by one less than the number of its elements.
        Samples = "samples",
        /// The mean of a norm is not subtracted.
        Mean = "mean",
        /// The epsilon of a norm is added to the root of the variance in place of the variance.
        Epsilon = "epsilon",
        /// Every element of a norm has the parameters of the last channel.
        Channel = "channel",
        /// A norm returns the variance in place of the reciprocal of its root; its result is right.
        Statistics = "statistics",
        /// Elements of the result after the first kilobyte are not stored.
        Limit = "limit",
        /// The element after the last one is written, too.
        Beyond = "beyond",
        /// Nothing is computed, and success is returned.
        Silent = "silent",
        /// An internal error is returned.
        Refuse = "refuse",
    }
}

impl PrimitiveFault {
    /// The elements that a block of a sum adds.
    pub(crate) const BLOCK: usize = 256;
}
