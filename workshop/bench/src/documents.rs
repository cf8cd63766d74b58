//! What a document is made of: how well and how fast.

mod language;
mod parsing;

use std::path::PathBuf;

use anyhow::Result;
use serde_json::{Value, json};

/// How good and how fast the parts of a document are made
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cargo xtask bench documents
  cargo xtask bench documents --json")]
pub(crate) struct Args {
    /// Directory with the public data, `data/nlp` below it
    #[arg(long, env = "UTSUSHI_SHARED")]
    shared: PathBuf,
    /// Print one object a line
    #[arg(long)]
    json: bool,
}

/// A figure with its unit, and what it must reach.
struct Row {
    name: String,
    value: f64,
    unit: &'static str,
    bound: Bound,
}

/// The bound of a figure.
#[derive(Clone, Copy)]
enum Bound {
    /// It is told only.
    None,
    /// It must be so much.
    AtLeast(f64),
    /// It must not be more.
    AtMost(f64),
}

/// Prints every figure; whether all reach what they must.
pub(crate) fn run(args: &Args) -> Result<bool> {
    let mut rows = language::rows(&args.shared)?;
    rows.extend(parsing::rows(&args.shared)?);
    for row in &rows {
        if args.json { println!("{}", row.json()) } else { println!("{}", row.line()) }
    }
    Ok(rows.iter().all(Row::is_reached))
}

impl Row {
    fn is_reached(&self) -> bool {
        match self.bound {
            Bound::None => true,
            Bound::AtLeast(bound) => self.value >= bound,
            Bound::AtMost(bound) => self.value <= bound,
        }
    }

    fn line(&self) -> String {
        let bound = match self.bound {
            Bound::None => String::new(),
            Bound::AtLeast(bound) => format!("≥ {bound}"),
            Bound::AtMost(bound) => format!("≤ {bound}"),
        };
        let missed = if self.is_reached() { "" } else { "  MISSED" };
        format!("{:<52} {:>12.2} {:<12} {bound}{missed}", self.name, self.value, self.unit)
    }

    fn json(&self) -> Value {
        let (least, most) = match self.bound {
            Bound::None => (None, None),
            Bound::AtLeast(bound) => (Some(bound), None),
            Bound::AtMost(bound) => (None, Some(bound)),
        };
        json!({
            "figure": self.name, "value": self.value, "unit": self.unit,
            "at_least": least, "at_most": most, "reached": self.is_reached(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_that_misses_its_bound_is_marked() {
        let row = |bound| Row { name: "speed".to_owned(), value: 3.0, unit: "pages/s", bound };
        for (bound, is_reached) in [
            (Bound::None, true),
            (Bound::AtLeast(3.0), true),
            (Bound::AtLeast(3.1), false),
            (Bound::AtMost(2.9), false),
        ] {
            assert_eq!(row(bound).is_reached(), is_reached);
            assert_eq!(row(bound).line().ends_with("MISSED"), !is_reached);
            assert_eq!(row(bound).json()["reached"], is_reached);
        }
    }
}
