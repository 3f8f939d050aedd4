//! From a text to its findings: parses on a stack of its own, reads once, and asks every rule.

use crate::{Expectation, Finding, RuleId, finding::Remark, harness::Harness, registry};
use proc_macro2::{TokenStream, TokenTree};
use std::{collections::VecDeque, fmt::Write as _, sync::Mutex, thread};

/// A harness to verify.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The path that findings name.
    pub path: &'a str,
    /// The Rust text.
    pub text: &'a str,
}

/// The parser and the rules descend into the tree, so that depth costs stack; [`MAX_DEPTH`] and [`MAX_TOKENS`] keep
/// any file within this much. Pages that nobody touches cost nothing.
const STACK: usize = 256 << 20;

/// How deep brackets may be nested in a file of many tokens; a harness has about eight.
const MAX_DEPTH: usize = 100;

/// How many tokens a file may have; a harness of three devices and three precisions has about 4,000.
const MAX_TOKENS: usize = 20_000;

/// Every broken rule of one harness, sorted. Without an expectation, the harness's own `SPEC` says what it must have.
pub fn verify_harness(source: &Source<'_>, expectation: Option<&Expectation>) -> Vec<Finding> {
    on_own_stack(|| findings(source, expectation))
}

/// [`verify_harness`] for many, on all cores; the answers are in the order of the questions.
pub fn verify_all(harnesses: &[(Source<'_>, Option<&Expectation>)]) -> Vec<Vec<Finding>> {
    let workers = thread::available_parallelism().map_or(1, usize::from).min(harnesses.len().max(1));
    let queue = Mutex::new((0..harnesses.len()).collect::<VecDeque<_>>());
    let next = || queue.lock().ok()?.pop_front();
    let work = || {
        let mut answers = Vec::new();
        while let Some(position) = next() {
            let (source, expectation) = &harnesses[position];
            answers.push((position, findings(source, *expectation)));
            // Nothing of the tree is left; without this, the thread would keep every text that it has ever parsed.
            proc_macro2::extra::invalidate_current_thread_spans();
        }
        answers
    };
    let mut answers = thread::scope(|scope| {
        let builder = || thread::Builder::new().stack_size(STACK);
        let running: Vec<_> = (0..workers).filter_map(|_| builder().spawn_scoped(scope, work).ok()).collect();
        running.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect::<Vec<_>>()
    });
    answers.sort_by_key(|(position, _)| *position);
    assert_eq!(answers.len(), harnesses.len(), "every harness was verified");
    answers.into_iter().map(|(_, findings)| findings).collect()
}

/// The normal form of a function of the file: every way through it, one step a line, as the rules see it. For looking
/// into a finding; none when the file does not parse or has no such init function or handler.
pub fn normal_form(text: &str, function: &str) -> Option<String> {
    on_own_stack(|| {
        let file = syn::parse_file(text).ok()?;
        let harness = Harness::new(&file, None);
        let (_, reading) = harness.readings().find(|(item, _)| item.sig.ident == function)?;
        let mut form = String::new();
        for (number, way) in reading.ways.iter().enumerate() {
            let _ = write!(form, "way {}:\n{way}", number + 1);
        }
        Some(form)
    })
}

fn findings(source: &Source<'_>, expectation: Option<&Expectation>) -> Vec<Finding> {
    let file = match parse(source.text) {
        Ok(file) => file,
        Err(remark) => return vec![remark.into_finding(RuleId::Parses, source.path)],
    };
    let harness = Harness::new(&file, expectation);
    let remarks = registry::rules()
        .iter()
        .flat_map(|rule| (rule.check)(&harness).into_iter().map(|remark| remark.into_finding(rule.id, source.path)));
    let mut findings: Vec<Finding> = remarks.collect();
    findings.sort();
    findings.dedup();
    findings
}

/// Parses `text`, unless it is built to exhaust the stack.
fn parse(text: &str) -> Result<syn::File, Remark> {
    let help = "mend the syntax; a generated file is mended by generating it again";
    let broken = |error: syn::Error| Remark::span(error.span(), format!("this is not Rust: {error}"), help);
    let unclosed = |error: proc_macro2::LexError| {
        let message = "this is not Rust: a bracket or a quote has no partner, or a character is out of place";
        Remark::span(error.span(), message, help)
    };
    let tokens: TokenStream = text.strip_prefix('\u{feff}').unwrap_or(text).parse().map_err(unclosed)?;
    // Going through the tokens costs as much as a third of the parsing.
    if pieces(text) > MAX_TOKENS {
        check_size(tokens.clone())?;
    }
    syn::parse2(tokens).map_err(broken)
}

/// At least as many as `text` has tokens that can nest: its words, and every other byte that is no ASCII space.
fn pieces(text: &str) -> usize {
    let mut in_word = false;
    let starts = text.bytes().filter(|&byte| {
        let is_word = byte.is_ascii_alphanumeric() || byte == b'_';
        let starts = if is_word { !in_word } else { !byte.is_ascii_whitespace() };
        in_word = is_word;
        starts
    });
    starts.count()
}

fn check_size(tokens: TokenStream) -> Result<(), Remark> {
    let mut count = 0;
    let mut open = vec![tokens.into_iter()];
    while let Some(level) = open.last_mut() {
        let Some(token) = level.next() else {
            open.pop();
            continue;
        };
        count += 1;
        if count > MAX_TOKENS || open.len() > MAX_DEPTH {
            let help = "a harness is a few hundred lines, nested less than ten deep";
            return Err(Remark::span(token.span(), "this file is too large or too deeply nested", help));
        }
        if let TokenTree::Group(group) = token {
            open.push(group.stream().into_iter());
        }
    }
    Ok(())
}

/// Runs `work` on a thread with a deep stack, whose end also frees what the parser keeps of every text.
fn on_own_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| {
        let worker = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let worker = worker.expect("the system can start a thread");
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
