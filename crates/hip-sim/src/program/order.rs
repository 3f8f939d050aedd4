//! A reproducible order of declarations: cubecl prints some of them in the order of a hash map,
//! which differs in every process. Without it, equal kernels would not share a cache entry.

/// The source with its vector structures sorted, at the position of the first of them.
pub(super) fn sorted_structures(source: &str) -> String {
    let mut structures = Vec::new();
    let mut before = String::new();
    let mut after = String::new();
    let mut rest = source;
    while let Some(start) = rest.find("struct __align__(") {
        let Some(end) = rest[start..].find("};").map(|end| start + end + 2) else {
            break;
        };
        let between = if structures.is_empty() {
            &mut before
        } else {
            &mut after
        };
        between.push_str(&rest[..start]);
        structures.push(&rest[start..end]);
        rest = rest[end..].trim_start_matches('\n');
    }
    structures.sort_unstable();
    let mut text = before;
    for structure in structures {
        text.push_str(structure);
        text.push('\n');
    }
    text + &after + rest
}

/// The source for the cache key, with its runs of plain declarations sorted.
pub(super) fn normalised(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    // The order of plain declarations has no meaning.
    for run in lines.chunk_by_mut(|first, second| is_declaration(first) && is_declaration(second)) {
        run.sort_unstable();
    }
    lines.join("\n")
}

fn is_declaration(line: &str) -> bool {
    line.starts_with("// Shared ")
        || (line.contains("*shared_memory_") && line.contains("&dynamic_shared_mem["))
        || (line.contains(" l_mut_") && line.ends_with(';') && !line.contains(['=', '(', '+']))
        || (line.contains(" l_arr_") && line.ends_with("];") && !line.contains(['=', '(']))
}

#[cfg(test)]
mod tests {
    use super::{normalised, sorted_structures};

    #[test]
    fn structures_are_sorted_and_the_rest_stays() {
        let text = "#include <a>\nstruct __align__(8) b {\nint x;};\nstruct __align__(4) a {\nint y;};\nvoid f();\n";
        let sorted = "#include <a>\nstruct __align__(4) a {\nint y;};\nstruct __align__(8) b {\nint x;};\nvoid f();\n";
        assert_eq!(sorted_structures(text), sorted);
        assert_eq!(sorted_structures(sorted), sorted);
        assert_eq!(sorted_structures("void f();"), "void f();");
    }

    #[test]
    fn declarations_are_sorted_only_among_themselves() {
        let text = "float l_mut_2;\nfloat l_mut_1;\nfloat l_mut_3 = 1;\nfloat l_mut_0;";
        assert_eq!(
            normalised(text),
            "float l_mut_1;\nfloat l_mut_2;\nfloat l_mut_3 = 1;\nfloat l_mut_0;"
        );
    }
}
