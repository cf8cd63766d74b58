//! Results as a table for people, or as objects.

use crate::compare::number;
use serde_json::Value;

/// A column: its head, the field that it shows, what that is multiplied with, and how many decimals there are.
type Column = (&'static str, &'static str, f64, usize);

const WALK: &[Column] = &[
    ("chosen", "versions_chosen", 1.0, 0),
    ("rows seen", "rows_seen", 1.0, 0),
    ("seconds", "seconds", 1.0, 3),
    ("CPU s", "cpu_seconds", 1.0, 2),
    ("M rows/s", "rows_seen_per_second", 1e-6, 2),
    ("% of bare", "speed_of_bare_loop", 100.0, 0),
];
const MEMORY: &[Column] = &[
    ("versions", "versions_chosen", 1.0, 0),
    ("seconds", "seconds", 1.0, 1),
    ("MB, opened", "resident_bytes_opened", 1e-6, 1),
    ("MB, peak", "resident_bytes_max", 1e-6, 1),
];
const LOOKUP: &[Column] = &[
    ("look-ups", "lookups", 1.0, 0),
    ("µs, p50", "microseconds_p50", 1.0, 1),
    ("µs, p99", "microseconds_p99", 1.0, 1),
    ("MB", "bytes", 1e-6, 0),
    ("bytes/version", "bytes_per_version", 1.0, 1),
];
const OPEN: &[Column] = &[("s, warm", "seconds_warm", 1.0, 3), ("s, cold", "seconds_cold", 1.0, 3)];
const DOCUMENTS: &[Column] = &[
    ("documents", "documents", 1.0, 0),
    ("seconds", "seconds", 1.0, 2),
    ("documents/s", "documents_per_second", 1.0, 0),
    ("CPU s", "cpu_seconds", 1.0, 2),
    ("MB of bodies", "body_bytes", 1e-6, 0),
    ("MB read", "bytes_read", 1e-6, 0),
];

/// Prints the results of one part.
pub(super) fn results(results: &[Value], json: bool) {
    if json {
        results.iter().for_each(|result| println!("{result}"));
        return;
    }
    let task = results.first().and_then(|result| result["task"].as_str()).unwrap_or("");
    let columns = match task {
        "walk" => WALK,
        "memory" => MEMORY,
        "lookup" => LOOKUP,
        "open" => OPEN,
        _ => DOCUMENTS,
    };
    print!("{task:<32}");
    columns.iter().for_each(|(head, ..)| print!("{head:>14}"));
    println!();
    for result in results {
        print!("{:<32}", result["system"].as_str().unwrap_or("?"));
        for (_, field, factor, decimals) in columns {
            print!("{:>14.decimals$}", number(result, field) * factor);
        }
        println!();
    }
    if let Some(device) = results.iter().find_map(|result| result["device"].as_str()) {
        println!("on {device}");
    }
    println!();
}
