//! The reference of the command line, `docs/reference/cli.md`, written from the same definitions
//! that parse it.

use clap::{Arg, Command};
use std::{collections::BTreeMap, fmt::Write};

/// Arguments that several commands have with the same meaning: meanings by spelling.
type SharedArguments = BTreeMap<String, String>;

/// The whole reference as Markdown, one section for each command.
pub fn cli_markdown(mut root: Command) -> String {
    // clap sets the names and the usage of commands only then.
    root.build();
    let mut text = String::from(
        "<!-- Written from the definitions in src/cli/. Do not edit: `UPDATE_DOCS=1 cargo test -p testgen --test cli \
         reference` writes it again. -->\n\n# The command line\n\n",
    );
    push_about(&mut text, &root);
    let shared = shared_arguments(&root);
    text.push_str("\n## Arguments of several commands\n");
    push_table(&mut text, &shared);
    push_commands(&mut text, &root, "##", &shared);
    if let Some(after) = root.get_after_long_help().or(root.get_after_help()) {
        write_str(
            &mut text,
            format_args!("\n## Exit codes\n\n{}\n", after.to_string().trim_end()),
        );
    }
    text
}

/// A section for each command of `parent`, and below it one for each command that it has.
fn push_commands(text: &mut String, parent: &Command, heading: &str, shared: &SharedArguments) {
    for command in subcommands(parent) {
        let name = command.get_bin_name().unwrap_or(command.get_name());
        write_str(text, format_args!("\n{heading} {name}\n\n"));
        push_about(text, command);
        push_usage(text, command);
        push_arguments(text, command, shared);
        if let Some(examples) = command.get_after_long_help().or(command.get_after_help()) {
            write_str(
                text,
                format_args!("\n```text\n{}\n```\n", examples.to_string().trim_end()),
            );
        }
        push_commands(text, command, &format!("{heading}#"), shared);
    }
}

fn subcommands(parent: &Command) -> impl Iterator<Item = &Command> {
    parent
        .get_subcommands()
        .filter(|command| command.get_name() != "help" && !command.is_hide_set())
}

/// The arguments that more than one command has; of a spelling with several meanings the most
/// frequent one.
fn shared_arguments(root: &Command) -> SharedArguments {
    let mut counts = BTreeMap::new();
    count_arguments(root, &mut counts);
    let mut most: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for ((spelling, meaning), count) in counts {
        // One spelling can have two meanings; the rarer one stays with its command.
        // Of meanings that are equally frequent the first in the alphabet, so that the page never
        // varies.
        if count > 1 && most.get(&spelling).is_none_or(|(_, other)| count > *other) {
            most.insert(spelling, (meaning, count));
        }
    }
    most.into_iter()
        .map(|(spelling, (meaning, _))| (spelling, meaning))
        .collect()
}

/// Counts the commands below `parent` that have an argument with a meaning.
fn count_arguments(parent: &Command, counts: &mut BTreeMap<(String, String), usize>) {
    for command in subcommands(parent) {
        for argument in arguments(command) {
            *counts.entry(argument).or_default() += 1;
        }
        count_arguments(command, counts);
    }
}

fn push_about(text: &mut String, command: &Command) {
    if let Some(about) = command.get_long_about().or(command.get_about()) {
        let paragraphs: Vec<String> = about.to_string().split("\n\n").map(sentence).collect();
        write_str(text, format_args!("{}\n", paragraphs.join("\n\n")));
    }
}

fn push_usage(text: &mut String, command: &Command) {
    // A copy, because clap takes the command mutably to render its usage.
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").trim();
    write_str(text, format_args!("\n```text\n{usage}\n```\n"));
}

/// A table of the command's own arguments, and the names of the shared ones.
fn push_arguments(text: &mut String, command: &Command, shared: &SharedArguments) {
    let (common, own): (Vec<_>, Vec<_>) = arguments(command)
        .into_iter()
        // By spelling and meaning: an argument that only has the name in common is the command's
        // own.
        .partition(|(spelling, meaning)| shared.get(spelling) == Some(meaning));
    if !own.is_empty() {
        push_table(
            text,
            own.iter().map(|(spelling, meaning)| (spelling, meaning)),
        );
    }
    if !common.is_empty() {
        let names: Vec<String> = common
            .iter()
            .map(|(spelling, _)| format!("`{}`", without_value(spelling)))
            .collect();
        write_str(
            text,
            format_args!(
                "\nAs in [several commands](#arguments-of-several-commands): {}.\n",
                names.join(", ")
            ),
        );
    }
}

fn push_table<'row>(
    text: &mut String,
    arguments: impl IntoIterator<Item = (&'row String, &'row String)>,
) {
    text.push_str("\n| argument | meaning |\n|---|---|\n");
    for (spelling, meaning) in arguments {
        write_str(
            text,
            format_args!("| `{}` | {} |\n", cell(spelling), cell(meaning)),
        );
    }
}

/// The spelling and the meaning of each argument that is shown.
fn arguments(command: &Command) -> Vec<(String, String)> {
    let shown = command.get_arguments().filter(|argument| {
        // Every command has these two.
        !argument.is_hide_set() && !["help", "version"].contains(&argument.get_id().as_str())
    });
    shown
        .map(|argument| (spelling(argument), meaning(argument)))
        .collect()
}

/// `--name` of `--name <GLOB>`.
fn without_value(spelling: &str) -> &str {
    spelling
        .split_once(" <")
        .map_or(spelling, |(flags, _)| flags)
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
    // Every flag has the default `false` in clap, which says nothing.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn command(name: &'static str, help: &'static str) -> Command {
        let out = Arg::new("out").long("out").value_name("DIR").help(help);
        Command::new(name).arg(out)
    }

    #[test]
    fn an_argument_of_several_commands_is_explained_once() {
        let commands = [
            command("first", "Where"),
            command("second", "Where"),
            command("third", "Elsewhere"),
        ];
        let text = cli_markdown(Command::new("program").subcommands(commands));
        let shared = "As in [several commands](#arguments-of-several-commands): `--out`.";
        assert_eq!(
            text.matches("| `--out <DIR>` | Where. |").count(),
            1,
            "{text}"
        );
        assert_eq!(text.matches(shared).count(), 2, "{text}");
        assert!(text.contains("| `--out <DIR>` | Elsewhere. |"), "{text}");
    }
}
