//! The reference of the command line, `docs/reference/cli.md`, written from the same definitions
//! that parse it.

use clap::{Arg, Command};
use std::fmt::Write;

/// The whole reference as Markdown, one section for each command.
pub fn cli_markdown(mut root: Command) -> String {
    root.build();
    let mut text = String::from(
        "<!-- Written from the definitions in src/cli/. Do not edit: `UPDATE_DOCS=1 cargo test -p testgen --test cli \
         reference` writes it again. -->\n\n# The command line\n\n",
    );
    push_about(&mut text, &root);
    push_commands(&mut text, &root, "##");
    if let Some(after) = root.get_after_long_help().or(root.get_after_help()) {
        write_str(
            &mut text,
            format_args!("\n## Exit codes\n\n{}\n", after.to_string().trim_end()),
        );
    }
    text
}

/// A section for each command of `parent`, and below it one for each command that it has.
fn push_commands(text: &mut String, parent: &Command, heading: &str) {
    for command in parent
        .get_subcommands()
        .filter(|command| command.get_name() != "help" && !command.is_hide_set())
    {
        let name = command.get_bin_name().unwrap_or(command.get_name());
        write_str(text, format_args!("\n{heading} {name}\n\n"));
        push_about(text, command);
        push_usage(text, command);
        push_arguments(text, command);
        if let Some(examples) = command.get_after_long_help().or(command.get_after_help()) {
            write_str(
                text,
                format_args!("\n```text\n{}\n```\n", examples.to_string().trim_end()),
            );
        }
        push_commands(text, command, &format!("{heading}#"));
    }
}

fn push_about(text: &mut String, command: &Command) {
    if let Some(about) = command.get_long_about().or(command.get_about()) {
        let paragraphs: Vec<String> = about.to_string().split("\n\n").map(sentence).collect();
        write_str(text, format_args!("{}\n", paragraphs.join("\n\n")));
    }
}

fn push_usage(text: &mut String, command: &Command) {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").trim();
    write_str(text, format_args!("\n```text\n{usage}\n```\n"));
}

fn push_arguments(text: &mut String, command: &Command) {
    let shown: Vec<&Arg> = command
        .get_arguments()
        .filter(|argument| {
            !argument.is_hide_set() && !["help", "version"].contains(&argument.get_id().as_str())
        })
        .collect();
    if shown.is_empty() {
        return;
    }
    text.push_str("\n| argument | meaning |\n|---|---|\n");
    for argument in shown {
        write_str(
            text,
            format_args!(
                "| `{}` | {} |\n",
                cell(&spelling(argument)),
                cell(&meaning(argument))
            ),
        );
    }
}

/// `--name <GLOB>`, `-q, --quiet`, `[PATH]...`.
fn spelling(argument: &Arg) -> String {
    let value = match argument.get_action().takes_values() {
        true => argument
            .get_value_names()
            .unwrap_or_default()
            .iter()
            .map(|name| format!("<{name}>"))
            .collect(),
        false => Vec::new(),
    };
    let flags = argument
        .get_short()
        .map(|short| format!("-{short}"))
        .into_iter();
    let flags = flags
        .chain(argument.get_long().map(|long| format!("--{long}")))
        .collect::<Vec<_>>()
        .join(", ");
    [flags]
        .into_iter()
        .filter(|flags| !flags.is_empty())
        .chain(value)
        .collect::<Vec<_>>()
        .join(" ")
}

fn meaning(argument: &Arg) -> String {
    let help = argument
        .get_long_help()
        .or(argument.get_help())
        .map(ToString::to_string)
        .unwrap_or_default();
    let mut text = help
        .split("\n\n")
        .map(sentence)
        .collect::<Vec<_>>()
        .join(" ");
    let values: Vec<String> = argument
        .get_possible_values()
        .iter()
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if argument.get_action().takes_values() && !values.is_empty() {
        write_str(&mut text, format_args!(" One of {}.", values.join(", ")));
    }
    let defaults: Vec<_> = argument
        .get_default_values()
        .iter()
        .map(|value| value.to_string_lossy())
        .collect();
    if argument.get_action().takes_values() && !defaults.is_empty() {
        write_str(
            &mut text,
            format_args!(" Default: `{}`.", defaults.join(", ")),
        );
    }
    text
}

fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() || text.ends_with(['.', '?', ':']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}

/// One line, with the column separator escaped.
fn cell(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('|', "\\|")
}

fn write_str(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    text.write_fmt(arguments)
        .expect("a String can always be written");
}
