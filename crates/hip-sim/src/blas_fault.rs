//! Faults of matrix products, each reported of AMD's libraries or of the same kind as a reported
//! one.

use crate::named_faults::named_faults;

named_faults! {
    /// A fault of the simulated rocBLAS and hipBLASLt.
    BlasFault {
        /// Alpha is taken as 1, as reported of TF32 on gfx950 (rocm-libraries 12226).
        Alpha = "alpha",
        /// With an alpha of 0, the product is computed and multiplied by it, so that NaN stays NaN, as
        /// some algorithms of cuBLASLt do.
        Zero = "zero",
        /// If sums have no terms, the result is not stored (cuBLAS of pytorch 31421).
        Empty = "empty",
        /// If sums have no terms, the result is 0 in place of beta * C.
        Clear = "clear",
        /// C is not added.
        Beta = "beta",
        /// Subnormal elements of A and B are taken as 0, as MFMA of gfx90a does in f16
        /// (rocm-libraries 11938).
        Flush = "flush",
        /// With both factors transposed, A is read as if it were not (ROCm 4615).
        Transpose = "transpose",
        /// A product of a matrix and a vector reads the matrix as if it were stored by rows.
        Gemv = "gemv",
        /// Elements of the result after the first kilobyte are not stored; hipBLASLt 2299 drops
        /// those after 2 GiB.
        Limit = "limit",
        /// Every product of a batch has the first B.
        Batch = "batch",
        /// The element after the last one is written, too.
        Beyond = "beyond",
        /// Nothing is computed, and success is returned (rocm-libraries 5706).
        Silent = "silent",
        /// An internal error is returned.
        Refuse = "refuse",
        /// The product is rounded to the type of the result before beta * C is added.
        Round = "round",
        /// The bias of an epilogue is not added.
        Bias = "bias",
        /// The activation of an epilogue is applied before the bias is added.
        Order = "order",
        /// The scale of B is taken as 1.
        Scale = "scale",
        /// Numbers of 8 bits of gfx942 are read as those of the Open Compute Project, which are twice as
        /// large.
        Fnuz = "fnuz",
        /// Sums of whole numbers saturate at 16 bits, as some processors' instructions do.
        Saturate = "saturate",
        /// The last of the listed solutions computes nothing; the others are right.
        Solution = "solution",
    }
}
