//! What is held back, in the words of the output.

use frontier::HeldBack;
use std::collections::BTreeMap;

/// Counts by reason, as `--json` shows them; reasons without any are left out.
pub(crate) fn by_reason(held: &HeldBack) -> BTreeMap<String, u64> {
    held.reasons().map(|(reason, count)| (reason.as_str().to_owned(), count)).collect()
}

/// All counts together.
pub(crate) fn total(by_reason: &BTreeMap<String, u64>) -> u64 {
    by_reason.values().sum()
}

/// Counts by reason in one line.
pub(crate) fn shown(by_reason: &BTreeMap<String, u64>) -> String {
    let parts = by_reason.iter().map(|(reason, count)| format!("{} {reason}", crate::words::grouped(*count)));
    parts.collect::<Vec<_>>().join(", ")
}
