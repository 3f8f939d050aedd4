//! Harnesses of different architectures that are the same but for their labels: one was copied and tests the other.

use super::{Gap, GapKind};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeMap;

/// A gap for every text that says the same as an earlier one and names another architecture.
pub(super) fn gaps<'t>(texts: impl Iterator<Item = (&'t str, &'t str)>) -> Vec<Gap> {
    let mut first: BTreeMap<String, (&str, String)> = BTreeMap::new();
    let mut gaps = Vec::new();
    for (path, text) in texts {
        let Some(Body { architecture, rest }) = Body::of(text) else { continue };
        let (known, other) = first.entry(rest).or_insert_with(|| (path, architecture.clone()));
        if *other != architecture {
            let message = format!("this is `{known}` once more, under the name of another architecture");
            let help = "give each architecture its own checkpoint, task and checks".to_owned();
            gaps.push(Gap { path: path.to_owned(), line: 1, kind: GapKind::SameBody, message, help });
        }
    }
    gaps
}

/// What a harness says, without comments, layout and labels.
struct Body {
    architecture: String,
    rest: String,
}

impl Body {
    /// None for what is no Rust or names no architecture: other rules say so.
    fn of(text: &str) -> Option<Self> {
        let tokens: TokenStream = text.strip_prefix('\u{feff}').unwrap_or(text).parse().ok()?;
        let mut body = Self { architecture: String::new(), rest: String::new() };
        body.read(tokens);
        (!body.architecture.is_empty()).then_some(body)
    }

    fn read(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut index = 0;
        while let Some(token) = tokens.get(index) {
            let label = match token {
                TokenTree::Punct(sign) if sign.as_char() == '#' => attribute(&tokens[index..]),
                TokenTree::Ident(word) => self.label(&word.to_string(), &tokens[index..]),
                _ => 0,
            };
            if label == 0 {
                self.keep(token);
            }
            index += label.max(1);
        }
    }

    fn keep(&mut self, token: &TokenTree) {
        if let TokenTree::Group(group) = token {
            self.rest.push_str("( ");
            self.read(group.stream());
            self.rest.push_str(") ");
        } else {
            self.rest.push_str(&token.to_string());
            self.rest.push(' ');
        }
    }

    /// `Architecture::Name`, `ModelType::Name` and `name: ".."` are labels; gives how many tokens they have.
    fn label(&mut self, word: &str, tokens: &[TokenTree]) -> usize {
        match (word, tokens) {
            ("name", [_, TokenTree::Punct(_), TokenTree::Literal(_), ..]) => 3,
            ("ModelType", [_, TokenTree::Punct(_), TokenTree::Punct(_), TokenTree::Ident(_), ..]) => 4,
            ("Architecture", [_, TokenTree::Punct(_), TokenTree::Punct(_), TokenTree::Ident(name), ..]) => {
                self.architecture = name.to_string();
                4
            }
            _ => 0,
        }
    }
}

/// How many tokens an attribute has; comments are attributes, too.
fn attribute(tokens: &[TokenTree]) -> usize {
    match tokens {
        [_, TokenTree::Group(_), ..] => 2,
        [_, TokenTree::Punct(_), TokenTree::Group(_), ..] => 3,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "//! a\nstatic SPEC: Spec = Spec { name: \"a\", model_type: ModelType::Bert, architecture: \
                       Architecture::EncoderOnly, path: \"p\" };\n/// Doc.\nfn f() { g(1) }";

    fn found(other: &str) -> usize {
        gaps([("one.rs", ONE), ("two.rs", other)].into_iter()).len()
    }

    #[test]
    fn a_copy_under_another_architecture_is_found() {
        let copy = ONE.replace("\"a\"", "\"b\"").replace("Bert", "Gpt2").replace("EncoderOnly", "DecoderOnly");
        assert_eq!(found(&copy), 1);
        assert_eq!(found(&copy.replace("/// Doc.\n", "// other\n").replace("g(1)", "g( 1 )")), 1);
    }

    #[test]
    fn the_same_architecture_or_another_body_is_none() {
        assert_eq!(found(&ONE.replace("\"a\"", "\"b\"")), 0);
        let other = ONE.replace("EncoderOnly", "DecoderOnly");
        assert_eq!(found(&other.replace("\"p\"", "\"q\"")), 0);
        assert_eq!(found(&other.replace("g(1)", "g[1 + 1]")), 0);
        assert_eq!(found("fn f("), 0);
        assert_eq!(gaps([("a", "fn f() {}"), ("b", "fn f() {}")].into_iter()), []);
    }
}
