//! Counts of pages that are held back, by reason.

use frontier::HeldBack;
use std::collections::BTreeMap;

/// Counts by reason, as `--json` shows them; reasons without any are left out.
pub fn by_reason(held: &HeldBack) -> BTreeMap<String, u64> {
    held.reasons().map(|(reason, count)| (reason.as_str().to_owned(), count)).collect()
}

/// All counts together.
pub fn total(by_reason: &BTreeMap<String, u64>) -> u64 {
    by_reason.values().sum()
}
