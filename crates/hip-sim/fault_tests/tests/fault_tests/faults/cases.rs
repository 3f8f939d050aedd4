//! Every fault of a simulated GPU, in the order of the table in docs/reference/proof.md.

use super::fault_case::{FaultCase, GOLDEN, compiling, convolution, corrupted, injected};
use hip_sim_fault_tests::{COMPILER, InstallationDefect, RUNTIME};

macro_rules! faults {
    ($($text:literal),+) => { &[$(("HIP_SIM_FAULTS", $text)),+] };
}

/// Every fault.
pub(crate) const CASES: &[FaultCase] = &[
    corrupted(
        "runtime library missing",
        &[InstallationDefect::Missing(RUNTIME)],
        "no libamdhip64.so in ROCM_PATH, HIP_PATH or the loader's path",
    ),
    corrupted(
        "compiler library missing",
        &[InstallationDefect::Missing(COMPILER)],
        "libhiprtc.so, which compiles the kernels, is not found",
    ),
    corrupted(
        "runtime library truncated",
        &[InstallationDefect::Truncated(RUNTIME)],
        "does not load (it is truncated after",
    ),
    corrupted(
        "old version",
        &[InstallationDefect::Lacks {
            library: RUNTIME,
            function: "hipGetDevicePropertiesR0600",
        }],
        "is too old, it lacks `hipGetDevicePropertiesR0600`",
    ),
    corrupted(
        "symbol missing",
        &[InstallationDefect::Lacks {
            library: RUNTIME,
            function: "hipMemcpy2DAsync",
        }],
        "lacks `hipMemcpy2DAsync`, without which burn aborts",
    ),
    corrupted(
        "symbol of the compiler missing",
        &[InstallationDefect::Lacks {
            library: COMPILER,
            function: "hiprtcGetCode",
        }],
        "lacks `hiprtcGetCode`, without which burn aborts",
    ),
    corrupted(
        "hipconfig prints a warning",
        &[InstallationDefect::Hipconfig(
            "echo warning >&2; echo /opt/rocm",
        )],
        "writes to standard error (`warning`), on which burn panics",
    ),
    corrupted(
        "hipconfig fails",
        &[InstallationDefect::Hipconfig("exit 1")],
        "hipconfig -p` fails",
    ),
    injected(
        "no device",
        faults!("no-device"),
        GOLDEN,
        "lists no device (hipGetDeviceCount: error 100, hipErrorNoDevice)",
    ),
    injected(
        "all devices hidden",
        &[("HIP_VISIBLE_DEVICES", "-1")],
        GOLDEN,
        "HIP_VISIBLE_DEVICES=`-1` (HIP): hides every device",
    ),
    injected(
        "unknown architecture",
        faults!("architecture=gfx950"),
        GOLDEN,
        "burn 0.21 does not support gfx950, and panics on it",
    ),
    injected(
        "wrong wave size",
        faults!("wave=64"),
        GOLDEN,
        "the runtime reports wave size 64 for gfx1100, burn requires 32",
    ),
    injected(
        "allocation fails",
        faults!("allocate=2"),
        GOLDEN,
        "out of memory:",
    ),
    compiling(
        "compilation fails",
        faults!("compile="),
        GOLDEN,
        "running the first kernel failed",
    ),
    compiling(
        "compilation of a norm fails",
        faults!("compile=layer_norm"),
        GOLDEN,
        "injected compilation fault",
    ),
    compiling(
        "no compiler",
        &[("HIP_SIM_CXX", "no-such-compiler")],
        GOLDEN,
        "cannot start the C++ compiler `no-such-compiler`",
    ),
    injected(
        "code object does not load",
        faults!("load="),
        GOLDEN,
        "Unable to load the function in the compiled module",
    ),
    injected(
        "launch fails",
        faults!("launch="),
        GOLDEN,
        "running the first kernel failed",
    ),
    injected(
        "launch of a norm fails",
        faults!("launch=layer_norm"),
        GOLDEN,
        "Unable to launch kernel",
    ),
    injected(
        "kernels do nothing",
        faults!("idle="),
        GOLDEN,
        "element 1 is 0, expected 2; 1002 of 1003 are wrong",
    ),
    injected(
        "norms do nothing",
        faults!("idle=layer_norm"),
        GOLDEN,
        "`last_hidden_state`",
    ),
    injected(
        "one element wrong everywhere",
        faults!("wrong="),
        GOLDEN,
        "checking the answer of the first kernel failed",
    ),
    injected(
        "one element of a norm wrong",
        faults!("wrong=layer_norm"),
        GOLDEN,
        "`last_hidden_state`",
    ),
    injected(
        "memory leaks until it is exhausted",
        &[
            ("HIP_SIM_DEVICES", "gfx1100,memory=64"),
            ("HIP_SIM_FAULTS", "leak"),
        ],
        "memory_released",
        "out of memory:",
    ),
    injected(
        "sums of f16 do not launch",
        faults!["launch=kernel_binop_c_f16"],
        "half_probe_f16",
        "wrong (sums fail",
    ),
    injected(
        "matrix products of f16 do not launch",
        faults!["launch=matmul_entry_lhs_f16"],
        "half_probe_f16",
        "matrix products fail",
    ),
    injected(
        "one element of a norm is NaN",
        faults!("nan=layer_norm"),
        "finite_f32",
        "elements are not finite",
    ),
    compiling(
        "half precision truncates",
        faults!("half=truncate"),
        "output_golden_f16",
        "this device does not compute `f16` correctly",
    ),
    injected(
        "kernels too slow",
        &[("HIP_SIM_FAULTS", "slow="), ("TESTGEN_OPEN_TIMEOUT", "3")],
        GOLDEN,
        "no answer within 3 s",
    ),
    injected(
        "panic on the device thread",
        faults!("event=3"),
        GOLDEN,
        "the device's thread panicked, so its results are invalid",
    ),
    injected(
        "copy to the host fails",
        faults!("copy=2"),
        GOLDEN,
        "the device's thread panicked, so its results are invalid",
    ),
    injected(
        "free memory is not reported",
        faults!("memory-info"),
        "memory_released",
        "Should get the available memory of the device",
    ),
    injected(
        "second device broken, first usable",
        &[
            ("HIP_SIM_DEVICES", "gfx1100,memory=1024;gfx1100"),
            ("HIP_SIM_FAULTS", "1/launch="),
        ],
        GOLDEN,
        "(rocm:1) cannot be opened",
    ),
    injected(
        "rocBLAS does not store beyond a kilobyte",
        &[
            ("HIP_SIM_FAULTS", "blas=limit"),
            ("TESTGEN_ENGINES", "native/vendor"),
        ],
        "output_golden_f32@native/vendor",
        "`last_hidden_state`",
    ),
    injected(
        "rocBLAS takes the first matrix of a batch for all",
        &[
            ("HIP_SIM_FAULTS", "blas=batch"),
            ("TESTGEN_ENGINES", "native/vendor"),
        ],
        "output_golden_f32@native/vendor",
        "`last_hidden_state`",
    ),
    injected(
        "rocBLAS computes nothing",
        &[
            ("HIP_SIM_FAULTS", "blas=silent"),
            ("TESTGEN_ENGINES", "native/vendor"),
        ],
        "output_golden_f32@native/vendor",
        "`last_hidden_state`",
    ),
    injected(
        "rocBLAS refuses",
        &[
            ("HIP_SIM_FAULTS", "blas=refuse"),
            ("TESTGEN_ENGINES", "native/vendor"),
        ],
        "output_golden_f32@native/vendor",
        "did not compute: rocblas_gemm",
    ),
    convolution(
        "MIOpen does not store beyond a kilobyte",
        &[
            ("HIP_SIM_FAULTS", "convolution=limit"),
            ("TESTGEN_ENGINES", "native/vendor"),
        ],
        "the main case first diverges at `embed`",
    ),
    convolution(
        "MIOpen computes nothing",
        &[
            ("HIP_SIM_FAULTS", "convolution=silent"),
            ("TESTGEN_ENGINES", "native/vendor"),
        ],
        "the main case first diverges at `embed`",
    ),
    convolution(
        "MIOpen refuses",
        &[
            ("HIP_SIM_FAULTS", "convolution=refuse"),
            ("TESTGEN_ENGINES", "native/vendor"),
        ],
        "did not compute: miopen",
    ),
    injected(
        "copies from another device lose what is beyond 64 bytes",
        &[
            ("HIP_SIM_DEVICES", "gfx1100;gfx1100"),
            ("HIP_SIM_FAULTS", "peer=64"),
            ("TESTGEN_ENGINES", "native/split"),
        ],
        "output_golden_f32@native/split",
        "`last_hidden_state`",
    ),
    injected(
        "a real GPU is required",
        &[("TESTGEN_REQUIRE", "rocm")],
        GOLDEN,
        "TESTGEN_REQUIRE=rocm refuses `AMD gfx1100 (hip-sim)`, a simulation",
    ),
];
