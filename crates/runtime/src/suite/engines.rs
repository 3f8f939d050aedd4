//! `TESTGEN_ENGINES`: the engines that compute.

use testgen_engine::EngineName;

/// The variable.
const ENGINES_VARIABLE: &str = "TESTGEN_ENGINES";

/// The engines in the environment; the native one without the variable.
pub(super) fn from_environment() -> Result<Vec<EngineName>, String> {
    match std::env::var(ENGINES_VARIABLE) {
        Ok(text) => parse(&text),
        Err(std::env::VarError::NotPresent) => Ok(vec![EngineName::native()]),
        // Ignoring it would run another engine than the one that was asked for.
        Err(error @ std::env::VarError::NotUnicode(_)) => {
            Err(format!("{ENGINES_VARIABLE}: {error}"))
        }
    }
}

fn parse(text: &str) -> Result<Vec<EngineName>, String> {
    let names = text
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty());
    let mut engines: Vec<EngineName> = Vec::new();
    for name in names {
        let engine: EngineName = name
            .parse()
            .map_err(|error| format!("{ENGINES_VARIABLE}: {error}"))?;
        if engines.contains(&engine) {
            return Err(format!("{ENGINES_VARIABLE}: `{engine}` is listed twice"));
        }
        engines.push(engine);
    }
    Ok(if engines.is_empty() {
        vec![EngineName::native()]
    } else {
        engines
    })
}

#[cfg(test)]
mod tests {
    use super::parse;
    use testgen_engine::EngineName;

    #[test]
    fn a_list_is_parsed() {
        let names = |text: &str| {
            parse(text).map(|names| names.iter().map(EngineName::to_string).collect::<Vec<_>>())
        };
        assert_eq!(names("").expect("is valid"), ["native"]);
        assert_eq!(
            names("native, torch/tf32/eager").expect("is valid"),
            ["native", "torch/eager/tf32"]
        );
        for text in ["Torch", "torch,torch", "torch/eager/sdpa,torch/sdpa/eager"] {
            assert!(
                names(text).is_err_and(|error| error.contains("TESTGEN_ENGINES")),
                "{text}"
            );
        }
    }
}
