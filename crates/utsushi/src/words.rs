//! Numbers formatted for people.

use std::collections::BTreeMap;

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `2500000` as `2.5 MB`.
#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
pub(crate) fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", count as f64 / 1e6),
        _ => format!("{:.1} GB", count as f64 / 1e9),
    }
}

/// `1 page`, `2 pages`.
pub(crate) fn count_of(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(count))
}

/// Counts by reason, in one line.
pub(crate) fn by_reason(counts: &BTreeMap<String, u64>) -> String {
    let parts = counts.iter().map(|(reason, count)| format!("{} {reason}", grouped(*count)));
    parts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_bytes_are_rounded() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [0, 999, 1_000, 2_500_000, 3_000_000_000].map(bytes),
            ["0 B", "999 B", "1.0 kB", "2.5 MB", "3.0 GB"]
        );
        assert_eq!([1, 2_000].map(|count| count_of(count, "page")), ["1 page", "2,000 pages"]);
    }
}
