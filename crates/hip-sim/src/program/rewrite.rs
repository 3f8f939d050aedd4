//! Translation of HIP C++ to C++ of the host, where macros and templates of the headers are not
//! enough.

/// Operations in which several threads take part.
// A kernel with one of them needs a fiber for each thread.
const COLLECTIVE_OPERATIONS: &[&str] = &[
    "__syncthreads",
    "__shfl",
    "__all(",
    "__any(",
    "__ballot",
    "__activemask",
    "__syncwarp",
    "amdgcn",
];

/// Whether threads of a block wait for each other.
pub(super) fn needs_fibers(source: &str) -> bool {
    COLLECTIVE_OPERATIONS
        .iter()
        .any(|operation| source.contains(operation))
}

/// The source for the host's compiler, with entry points for `kernels`.
pub(super) fn host_source(source: &str, kernels: &[String]) -> String {
    let mut text = lockstep(&vector_types(&dynamic_shared_memory(source)));
    // Errors in the generated entry points would otherwise point past the end of the kernel's
    // source.
    text.push_str("\n#line 1 \"hip-sim\"\n");
    for kernel in kernels {
        text.push_str(&format!("HIP_SIM_EXPORT({kernel})\n"));
    }
    text
}

/// The names of the functions that are declared `__global__`.
pub(super) fn kernel_names(source: &str) -> Vec<String> {
    source
        .split("__global__")
        .skip(1)
        .map(|rest| kernel_name(rest).to_owned())
        .collect()
}

fn kernel_name(rest: &str) -> &str {
    let mut rest = rest.trim_start();
    loop {
        let end = rest
            .find(|character: char| !(character.is_alphanumeric() || character == '_'))
            .unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        match word {
            "void" | "static" | "inline" => rest = after.trim_start(),
            "__launch_bounds__" => {
                rest = after
                    .split_once(')')
                    .map_or("", |(_, after)| after)
                    .trim_start()
            }
            name => return name,
        }
    }
}

/// Replaces `extern __shared__ TYPE name[];` by a macro for the block's shared memory. Other
/// `__shared__` variables become static ones.
fn dynamic_shared_memory(source: &str) -> String {
    // Other `__shared__` variables are one for all blocks, which is enough, because one block runs
    // at a time.
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some((before, after)) = rest.split_once("extern __shared__") {
        text.push_str(before);
        let (declaration, following) = after.split_once(';').unwrap_or((after, ""));
        let words = without_attribute(declaration);
        let (kind, name) = words
            .trim()
            .rsplit_once(' ')
            .unwrap_or(("unsigned char", words.trim()));
        let name = name.trim_end_matches("[]");
        text.push_str(&format!(
            "\n#define {name} (({kind}*)hip_sim_frame.shared)\n"
        ));
        rest = following;
    }
    text.push_str(rest);
    text.replace("__shared__", "static")
}

/// The declaration after its `__align__(N)`, if it has one.
fn without_attribute(declaration: &str) -> &str {
    match declaration
        .split_once("__align__(")
        .and_then(|(_, after)| after.split_once(')'))
    {
        Some((_, after)) => after,
        None => declaration,
    }
}

/// Replaces `typedef T N __attribute__((ext_vector_type(K)));`, which only clang supports, by the
/// vector of the headers.
fn vector_types(source: &str) -> String {
    source
        .lines()
        .map(|line| vector_type(line).unwrap_or_else(|| format!("{line}\n")))
        .collect()
}

/// The declaration of a vector of the headers, if the line declares a vector type.
fn vector_type(line: &str) -> Option<String> {
    const ATTRIBUTE: &str = " __attribute__((ext_vector_type(";
    let (declaration, length) = line
        .trim_start()
        .strip_prefix("typedef ")?
        .split_once(ATTRIBUTE)?;
    let (length, _) = length.split_once(')')?;
    let (element, name) = declaration.rsplit_once(' ')?;
    Some(format!(
        "typedef hip_sim::vector<{element}, {length}> {name};\n"
    ))
}

/// WMMA kernels write a tile to shared memory and read it back without a barrier.
fn lockstep(source: &str) -> String {
    if !source.contains("amdgcn") {
        return source.to_owned();
    }
    // They rely on the lockstep of a wave, which fibers do not have.
    source.lines().map(with_barriers).collect()
}

/// The line between wave barriers if it writes to a tile.
fn with_barriers(line: &str) -> String {
    let start = line.trim_start();
    let is_tile = (start.starts_with("shared_memory_") || start.starts_with("_tmp_"))
        && line.contains("] = ");
    if is_tile || start.starts_with("wmma_store_") {
        format!("__syncwarp(); {line} __syncwarp();\n")
    } else {
        format!("{line}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::{dynamic_shared_memory, kernel_names, lockstep, needs_fibers, vector_types};

    #[test]
    fn kernels_are_found() {
        let text = "extern \"C\" __global__ void __launch_bounds__(256) reduce_f32(float* a) {}\n__global__ void b(int* x);";
        assert_eq!(kernel_names(text), ["reduce_f32", "b"]);
    }

    #[test]
    fn shared_memory_becomes_a_pointer_or_a_static() {
        let text = dynamic_shared_memory(
            "extern __shared__ __align__(16) uchar pool[];\n__shared__ float tile[4];",
        );
        assert_eq!(
            text,
            "\n#define pool ((uchar*)hip_sim_frame.shared)\n\nstatic float tile[4];"
        );
        let text = dynamic_shared_memory("extern __shared__ unsigned char pool[];");
        assert_eq!(
            text,
            "\n#define pool ((unsigned char*)hip_sim_frame.shared)\n"
        );
    }

    #[test]
    fn vector_types_lose_their_attribute() {
        let text =
            vector_types("typedef _Float16 half16 __attribute__((ext_vector_type(16)));\nint a;\n");
        assert_eq!(
            text,
            "typedef hip_sim::vector<_Float16, 16> half16;\nint a;\n"
        );
    }

    #[test]
    fn stores_of_matrix_kernels_get_barriers() {
        assert_eq!(
            lockstep("shared_memory_1[0] = x;"),
            "shared_memory_1[0] = x;"
        );
        let text = lockstep("__builtin_amdgcn_x();\nshared_memory_1[0] = x;\n");
        assert!(
            text.contains("__syncwarp(); shared_memory_1[0] = x; __syncwarp();"),
            "{text}"
        );
    }

    #[test]
    fn barriers_and_wave_operations_need_fibers() {
        assert!(needs_fibers("__syncthreads();") && needs_fibers("__shfl_xor(v, 1)"));
        assert!(!needs_fibers("a[threadIdx.x] = 1;"));
    }
}
