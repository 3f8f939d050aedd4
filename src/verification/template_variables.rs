//! The variables of templates: the ones that a template uses, sets and receives, read from its
//! tags.
//!
//! Tera finds an undefined variable when it renders the branch that uses it, and an unused one
//! never.

mod tokens;

use super::{IssueKind, ProjectIssue};
use crate::template::Templates;
use std::collections::BTreeSet;
use tokens::{Token, end_of_expression, tokens};

/// Keywords of expressions.
// `loop` is none of them: Tera sets that variable in each `for`.
const LANGUAGE: &[&str] = &[
    "and", "else", "false", "if", "in", "is", "loop", "none", "None", "not", "null", "or", "true",
    "False", "True",
];

/// A variable at a position in a template.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Variable {
    name: String,
    line: usize,
}

/// The variables of one template's own text.
#[derive(Debug, Default)]
struct TemplateVariables {
    used: Vec<Variable>,
    set: Vec<Variable>,
}

/// Issues with the variables of the template `name` and all that it includes, when it receives
/// `given`.
pub(super) fn issues(
    templates: &Templates,
    name: &str,
    given: &BTreeSet<String>,
) -> Vec<ProjectIssue> {
    let files: Vec<(String, TemplateVariables)> = templates
        .reachable(name)
        .into_iter()
        .map(|name| (templates.shown(&name), read(templates.source(&name))))
        .collect();
    // Over all files, because an included template sees the variables of the including one.
    let all = files.iter().map(|(_, variables)| variables);
    let used = names_of(all.clone().flat_map(|variables| &variables.used));
    let mut defined = names_of(all.flat_map(|variables| &variables.set));
    defined.extend(given.iter().map(String::as_str));
    let mut issues = Vec::new();
    for (path, variables) in &files {
        let undefined = variables
            .used
            .iter()
            .filter(|variable| !defined.contains(variable.name.as_str()));
        issues.extend(undefined.map(|variable| variable.undefined(path, given)));
        let idle = variables
            .set
            .iter()
            .filter(|variable| !used.contains(variable.name.as_str()));
        issues.extend(idle.map(|variable| variable.never_used(path)));
    }
    let lost = given.iter().filter(|name| !used.contains(name.as_str()));
    issues.extend(lost.map(|given| lost_part(&templates.shown(name), given)));
    issues
}

fn names_of<'a>(variables: impl Iterator<Item = &'a Variable>) -> BTreeSet<&'a str> {
    variables.map(|variable| variable.name.as_str()).collect()
}

impl Variable {
    fn undefined(&self, path: &str, given: &BTreeSet<String>) -> ProjectIssue {
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        ProjectIssue {
            path: path.to_owned(),
            line: self.line,
            kind: IssueKind::UndefinedVariable,
            message: format!("`{}` is not defined", self.name),
            help: format!("the variables are: {}", given.join(", ")),
        }
    }

    fn never_used(&self, path: &str) -> ProjectIssue {
        ProjectIssue {
            path: path.to_owned(),
            line: self.line,
            kind: IssueKind::UnusedVariable,
            message: format!("`{}` is set and never used", self.name),
            help: "use it, or do not set it".to_owned(),
        }
    }
}

/// A variable that the template at `path` receives and never uses.
fn lost_part(path: &str, given: &str) -> ProjectIssue {
    ProjectIssue {
        path: path.to_owned(),
        line: 1,
        kind: IssueKind::UnusedVariable,
        message: format!("this template never uses `{given}`, so that part of the spec is lost"),
        help: "render it, as testgen's own templates do".to_owned(),
    }
}

/// Reads every tag of `text`.
fn read(text: &str) -> TemplateVariables {
    let mut variables = TemplateVariables::default();
    let mut rest = 0;
    while let Some((start, open)) = next_tag(text, rest) {
        let close = match open {
            "{{" => "}}",
            "{%" => "%}",
            _ => "#}",
        };
        let inside = start + open.len();
        let length = if open == "{#" {
            // A comment has no strings.
            text[inside..].find(close)
        } else {
            end_of_expression(&text[inside..], close)
        };
        let end = length.map_or(text.len(), |length| inside + length);
        let line = text[..start].matches('\n').count() + 1;
        // `-` next to a delimiter removes white space in Tera and is not part of the expression.
        let tokens = tokens(text[inside..end].trim_matches('-'), line);
        match open {
            "{{" => expression(&tokens, &mut variables),
            "{%" => statement(&tokens, &mut variables),
            _ => {}
        }
        // The text may end before the tag does; Tera reports that when it parses the template.
        rest = (end + close.len()).min(text.len());
        // Tera prints everything up to `endraw` as it is, braces included.
        if open == "{%" && tokens.first().is_some_and(|token| token.text == "raw") {
            rest = text[rest..]
                .find("endraw")
                .map_or(text.len(), |length| rest + length);
        }
    }
    variables
}

fn next_tag(text: &str, from: usize) -> Option<(usize, &'static str)> {
    let starts = ["{{", "{%", "{#"]
        .into_iter()
        .filter_map(|open| Some((from + text[from..].find(open)?, open)));
    starts.min()
}

fn statement(tokens: &[Token], variables: &mut TemplateVariables) {
    let Some((head, rest)) = tokens.split_first() else {
        return;
    };
    match head.text.as_str() {
        "set" | "set_global" => {
            // Without `=` the value is the text up to `endset`.
            let end = rest
                .iter()
                .position(|token| token.text == "=")
                .unwrap_or(rest.len());
            names(&rest[..end], &mut variables.set);
            expression(&rest[end..], variables);
        }
        "for" => {
            // `for key, value in map` sets both.
            let end = rest
                .iter()
                .position(|token| token.text == "in")
                .unwrap_or(rest.len());
            names(&rest[..end], &mut variables.set);
            expression(&rest[end..], variables);
        }
        "if" | "elif" => expression(rest, variables),
        // `include` takes a literal, and `else` and the ends of blocks take nothing.
        _ => {}
    }
}

fn names(tokens: &[Token], into: &mut Vec<Variable>) {
    let named = tokens.iter().filter(|token| token.is_name);
    into.extend(named.map(|token| Variable {
        name: token.text.clone(),
        line: token.line,
    }));
}

/// Every name that is a variable: not an attribute, filter, test, function, argument's name or
/// keyword.
fn expression(tokens: &[Token], variables: &mut TemplateVariables) {
    for (index, token) in tokens.iter().enumerate() {
        let near = |distance: isize| {
            let place = index.checked_add_signed(distance);
            place
                .and_then(|place| tokens.get(place))
                .map(|token| token.text.as_str())
                .unwrap_or_default()
        };
        let is_test = near(-1) == "is" || (near(-1) == "not" && near(-2) == "is");
        // `==` consists of two tokens here, and is a comparison.
        let is_argument = near(1) == "=" && near(2) != "=" && matches!(near(-1), "(" | ",");
        let is_part = matches!(near(-1), "." | "|") || matches!(near(1), "(" | ":");
        if token.is_name
            && !LANGUAGE.contains(&token.text.as_str())
            && !is_test
            && !is_argument
            && !is_part
        {
            variables.used.push(Variable {
                name: token.text.clone(),
                line: token.line,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used_and_set(text: &str) -> (Vec<String>, Vec<String>) {
        let variables = read(text);
        let list = |variables: Vec<Variable>| {
            variables
                .into_iter()
                .map(|variable| format!("{}:{}", variable.name, variable.line))
                .collect()
        };
        (list(variables.used), list(variables.set))
    }

    #[test]
    fn variables_are_distinguished_from_everything_else() {
        let text = "{# no #}{{ name | rust_string }}\n{% set a = \"x y\" %}{% if b.c is defined and not d == 'e' %}\n\
                    {%- for k, entry in list | sort(attribute=\"f\") -%}{{ entry.g }}{{ now(utc=h) }}{{ loop.index }}\
                    {% endfor %}{% endif %}{% include \"i.tera\" %}{% raw %}{{ j }}{% endraw %}{{ l }}";
        let (used, set) = used_and_set(text);
        assert_eq!(
            used,
            ["name:1", "b:2", "d:2", "list:3", "entry:3", "h:3", "l:3"]
        );
        assert_eq!(set, ["a:2", "k:3", "entry:3"]);
    }

    #[test]
    fn an_escaped_quote_does_not_end_a_string() {
        let text = r#"{{ "a\"b" ~ c }}{{ 'd\\' ~ e ~ 'f' }}"#;
        assert_eq!(used_and_set(text).0, ["c:1", "e:1"]);
    }

    #[test]
    fn a_tag_does_not_end_inside_of_a_string() {
        let text = r#"{{ "}}" ~ a }}{% set b = '%}' ~ c %}{# " #}{{ d }}{{ "{% raw %}" }}{{ e }}"#;
        let (used, set) = used_and_set(text);
        assert_eq!(used, ["a:1", "c:1", "d:1", "e:1"]);
        assert_eq!(set, ["b:1"]);
    }

    #[test]
    fn tags_that_never_end_end_with_the_text() {
        assert_eq!(used_and_set("{{ a"), (vec!["a:1".to_owned()], Vec::new()));
        assert_eq!(used_and_set("{% raw %}{{ a }}"), (Vec::new(), Vec::new()));
        assert_eq!(used_and_set("{#{{ a }}"), (Vec::new(), Vec::new()));
        assert_eq!(used_and_set("}} {"), (Vec::new(), Vec::new()));
    }
}
