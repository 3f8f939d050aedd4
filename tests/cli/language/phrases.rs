//! The retired phrases, and how a line is searched for them.

use regex::{Captures, Match, Regex};

/// Searched without regard to case in the text with spaces for `_`, so that names of functions are
/// searched too.
const PHRASES: &[&str] = &[
    // Verbs and nouns of speech and of courts for what a program does.
    r"\b(told|tells?)\b",
    r"\bannounc(e|es|ed|ing|ements?)\b",
    r"\bnarrat(e|es|ed|ing|ion|ions|or)\b",
    r"\btestimon(y|ies)\b",
    r"\bjudg(e|es|ed|ing|ement|ements|ment|ments)\b",
    r"\bverdicts?\b",
    r"\bblam(e|es|ed|ing)\b",
    r"\btruthful(ly)?\b",
    r"\bthe truth about\b",
    // Vague verbs.
    r"\b(stands?|stood|standing)\b",
    r"\blies\b",
    r"\b(gives|gave)\b",
    r"\bgiv(e|es|ing) way\b",
    r"\bmakes of\b",
    r"\bmend(s|ed|ing)?\b",
    r"\b(lent|lends?|lending|lender)\b",
    r"\b(wants|wanted)\b",
    r"\bplay(s|ed|ing)? (an?|gfx\w*|by|the)\b",
    r"\bbehind\b",
    r"\b(the )?way (of the|in\b)",
    r"\ba new burn\b",
    r"\bturn one thing wrong\b",
    r"\bthe two together\b",
    // Sentences about people.
    r"\b(nobody|somebody|anybody|everybody|whoever|whomever)\b",
    r"\bstrangers?\b",
    r"\bcourtes(y|ies)\b",
    r"\bpolitely\b",
    // `aria-live="polite"` is HTML.
    r"\bpolite [a-z]",
    // Names that are spelled as words.
    r"\bexaminations?\b",
    r"\bperceptrons?\b",
    r"\btwo towers\b",
    r"\busual head\b",
    r"\bgrowing input\b",
    r"\brecomputed beyond\b",
    r"\bload around one\b",
];

/// Searched with regard to case, in the text as it is written.
const NAMES: &[&str] = &[
    r"^[ ]*(//[/!] |\x22\x22\x22)(What|Who|Which|Whose)\b",
    r"\bwords! ?[({]",
    r"\b(Absence|Chosen|Demand|Illegible|Journey|Judged|LENDER|LastStep|Mended|NormPlace|Perceptron|Placed)\b",
    r"\b(RecordingClassifier|Remark|Rung|Standing|Stepper|Sight|TargetHead|KeyValueAttention)\b",
];

/// A line, and whether it has a retired phrase.
pub(super) const EXAMPLES: &[(&str, bool)] = &[
    ("a fallback is told as such", true),
    ("fn every_difference_is_told() {", true),
    ("`x` is no checkpoint", true),
    ("these are no tensors", true),
    (
        "there is no second list, and there are no exceptions",
        false,
    ),
    ("it is no longer needed", false),
    ("/// What a device reports.", true),
    ("//! Which checks run.", true),
    ("/// Which", true),
    ("/// The checks, and what they need.", false),
    ("    \"\"\"What torch draws.\"\"\"", true),
    ("where a norm stands", true),
    ("a standalone binary amends the understanding", false),
    ("struct Standing;", true),
    ("an H100 that plays an AMD GPU", true),
    ("a display of the player", false),
    ("the norm is behind attention", true),
    ("what Llama makes of it", true),
    ("made of the same parts", false),
    ("<output aria-live=\"polite\">", false),
];

/// The compiled phrases.
pub(super) struct Phrases {
    phrases: Regex,
    names: Regex,
    is_no: Regex,
}

impl Phrases {
    pub(super) fn new() -> Self {
        Self {
            phrases: any_of("(?i-u)", PHRASES),
            names: any_of("(?m-u)", NAMES),
            // "there is no" and "is no longer" are plain English; a copula with a noun ("is no
            // checkpoint") is not.
            is_no: compile(r"(?i-u)(?:\b(\w+) )?\b(?:is|are) no ([a-z]+)"),
        }
    }

    /// `path:line: phrase` for every retired phrase in a text.
    pub(super) fn find(&self, path: &str, text: &str) -> Vec<String> {
        let spaced = text.replace('_', " ");
        let mut found: Vec<Match<'_>> = self.phrases.find_iter(&spaced).collect();
        found.extend(
            self.is_no
                .captures_iter(&spaced)
                .filter(is_retired_negation)
                .filter_map(|found| found.get(0)),
        );
        found.extend(self.names.find_iter(text));
        found.sort_by_key(Match::start);
        // A name that is also a phrase (`struct Standing`) counts once; both texts have the same
        // offsets.
        found.dedup_by_key(|found| found.start());
        let line = |found: &Match<'_>| text[..found.start()].matches('\n').count() + 1;
        found
            .iter()
            .map(|found| format!("{path}:{}: {}", line(found), found.as_str().trim()))
            .collect()
    }
}

fn is_retired_negation(found: &Captures<'_>) -> bool {
    let before = found.get(1).map_or("", |word| word.as_str());
    !before.eq_ignore_ascii_case("there") && !["longer", "more"].contains(&&found[2])
}

fn any_of(flags: &str, patterns: &[&str]) -> Regex {
    compile(&format!("{flags}(?:{})", patterns.join("|")))
}

fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a phrase is a regular expression")
}
