//! Finds the template line from which a rendered line comes.
//!
//! Tera keeps no map from output to input, so this compares the fixed text of every template line
//! with the rendered line.

use std::collections::{BTreeMap, BTreeSet};

/// The line, in `template` or in a template that it extends or includes, whose fixed text covers
/// most of `line`. Among equal ones, a template that contains the text `near` is preferred, for
/// instance the head of the surrounding function.
pub(super) fn find(
    sources: &BTreeMap<String, String>,
    template: &str,
    line: &str,
    near: &str,
) -> Option<(String, usize)> {
    let mut best: Option<((usize, bool), String, usize)> = None;
    for name in reachable(sources, template) {
        let text = sources.get(&name).map(String::as_str).unwrap_or_default();
        let is_near = text.contains(near);
        for (index, candidate) in text.lines().enumerate() {
            let Some(score) = score(candidate, line).map(|score| (score, is_near)) else {
                continue;
            };
            // Templates come nearest first, so the first of several equal lines is kept.
            if best.as_ref().is_none_or(|(most, ..)| score > *most) {
                best = Some((score, name.clone(), index + 1));
            }
        }
    }
    best.map(|(_, name, line)| (name, line))
}

/// A template and everything that it extends or includes, nearest first.
pub(super) fn reachable(sources: &BTreeMap<String, String>, template: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut found = vec![template.to_owned()];
    let mut next = 0;
    while let Some(name) = found.get(next).cloned() {
        next += 1;
        // Templates of a user can include each other in a circle.
        let Some(text) = sources.get(&name).filter(|_| seen.insert(name)) else {
            continue;
        };
        let named = ["extends \"", "include \""].into_iter().flat_map(|tag| {
            text.match_indices(tag)
                .filter_map(|(at, tag)| text[at + tag.len()..].split('"').next())
        });
        found.extend(
            named
                .filter(|name| !seen.contains(*name))
                .map(str::to_owned),
        );
    }
    found
}

/// The number of characters of fixed text that a template line shares with a rendered one, or
/// `None` if it cannot be its origin.
fn score(candidate: &str, line: &str) -> Option<usize> {
    let mut rest = line.trim();
    let mut total = 0;
    for piece in fixed_pieces(candidate.trim()) {
        let at = rest.find(piece)?;
        rest = &rest[at + piece.len()..];
        total += piece.len();
    }
    (total > 0).then_some(total)
}

/// The text between `{{ }}`, `{% %}` and `{# #}`.
fn fixed_pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = line;
    // The tag that opens first; in it the other signs are text.
    while let Some((start, close)) = [("{{", "}}"), ("{%", "%}"), ("{#", "#}")]
        .iter()
        .filter_map(|(open, close)| Some((rest.find(open)?, close)))
        .min()
    {
        pieces.push(&rest[..start]);
        let end = rest[start..]
            .find(close)
            // A tag may end on a later line.
            .map_or(rest.len(), |end| start + end + close.len());
        rest = &rest[end..];
    }
    pieces.push(rest);
    // Spaces alone occur in every line.
    pieces.retain(|piece| !piece.trim().is_empty());
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rendered_line_leads_to_the_included_template() {
        let sources = BTreeMap::from([
            (
                "a.rs.tera".to_owned(),
                "//! a\n{% include \"b.rs.tera\" %}\n".to_owned(),
            ),
            ("b.rs.tera".to_owned(), "\nfn {{ name }}( {\n".to_owned()),
            ("c.rs.tera".to_owned(), "fn bert( {\n".to_owned()),
        ]);
        assert_eq!(
            find(&sources, "a.rs.tera", "fn bert( {", ""),
            Some(("b.rs.tera".to_owned(), 2))
        );
        assert_eq!(find(&sources, "a.rs.tera", "xyz", ""), None);
    }
}
