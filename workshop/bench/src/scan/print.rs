//! Results as a table for people, or as objects.

use super::verdict::{Bound, Verdict};
use crate::compare::number;
use serde_json::Value;

/// Prints the results of one part, and what is said of them.
pub(super) fn results(results: &[Value], verdicts: &[Verdict], is_json: bool) {
    if is_json {
        results.iter().for_each(|result| println!("{result}"));
        verdicts.iter().for_each(|verdict| println!("{}", verdict.to_json()));
        return;
    }
    let task = results.first().and_then(|result| result["task"].as_str()).unwrap_or_default();
    println!(
        "{task:<34} {:>9} {:>9} {:>12} {:>8} {:>9} {:>9}",
        "documents", "seconds", "documents/s", "CPU s", "MB, peak", "% busy"
    );
    for result in results {
        let name = result["system"].as_str().unwrap_or("?");
        print!(
            "{name:<34} {:>9.0} {:>9.3} {:>12.0} {:>8.2} ",
            number(result, "documents"),
            number(result, "seconds"),
            number(result, "documents_per_second"),
            number(result, "cpu_seconds"),
        );
        print!("{:>9} ", shown(&result["resident_bytes_max"], 1e-6, 0));
        println!("{:>9}", shown(&result["busy_min"], 100.0, 1));
    }
    println!();
    for verdict in verdicts {
        let bound = match verdict.bound {
            Bound::AtLeast(least) => format!("at least {least}: {}", word(verdict)),
            Bound::AtMost(most) => format!("at most {most}: {}", word(verdict)),
            Bound::None => "told, not judged".to_owned(),
        };
        println!("{:<72} {:>7.3} ({bound})", verdict.what, verdict.figure);
    }
    println!();
}

fn word(verdict: &Verdict) -> &'static str {
    if verdict.is_met() { "met" } else { "MISSED" }
}

/// A figure, where there is one.
fn shown(value: &Value, factor: f64, decimals: usize) -> String {
    value.as_f64().map_or_else(|| "–".to_owned(), |value| format!("{:.decimals$}", value * factor))
}
