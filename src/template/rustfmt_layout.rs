//! Corrects the layout of prettyplease where rustfmt differs: signatures and calls that fit on a
//! line, and lists of one element.
//!
//! Suites are checked with `cargo fmt`, so rustfmt must not change generated files. The two tools
//! agree on everything else that templates contain.

use syn::Expr;

/// `max_width` in the `rustfmt.toml` of suites.
const WIDTH: usize = 90;

/// An item as prettyplease printed it, in rustfmt's layout.
pub(super) fn rustfmt_layout(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut out: Vec<String> = Vec::with_capacity(lines.len());
    let mut index = 0;
    while let Some(line) = lines.get(index) {
        let rest = &lines[index..];
        // A signature before a call: its first line ends with a parenthesis as well.
        let (replaced, count) = joined_signature(rest)
            .or_else(|| hugged_call(rest))
            .or_else(|| hugged_structure(rest))
            .or_else(|| joined_call(rest))
            .unwrap_or_else(|| (vec![(*line).to_owned()], 1));
        out.extend(replaced);
        index += count;
    }
    out.join("\n") + "\n"
}

/// Lines in place of the first ones of a text, and how many they replace.
type Replaced = Option<(Vec<String>, usize)>;

/// `fn name(` with one parameter per line, where all of it fits on one line.
fn joined_signature(lines: &[&str]) -> Replaced {
    let head = lines
        .first()
        .filter(|line| line.contains("fn ") && line.ends_with('('))?;
    let end = lines
        .iter()
        // The first closing parenthesis at the beginning of a line ends the parameters, whatever
        // their types contain.
        .position(|line| line.trim_start().starts_with(')'))?;
    // prettyplease breaks a column earlier than rustfmt.
    joined(head, &lines[1..end], lines[end])
}

/// An element of a list, `name(` with one argument per line, where all of it fits on one line.
fn joined_call(lines: &[&str]) -> Replaced {
    let head = lines.first().filter(|line| line.ends_with('('))?;
    let count = lines[1..]
        .iter()
        .take_while(|line| indent_of(line) == indent_of(head) + 4 && line.ends_with(','))
        .count();
    let closing = lines
        .get(count + 1)
        .filter(|line| line.trim_start() == ")," && indent_of(line) == indent_of(head))?;
    joined(head, &lines[1..=count], closing)
}

/// `head`, the parts of a list and `closing` on one line, if they fit.
fn joined(head: &str, parts: &[&str], closing: &str) -> Replaced {
    let trimmed: Vec<&str> = parts
        .iter()
        .map(|line| line.trim().trim_end_matches(','))
        .collect();
    let joined = format!("{head}{}{}", trimmed.join(", "), closing.trim_start());
    // By characters, as rustfmt counts.
    (joined.chars().count() <= WIDTH).then(|| (vec![joined], parts.len() + 2))
}

/// A list of one call, which rustfmt writes as `&[name(` with one argument per line.
fn hugged_call(lines: &[&str]) -> Replaced {
    let [opening, element, closing, ..] = lines else {
        return None;
    };
    let indent = list_indent(opening)?;
    let text = element
        .strip_suffix(',')
        .filter(|text| indent_of(text) == indent.len() + 4)?;
    let is_closed = indent_of(closing) == indent.len() && closing.trim_start().starts_with(']');
    let Expr::Call(call) = syn::parse_str(text).ok().filter(|_| is_closed)? else {
        return None;
    };
    // rustfmt breaks other calls in another way.
    let Expr::Path(_) = call.func.as_ref() else {
        return None;
    };
    let name = text.trim_start().split('(').next()?;
    let mut hugged = vec![format!("{opening}{name}(")];
    hugged.extend(
        call.args
            .iter()
            .map(|argument| format!("{indent}    {},", printed(argument))),
    );
    hugged.push(format!("{indent}){}", closing.trim_start()));
    Some((hugged, 3))
}

/// An argument on a separate line.
fn printed(argument: &Expr) -> String {
    // Templates only contain literals and paths, which are never broken.
    let file: syn::File = syn::parse_quote!(const _: () = #argument;);
    let text = prettyplease::unparse(&file);
    text.trim()
        .trim_start_matches("const _: () = ")
        .trim_end_matches(';')
        .to_owned()
}

/// A list of one struct or broken call, which rustfmt writes as `&[Name {` and `}]`.
fn hugged_structure(lines: &[&str]) -> Replaced {
    let [opening, first, ..] = lines else {
        return None;
    };
    let indent = list_indent(opening)?;
    let is_element = |line: &str| indent_of(line) == indent.len() + 4;
    let bracket = [(" {", "},"), ("(", "),")]
        .into_iter()
        .find(|(open, _)| first.ends_with(open) && is_element(first))?;
    let end = (2..lines.len()).find(|&index| is_element(lines[index]))?;
    let closing = lines
        .get(end + 1)
        .filter(|line| line.trim_start().starts_with(']'))?;
    if lines[end].trim_start() != bracket.1 {
        return None;
    }
    let mut hugged = vec![format!("{opening}{}", first.trim_start())];
    hugged.extend(
        lines[2..end]
            .iter()
            .map(|inner| inner.strip_prefix("    ").unwrap_or(inner).to_owned()),
    );
    hugged.push(format!(
        "{indent}{}{}",
        bracket.1.trim_end_matches(','),
        closing.trim_start()
    ));
    Some((hugged, end + 2))
}

/// The indent of a line that opens a list.
fn list_indent(line: &str) -> Option<&str> {
    line.ends_with("&[").then(|| &line[..indent_of(line)])
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_of_exactly_the_width_is_joined() {
        let broken = |name: &str| {
            format!("pub fn {name}(\n    loaded: LoadedModel,\n) -> Endpoint {{\n    x\n}}\n")
        };
        let name = "n".repeat(WIDTH - "pub fn (loaded: LoadedModel) -> Endpoint {".len());
        let joined = format!("pub fn {name}(loaded: LoadedModel) -> Endpoint {{\n    x\n}}\n");
        assert_eq!(rustfmt_layout(&broken(&name)), joined);
        let longer = broken(&format!("{name}n"));
        assert_eq!(rustfmt_layout(&longer), longer);
    }

    #[test]
    fn a_call_of_exactly_the_width_is_joined() {
        let broken = |text: &str| {
            format!(
                "    list: &[\n        C::new(\n            D::E,\n            \"{text}\",\n        ),\n        C::new(D::F, \"c\"),\n    ],\n"
            )
        };
        let text = "t".repeat(WIDTH - "        C::new(D::E, \"\"),".len());
        let joined = format!(
            "    list: &[\n        C::new(D::E, \"{text}\"),\n        C::new(D::F, \"c\"),\n    ],\n"
        );
        assert_eq!(rustfmt_layout(&broken(&text)), joined);
        let longer = broken(&format!("{text}t"));
        assert_eq!(rustfmt_layout(&longer), longer);
    }

    #[test]
    fn a_list_of_one_structure_is_hugged() {
        let one = "static A: B = B {\n    list: &[\n        C {\n            first: 1,\n            second: \"[\",\n        },\n    ],\n};\n";
        let hugged = "static A: B = B {\n    list: &[C {\n        first: 1,\n        second: \"[\",\n    }],\n};\n";
        assert_eq!(rustfmt_layout(one), hugged);
        let two = one.replace(
            "        },\n    ],",
            "        },\n        C { first: 2 },\n    ],",
        );
        assert_eq!(rustfmt_layout(&two), two);
    }

    #[test]
    fn a_list_of_one_call_is_hugged() {
        let one = "static A: B = B {\n    list: &[\n        C::new(D::E, \"a, (b\"),\n    ],\n};\n";
        let hugged = "static A: B = B {\n    list: &[C::new(\n        D::E,\n        \"a, (b\",\n    )],\n};\n";
        assert_eq!(rustfmt_layout(one), hugged);
        let broken = one.replace(
            "D::E, \"a, (b\"",
            "\n            D::E,\n            \"a, (b\",\n        ",
        );
        assert_eq!(rustfmt_layout(&broken), hugged);
        let two = one.replace("    ],", "        C::new(D::F, \"c\"),\n    ],");
        assert_eq!(rustfmt_layout(&two), two);
    }
}
