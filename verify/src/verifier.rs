//! Computes the findings of a text: parses it on a large stack, interprets it once, and applies
//! every rule.

use crate::{
    expectation::Expectation,
    finding::{Diagnostic, Finding},
    harness::ParsedHarness,
    registry,
    rule_id::RuleId,
};
use proc_macro2::{LexError, TokenStream, TokenTree};
use std::{collections::VecDeque, fmt::Write as _, sync::Mutex, thread};

/// A harness to verify.
#[derive(Debug, Clone, Copy)]
pub struct HarnessSource<'a> {
    /// The path that findings name.
    pub path: &'a str,
    /// The Rust text.
    pub text: &'a str,
}

/// The parser and the rules recurse into the tree, so that depth costs stack; [`MAX_DEPTH`] and
/// [`MAX_TOKENS`] limit the need of any file to this size.
// Untouched pages cost nothing, so that the size is generous.
const STACK: usize = 256 << 20;

/// The depth to which brackets may be nested in a file of many tokens.
// A harness has about eight.
const MAX_DEPTH: usize = 100;

/// The number of tokens in a file.
// A harness of three devices and three precisions has about 4,000.
const MAX_TOKENS: usize = 20_000;

/// Every finding of one harness, sorted. Without an expectation, the harness's own `SPEC` takes its
/// place.
pub fn verify_harness(
    source: &HarnessSource<'_>,
    expectation: Option<&Expectation>,
) -> Vec<Finding> {
    on_own_stack(|| findings(source, expectation))
}

/// [`verify_harness`] for many, on all cores; the results are in the order of the arguments.
pub fn verify_all(harnesses: &[(HarnessSource<'_>, Option<&Expectation>)]) -> Vec<Vec<Finding>> {
    let workers = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(harnesses.len().max(1));
    let queue = Mutex::new((0..harnesses.len()).collect::<VecDeque<_>>());
    let work = || {
        let mut answers = Vec::new();
        // `and_then` releases the lock before the harness is verified.
        while let Some(position) = queue.lock().ok().and_then(|mut queue| queue.pop_front()) {
            let (source, expectation) = &harnesses[position];
            answers.push((position, findings(source, *expectation)));
            // Nothing refers to the tree any more; without this, the thread would keep every text
            // that it has ever parsed.
            proc_macro2::extra::invalidate_current_thread_spans();
        }
        answers
    };
    let mut answers = thread::scope(|scope| {
        let running: Vec<_> = (0..workers)
            .filter_map(|_| {
                thread::Builder::new()
                    .stack_size(STACK)
                    .spawn_scoped(scope, work)
                    .ok()
            })
            .collect();
        running
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_default())
            .collect::<Vec<_>>()
    });
    // Workers finish in any order.
    answers.sort_by_key(|(position, _)| *position);
    // A thread that could not be started, or panicked, must not look like a harness without
    // findings.
    assert_eq!(answers.len(), harnesses.len(), "every harness was verified");
    answers.into_iter().map(|(_, findings)| findings).collect()
}

/// The normal form of a function of the file: every path through it, one step per line, as the
/// rules see it. For investigating a finding, or `None` if the file does not parse or has no such
/// init function or handler.
pub fn normal_form(text: &str, function: &str) -> Option<String> {
    on_own_stack(|| {
        let file = syn::parse_file(text).ok()?;
        let harness = ParsedHarness::new(&file, None);
        let (_, interpretation) = harness
            .interpretations()
            .find(|(item, _)| item.sig.ident == function)?;
        let mut form = String::new();
        for (number, code_path) in interpretation.code_paths.iter().enumerate() {
            let _ = write!(form, "path {}:\n{code_path}", number + 1);
        }
        Some(form)
    })
}

fn findings(source: &HarnessSource<'_>, expectation: Option<&Expectation>) -> Vec<Finding> {
    let file = match parse(source.text) {
        Ok(file) => file,
        Err(diagnostic) => return vec![diagnostic.into_finding(RuleId::Parses, source.path)],
    };
    let harness = ParsedHarness::new(&file, expectation);
    let diagnostics = registry::rules().iter().flat_map(|rule| {
        (rule.check)(&harness)
            .into_iter()
            .map(|diagnostic| diagnostic.into_finding(rule.id, source.path))
    });
    let mut findings: Vec<Finding> = diagnostics.collect();
    // Several paths through a function may lead to the same finding.
    findings.sort();
    findings.dedup();
    findings
}

// The lexer's error does not name its cause, so the message lists the possible ones.
const UNCLOSED: &str =
    "this is not Rust: a bracket or a quote has no partner, or a character is out of place";

/// Parses `text`, unless it is constructed to exhaust the stack.
fn parse(text: &str) -> Result<syn::File, Diagnostic> {
    let help = "fix the syntax, or generate the file again";
    let tokens: TokenStream = text
        .strip_prefix('\u{feff}')
        .unwrap_or(text)
        .parse()
        .map_err(|error: LexError| Diagnostic::span(error.span(), UNCLOSED, help))?;
    // Counting the tokens takes a third of the time of parsing, so an upper bound is tested first.
    if pieces(text) > MAX_TOKENS {
        check_size(tokens.clone())?;
    }
    syn::parse2(tokens)
        .map_err(|error| Diagnostic::span(error.span(), format!("this is not Rust: {error}"), help))
}

/// An upper bound of the tokens of `text` that can nest: its words, and every other byte except
/// ASCII spaces.
fn pieces(text: &str) -> usize {
    let mut in_word = false;
    let starts = text.bytes().filter(|&byte| {
        let is_word = byte.is_ascii_alphanumeric() || byte == b'_';
        let starts = if is_word {
            !in_word
        } else {
            !byte.is_ascii_whitespace()
        };
        in_word = is_word;
        starts
    });
    starts.count()
}

fn check_size(tokens: TokenStream) -> Result<(), Diagnostic> {
    let mut count = 0;
    // A stack on the heap instead of recursion: this function must survive the depth that it
    // limits.
    let mut open = vec![tokens.into_iter()];
    while let Some(level) = open.last_mut() {
        let Some(token) = level.next() else {
            open.pop();
            continue;
        };
        count += 1;
        if count > MAX_TOKENS || open.len() > MAX_DEPTH {
            let help = "a harness is a few hundred lines, nested less than ten deep";
            return Err(Diagnostic::span(
                token.span(),
                "this file is too large or too deeply nested",
                help,
            ));
        }
        if let TokenTree::Group(group) = token {
            open.push(group.stream().into_iter());
        }
    }
    Ok(())
}

/// Whether `text` has so few tokens that parsing it cannot exhaust the stack of [`on_own_stack`],
/// however they nest.
pub fn is_parsable(text: &str) -> bool {
    pieces(text) <= MAX_TOKENS
}

/// Runs `work` on a thread with a large stack, whose end also frees the texts that the parser
/// keeps.
pub fn on_own_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let worker = thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, work);
        let worker = worker.expect("the system can start a thread");
        worker
            .join()
            // The caller panics, too, as if `work` had run on its own thread.
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
