"""Extracts the numbers, signatures and structure sizes of the vendors' headers that testgen depends on, for `amd.txt` and `nvidia.txt`.

    python3 extract.py HEADER... > declarations.txt

Prints lines `enum NAME NUMBER`, `function NAME PARAMETER...` and `struct NAME BYTES`, without the text of the headers.
"""

import re
import sys
from pathlib import Path

ENUMS = re.compile(
    r"rocblas_(operation_(none|transpose|conjugate_transpose)|datatype_(f16|f32|bf16)_r|gemm_algo_\w+|default_math"
    r"|xf32_xdl_math_op|status_\w+|atomics_\w+allowed)$"
    r"|HIPBLAS_(OP_[NT]|STATUS_\w+|COMPUTE_32[FI]|COMPUTE_32F_FAST_TF32)$"
    r"|HIP_R_(32F|16F|16BF|8F_\w+|8I|32I)$"
    r"|CUBLAS_(OP_[NT]|STATUS_\w+|COMPUTE_32[FI]|COMPUTE_32F_FAST_TF32|MATH_DISALLOW_\w+)$"
    r"|(HIP|CU)BLASLT_(MATMUL_DESC_TRANS[AB]|MATRIX_LAYOUT_(BATCH_COUNT|STRIDED_BATCH_OFFSET)|MATMUL_PREF_MAX_WORKSPACE_BYTES)$"
    r"|(HIP|CU)BLASLT_(MATMUL_DESC_(EPILOGUE|BIAS_POINTER|BIAS_DATA_TYPE|[AB]_SCALE_POINTER)|EPILOGUE_(DEFAULT|((RE|GE)LU_)?BIAS|[RG]ELU))$"
    r"|CUBLASLT_(MATMUL_PREF_REDUCTION_SCHEME_MASK|REDUCTION_SCHEME_\w+)$"
    r"|CUBLASLT_ALGO_CONFIG_\w+$|CUDA_R_(32F|16F|16BF|8F_E4M3|8F_E5M2|8I|32I)$"
    r"|miopen(Status\w+|Half|Float|BFloat16|Convolution|Transpose|ConvolutionAlgo\w+)$"
    r"|miopen(Activation(LOGISTIC|TANH|(CLIPPED)?RELU)|Pooling(Max|Average|AverageInclusive)|BN(Spatial|PerActivation))$"
    r"|MIOPEN_(ELEMENTWISE_AFFINE|WEIGHT_BIAS)(_T5)?$"
    r"|CUDNN_(ACTIVATION_(SIGMOID|TANH|(CLIPPED_)?RELU|SWISH)|POOLING_(MAX|AVERAGE)\w*|BATCHNORM_(SPATIAL|PER_ACTIVATION))$"
    r"|(MIOPEN|CUDNN)_(SOFTMAX_\w+|REDUCE_TENSOR_(ADD|MUL|MIN|A?MAX|AVG|NORM[12]|NO_INDICES)|PROPAGATE_NAN|32BIT_INDICES)$"
    r"|CUDNN_(DATA_(FLOAT|HALF|BFLOAT16)|TENSOR_OP_MATH|FMA_MATH|CROSS_CORRELATION|TENSOR_N(CHW|HWC)|DETERMINISTIC)$"
    r"|CUDNN_(CONVOLUTION_(FWD|BWD_DATA)_ALGO_\w+|STATUS_NOT_SUPPORTED\w*|STATUS_ARCH_MISMATCH)$"
)
FUNCTIONS = re.compile(
    r"(rocblas_(create_handle|destroy_handle|get_version_string|set_math_mode|set_atomics_mode"
    r"|gemm_(strided_batched_)?ex(_get_solutions)?|sgemv|(s|hsh|tst)gemv_strided_batched)"
    r"|cublas(Sgemv_v2|(S|HSH|TST)gemvStridedBatched|Create_v2|Destroy_v2|GetVersion_v2|SetMathMode|GemmEx|GemmStridedBatchedEx|LtMatmulAlgoConfigGetAttribute)"
    r"|(hipblas|cublas)Lt(Create|Destroy|GetVersion|Matmul|MatmulAlgoGetHeuristic"
    r"|(MatmulDesc|MatrixLayout|MatmulPreference)(Create|Destroy|SetAttribute))"
    r"|miopen(CreateWithStream|Destroy|GetVersion|(Create|Set|Destroy)TensorDescriptor|(Create|Destroy)ConvolutionDescriptor"
    r"|InitConvolutionNdDescriptor|SetConvolutionGroupCount|SetTransposeConvNdOutputPadding"
    r"|ConvolutionForward(GetSolutionCount|GetSolution|CompileSolution|Immediate)|SoftmaxForward_V2|(T5)?LayerNormForward|GroupNormForward)"
    r"|(miopen|cudnn)((Create|Destroy)(Activation|Pooling|ReduceTensor)Descriptor|Set(Activation|ReduceTensor)Descriptor"
    r"|ActivationForward|PoolingForward|GetReductionWorkspaceSize|ReduceTensor|BatchNormalizationForwardInference)|miopenSetNdPoolingDescriptor"
    r"|cudnn(Create|Destroy|GetVersion|GetErrorString|(Create|Destroy)(Tensor|Filter|Convolution)Descriptor"
    r"|Set(Tensor|Filter|Convolution)NdDescriptor|SetConvolutionGroupCount|SetConvolutionMathType"
    r"|GetConvolution(Forward|BackwardData)Algorithm_v7|Convolution(Forward|BackwardData)"
    r"|SoftmaxForward|SetActivationDescriptorSwishBeta|SetPoolingNdDescriptor))$"
)
STRUCTS = re.compile(
    r"(hipblas|cublas)LtMatmul(Algo|HeuristicResult)_t$|miopenConvSolution_t$|cudnnConvolution(Fwd|BwdData)AlgoPerf_t$"
)
BYTES = {"uint8_t": 1, "size_t": 8, "hipblasStatus_t": 4, "float": 4, "int": 4, "hipblasLtMatmulAlgo_t": 24}
BYTES |= {"uint64_t": 8, "cublasStatus_t": 4, "cublasLtMatmulAlgo_t": 64}
NUMBERS = {"int": "i32", "rocblas_int": "i32", "int32_t": "i32", "uint32_t": "u32", "int64_t": "i64", "uint64_t": "u64"}
NUMBERS |= {"rocblas_stride": "i64", "long": "i64", "size_t": "usize"}
NUMBERS |= {"float": "f32", "double": "f64", "bool": "bool"}
POINTERS = re.compile(
    r"(rocblas_handle|hipStream_t|cudaStream_t|cublasHandle_t"
    r"|(hipblas|cublas)Lt(Handle|MatmulDesc|MatrixLayout|MatmulPreference)_t|miopenAcceleratorQueue_t"
    r"|(miopen|cudnn)(Handle|(Tensor|Filter|Convolution|Activation|Pooling|ReduceTensor)Descriptor)_t)$"
)


def parameter(text):
    """The class of a parameter: `pointer`, or a number with its width; enums are i32."""
    words = [word for word in text.replace("*", " * ").split() if word != "const"]
    if words == ["void"]:
        return ""
    if "*" in words or "[" in text or POINTERS.match(words[0]):
        return "pointer"
    return NUMBERS.get(words[0], "i32")


def struct_bytes(body):
    """The size of a structure with its padding; of both branches of `__cplusplus`, the first. Fields of other types are enums."""
    body = re.sub(r"#else.*?#endif", "", body, flags=re.S)
    total, alignment = 0, 1
    for kind, count in re.findall(r"^\s*(\w+)\s+\w+\s*(?:\[(\d+)\])?\s*(?:=[^;]*)?;", body, flags=re.M):
        size = BYTES.get(kind, 4)
        own = min(size, 8)
        alignment = max(alignment, own)
        total += -total % own + size * int(count or 1)
    return total + -total % alignment


def lines(text):
    """The declarations of a header."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"\b(CUBLASWINAPI|CUDNNWINAPI|CUDNN_DEPRECATED(_ENUM)?)\b", " ", text)
    for name, number in re.findall(r"\b(\w+)\s*=\s*(0x[0-9a-fA-F]+|\d+)\s*[,}\n]", text):
        if ENUMS.match(name):
            yield f"enum {name} {int(number, 0)}"
    for name, parameters in re.findall(r"(?<!return )\b(\w+)\s*\(([^();{}]*)\)\s*;", text):
        if FUNCTIONS.match(name):
            yield " ".join(["function", name, *map(parameter, parameters.split(","))]).rstrip()
    for body, name in re.findall(r"typedef struct\s*\w*\s*\{([^{}]*(?:\{0\}[^{}]*)?)\}\s*(\w+)\s*;", text, flags=re.S):
        if STRUCTS.match(name):
            yield f"struct {name} {struct_bytes(body)}"


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        found = dict.fromkeys(lines(path.read_text()))
        print(f"# {path.name}", *found, sep="\n")
