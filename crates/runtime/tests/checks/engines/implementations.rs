//! An engine's implementations of attention and of experts, compared with each other.

use super::{all_entries, all_entries_of};
use testgen_types::{Check, EntryStatus};

pub(super) fn implementations_are_compared_with_each_other() {
    let expected = [
        (
            "attention_agrees",
            EntryStatus::Pass,
            "first, second agree in",
        ),
        (
            "attention_differs",
            EntryStatus::Fail,
            "last_hidden_state of case main, second against first",
        ),
        (
            "attention_fails",
            EntryStatus::Fail,
            "case main, second: the engine failed in `forward`: the second attention fails",
        ),
        ("attention_dies", EntryStatus::Fail, "signal: 11"),
        (
            "attention_one",
            EntryStatus::Ignored,
            "this class has no second attention",
        ),
        (
            "attention_own_refused",
            EntryStatus::Pass,
            "first, second agree in",
        ),
        ("exits", EntryStatus::Fail, "No module named 'torch'"),
        (
            "none",
            EntryStatus::Ignored,
            "one implementation of attention only",
        ),
    ];
    for (script, status, part) in expected {
        let entries = all_entries("native,scripted", script);
        // The native engine has no such check.
        let of_check: Vec<_> = entries
            .iter()
            .filter(|entry| entry.check == Check::AttentionPaths)
            .collect();
        let [entry] = of_check[..] else {
            panic!("{script}: {} entries", of_check.len())
        };
        assert_eq!(entry.engine.as_deref(), Some("scripted"));
        let reason = entry.reason.as_deref().unwrap_or_default();
        assert_eq!(entry.status, status, "{script}: {reason}");
        assert!(reason.contains(part), "{script}: no `{part}` in: {reason}");
        // The end of an engine is not a difference of one call after the other.
        assert!(
            script != "attention_dies" || !reason.contains("case main, second"),
            "{reason}"
        );
    }
}

/// Both implementations may choose either of two experts that are equally likely.
pub(super) fn tokens_of_other_experts_are_counted() {
    let entries = all_entries_of("engines_with_experts", "scripted", "experts_close");
    let entry = entries
        .iter()
        .find(|entry| entry.check == Check::ExpertPaths)
        .unwrap();
    let reason = entry.reason.as_deref().unwrap_or_default();
    assert_eq!(entry.status, EntryStatus::Pass, "{reason}");
    assert!(
        reason.contains("first, second agree in 7 calls; "),
        "{reason}"
    );
    assert!(
        reason.contains(" tokens are routed to other experts within their margin"),
        "{reason}"
    );
}
