//! `cargo xtask house`: measures the layout of code and documents.
//!
//! The sources are formatted by rustfmt, so lines and indentation are enough to read them: an item begins at its keyword
//! and ends at the closing brace of the same indentation.

mod cycles;
mod links;
mod source;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use serde_json::json;

use self::source::Source;
use crate::workspace::Workspace;
use crate::{Verdict, codes};

/// A module cycle of more modules than this is a fault.
const CYCLE_MODULES_MAX: usize = 3;
/// Files and functions longer than this are counted as long.
const FILE_LINES_LONG: usize = 400;
const FUNCTION_LINES_LONG: usize = 40;
/// More words of documentation than this are a fault. 35,000 before documents and Japanese text, which added chapters.
const DOCUMENT_WORDS_MAX: usize = 37_500;
/// Names that every crate may have a type of.
const COMMON_NAMES: [&str; 4] = ["Error", "Result", "Args", "Settings"];

/// Show the length of files and functions, module cycles, types of the same name, undefined codes, broken links and words of documentation.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cargo xtask house
  cargo xtask house --json")]
pub(crate) struct Args {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The measurements.
struct House {
    files: Vec<usize>,
    functions: Vec<usize>,
    /// The largest cycle of each crate that has one.
    cycles: BTreeMap<String, Vec<String>>,
    /// Public types by name, where several crates or modules have one.
    same_names: BTreeMap<String, Vec<String>>,
    undefined_codes: usize,
    broken_links: Vec<String>,
    document_words: usize,
}

/// Runs the task.
pub(crate) fn run(args: &Args) -> Result<Verdict> {
    let house = House::measure(&Workspace::load()?.root)?;
    if args.json {
        println!("{}", house.to_json());
    } else {
        house.print();
    }
    Ok(Verdict::passed(house.is_in_order()))
}

impl House {
    fn measure(root: &Path) -> Result<Self> {
        let sources = source::read_all(root)?;
        Ok(Self {
            files: sorted(sources.iter().map(|source| source.lines)),
            functions: sorted(sources.iter().flat_map(|source| source.functions.iter().copied())),
            cycles: cycles::largest(&sources),
            same_names: same_names(&sources),
            undefined_codes: codes::undefined(root)?.len(),
            broken_links: links::broken(root)?,
            document_words: source::document_words(root)?,
        })
    }

    fn is_in_order(&self) -> bool {
        self.cycles.values().all(|cycle| cycle.len() <= CYCLE_MODULES_MAX)
            && self.same_names.is_empty()
            && self.undefined_codes == 0
            && self.broken_links.is_empty()
            && self.document_words <= DOCUMENT_WORDS_MAX
    }

    fn print(&self) {
        let short = share(&self.files, FILE_LINES_LONG);
        println!("files (lines before tests)  {}, {short:.1} % up to {FILE_LINES_LONG}", spread(&self.files));
        let long = self.functions.iter().filter(|lines| **lines > FUNCTION_LINES_LONG).count();
        println!(
            "functions (lines)           {}, {long} over {FUNCTION_LINES_LONG}",
            spread(&self.functions)
        );
        for (name, cycle) in &self.cycles {
            println!("cycle in `{name}`: {} modules: {}", cycle.len(), cycle.join(" "));
        }
        for (name, places) in &self.same_names {
            println!("public type `{name}` × {}: {}", places.len(), places.join(", "));
        }
        println!("public types with a name in common {}", self.same_names.len());
        println!("undefined codes {}", self.undefined_codes);
        for link in &self.broken_links {
            println!("broken link in {link}");
        }
        println!("broken links {}", self.broken_links.len());
        println!("words of documentation {} of {DOCUMENT_WORDS_MAX}", self.document_words);
    }

    fn to_json(&self) -> serde_json::Value {
        json!({
            "files": { "count": self.files.len(), "p50": part(&self.files, 50), "p90": part(&self.files, 90),
                       "up_to_400_percent": share(&self.files, FILE_LINES_LONG) },
            "functions": { "count": self.functions.len(), "p50": part(&self.functions, 50),
                           "p90": part(&self.functions, 90) },
            "cycles": self.cycles,
            "same_names": self.same_names,
            "undefined_codes": self.undefined_codes,
            "broken_links": self.broken_links,
            "document_words": self.document_words,
        })
    }
}

fn sorted(numbers: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut numbers: Vec<usize> = numbers.collect();
    numbers.sort_unstable();
    numbers
}

/// The percentile of sorted numbers.
fn part(sorted: &[usize], percent: usize) -> usize {
    sorted.get(sorted.len() * percent / 100).or(sorted.last()).copied().unwrap_or(0)
}

fn spread(sorted: &[usize]) -> String {
    format!(
        "{}: p50 {}, p90 {}, longest {}",
        sorted.len(),
        part(sorted, 50),
        part(sorted, 90),
        part(sorted, 100)
    )
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2⁵² files")]
fn share(sorted: &[usize], most: usize) -> f64 {
    100.0 * sorted.iter().filter(|lines| **lines <= most).count() as f64 / sorted.len().max(1) as f64
}

/// Public types that share a name, by name, with the module of each.
fn same_names(sources: &[Source]) -> BTreeMap<String, Vec<String>> {
    let mut places = BTreeMap::<String, Vec<String>>::new();
    for source in sources {
        for name in source.types.iter().filter(|name| !COMMON_NAMES.contains(&name.as_str())) {
            places.entry(name.clone()).or_default().push(source.module_path());
        }
    }
    places.retain(|_, places| places.len() > 1);
    places
}
