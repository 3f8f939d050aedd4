//! The `testgen generate` command that messages and headers of generated files name.

use testgen_base::text::shell_quote;

/// `testgen generate` with these flags, quoted for a shell.
pub(crate) fn generate_command(
    specs: &str,
    out: &str,
    templates: Option<&str>,
    runtime: Option<&str>,
) -> String {
    let mut command = format!(
        "testgen generate --specs {} --out {}",
        shell_quote(specs),
        shell_quote(out)
    );
    for (flag, value) in [("--templates", templates), ("--runtime", runtime)] {
        if let Some(value) = value {
            command.push_str(&format!(" {flag} {}", shell_quote(value)));
        }
    }
    command
}
