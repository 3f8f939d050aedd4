//! The variables of templates: which a template uses, sets and is given, read from its tags.
//!
//! Tera finds an undefined variable when it renders the branch that uses it, and an unused one never.

use super::{Gap, GapKind};
use crate::template::Templates;
use std::collections::BTreeSet;

/// Words of the language in expressions.
const LANGUAGE: &[&str] =
    &["and", "else", "false", "if", "in", "is", "loop", "none", "None", "not", "null", "or", "true", "False", "True"];

/// A variable at a place of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    name: String,
    line: usize,
}

/// The variables of one template's own text.
#[derive(Debug, Default)]
struct Words {
    used: Vec<Word>,
    set: Vec<Word>,
}

/// What is wrong with the variables of the template `name` and all that it includes, when it is given `given`.
pub(super) fn gaps(templates: &Templates, name: &str, given: &BTreeSet<String>) -> Vec<Gap> {
    let files: Vec<(String, Words)> = templates
        .reachable(name)
        .into_iter()
        .map(|name| (templates.shown(&name), read(templates.source(&name))))
        .collect();
    let names = |list: fn(&Words) -> &Vec<Word>| -> BTreeSet<&str> {
        files.iter().flat_map(|(_, words)| list(words)).map(|word| word.name.as_str()).collect()
    };
    let (used, set) = (names(|words| &words.used), names(|words| &words.set));
    let mut gaps = Vec::new();
    let mut add = |path: &str, line, kind, message: String, help: &str| {
        gaps.push(Gap { path: path.to_owned(), line, kind, message, help: help.to_owned() });
    };
    for (path, words) in &files {
        for Word { name, line } in
            words.used.iter().filter(|word| !given.contains(&word.name) && !set.contains(word.name.as_str()))
        {
            let help = format!("the variables are: {}", given.iter().cloned().collect::<Vec<_>>().join(", "));
            add(path, *line, GapKind::UndefinedVariable, format!("nobody gives this template `{name}`"), &help);
        }
        for Word { name, line } in words.set.iter().filter(|word| !used.contains(word.name.as_str())) {
            let message = format!("`{name}` is set and never used");
            add(path, *line, GapKind::UnusedVariable, message, "use it, or do not set it");
        }
    }
    for name_given in given.iter().filter(|name| !used.contains(name.as_str())) {
        let message = format!("this template never uses `{name_given}`, so what the spec says there is lost");
        add(&templates.shown(name), 1, GapKind::UnusedVariable, message, "render it, as testgen's own templates do");
    }
    gaps
}

/// Reads every tag of `text`.
fn read(text: &str) -> Words {
    let mut words = Words::default();
    let mut rest = 0;
    while let Some((start, open)) = next_tag(text, rest) {
        let close = match open {
            "{{" => "}}",
            "{%" => "%}",
            _ => "#}",
        };
        let inside = start + open.len();
        let end = text[inside..].find(close).map_or(text.len(), |length| inside + length);
        let line = text[..start].matches('\n').count() + 1;
        let tokens = tokens(text[inside..end].trim_matches('-'), line);
        match open {
            "{{" => expression(&tokens, &mut words),
            "{%" => statement(&tokens, &mut words),
            _ => {}
        }
        rest = (end + close.len()).min(text.len());
        if open == "{%" && tokens.first().is_some_and(|token| token.text == "raw") {
            rest = text[rest..].find("endraw").map_or(text.len(), |length| rest + length);
        }
    }
    words
}

fn next_tag(text: &str, from: usize) -> Option<(usize, &'static str)> {
    let starts = ["{{", "{%", "{#"].into_iter().filter_map(|open| Some((from + text[from..].find(open)?, open)));
    starts.min()
}

/// A piece of an expression: a name, a sign, or a literal, whose text is empty.
#[derive(Debug)]
struct Token {
    text: String,
    line: usize,
    is_name: bool,
}

fn tokens(text: &str, first_line: usize) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let (mut line, mut quote) = (first_line, None);
    for character in text.chars() {
        line += usize::from(character == '\n');
        match quote {
            Some(open) => quote = (character != open).then_some(open),
            None if matches!(character, '"' | '\'' | '`') => {
                quote = Some(character);
                tokens.push(Token { text: String::new(), line, is_name: false });
            }
            None => push(&mut tokens, character, line),
        }
    }
    tokens.retain(|token| token.text != " ");
    tokens
}

fn push(tokens: &mut Vec<Token>, character: char, line: usize) {
    let is_word = character.is_alphanumeric() || character == '_';
    match tokens.last_mut() {
        Some(last) if is_word && last.text.ends_with(|end: char| end.is_alphanumeric() || end == '_') => {
            last.text.push(character);
        }
        _ => {
            let is_name = is_word && !character.is_numeric();
            let text = if character.is_whitespace() { ' ' } else { character };
            tokens.push(Token { text: text.to_string(), line, is_name });
        }
    }
}

fn statement(tokens: &[Token], words: &mut Words) {
    let Some((head, rest)) = tokens.split_first() else { return };
    match head.text.as_str() {
        "set" | "set_global" => {
            let end = rest.iter().position(|token| token.text == "=").unwrap_or(rest.len());
            names(&rest[..end], &mut words.set);
            expression(&rest[end..], words);
        }
        "for" => {
            let end = rest.iter().position(|token| token.text == "in").unwrap_or(rest.len());
            names(&rest[..end], &mut words.set);
            expression(&rest[end..], words);
        }
        "if" | "elif" => expression(rest, words),
        _ => {}
    }
}

fn names(tokens: &[Token], into: &mut Vec<Word>) {
    let named = tokens.iter().filter(|token| token.is_name);
    into.extend(named.map(|token| Word { name: token.text.clone(), line: token.line }));
}

/// Every name that is a variable: no attribute, filter, test, function, argument's name or word of the language.
fn expression(tokens: &[Token], words: &mut Words) {
    for (index, token) in tokens.iter().enumerate() {
        let near = |distance: isize| {
            let place = index.checked_add_signed(distance);
            place.and_then(|place| tokens.get(place)).map(|token| token.text.as_str()).unwrap_or_default()
        };
        let is_test = near(-1) == "is" || (near(-1) == "not" && near(-2) == "is");
        let is_argument = near(1) == "=" && near(2) != "=" && matches!(near(-1), "(" | ",");
        let is_part = matches!(near(-1), "." | "|") || matches!(near(1), "(" | ":");
        if token.is_name && !LANGUAGE.contains(&token.text.as_str()) && !is_test && !is_argument && !is_part {
            words.used.push(Word { name: token.text.clone(), line: token.line });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used_and_set(text: &str) -> (Vec<String>, Vec<String>) {
        let words = read(text);
        let list = |words: Vec<Word>| words.into_iter().map(|word| format!("{}:{}", word.name, word.line)).collect();
        (list(words.used), list(words.set))
    }

    #[test]
    fn variables_are_told_from_everything_else() {
        let text = "{# no #}{{ name | rust_string }}\n{% set a = \"x y\" %}{% if b.c is defined and not d == 'e' %}\n\
                    {%- for k, entry in list | sort(attribute=\"f\") -%}{{ entry.g }}{{ now(utc=h) }}{{ loop.index }}\
                    {% endfor %}{% endif %}{% include \"i.tera\" %}{% raw %}{{ j }}{% endraw %}{{ l }}";
        let (used, set) = used_and_set(text);
        assert_eq!(used, ["name:1", "b:2", "d:2", "list:3", "entry:3", "h:3", "l:3"]);
        assert_eq!(set, ["a:2", "k:3", "entry:3"]);
    }

    #[test]
    fn tags_that_never_end_end_with_the_text() {
        assert_eq!(used_and_set("{{ a"), (vec!["a:1".to_owned()], Vec::new()));
        assert_eq!(used_and_set("{% raw %}{{ a }}"), (Vec::new(), Vec::new()));
        assert_eq!(used_and_set("{#{{ a }}"), (Vec::new(), Vec::new()));
        assert_eq!(used_and_set("}} {"), (Vec::new(), Vec::new()));
    }
}
