//! The table of advisories that is checked in.
//!
//! One line an advisory, columns separated by tabs; ranges of versions separated by ` || `, `-` for none. Lines that
//! begin with `#` are comments, except the one with the date.

use std::fmt::Write as _;

use anyhow::{Context, Result, bail};
use semver::Version;

use super::range::Range;

const DATE: &str = "# date: ";
const HEADER: &str = "\
# Advisories on Rust crates: which versions of which package are faulty.
# source: RustSec advisory database, CC0-1.0
# make it anew with `cargo xtask advisories --refresh DIR`; withdrawn advisories are left out
";
const COLUMNS: &str = "# id\tpackage\tpatched\tunaffected\tkind\n";
const OR: &str = " || ";
const NONE: &str = "-";

/// The advisories known at a date.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Table {
    /// The day of the newest change of the source, as `2026-01-31`.
    pub(super) date: String,
    pub(super) advisories: Vec<Advisory>,
}

/// One advisory.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Advisory {
    pub(super) id: String,
    pub(super) package: String,
    /// Versions in which the fault is fixed.
    pub(super) patched: Vec<Range>,
    /// Versions that never had it.
    pub(super) unaffected: Vec<Range>,
    pub(super) kind: Kind,
}

/// What an advisory is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A fault that can be exploited.
    Vulnerability,
    /// Safe code that can break memory.
    Unsound,
    /// The package is unmaintained.
    Unmaintained,
    /// Other information.
    Notice,
}

impl Table {
    /// Reads what [`Table::render`] wrote.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let date = text
            .lines()
            .find_map(|line| line.strip_prefix(DATE))
            .context("the line with the date is missing")?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#') && !line.is_empty());
        let advisories = lines
            .map(|(index, line)| Advisory::parse(line).with_context(|| format!("in line {}", index + 1)));
        Ok(Self { date: date.to_owned(), advisories: advisories.collect::<Result<_>>()? })
    }

    /// The table as it is checked in.
    pub(super) fn render(&self) -> String {
        let mut text = format!("{HEADER}{DATE}{}\n{COLUMNS}", self.date);
        for Advisory { id, package, patched, unaffected, kind } in &self.advisories {
            let (patched, unaffected) = (join(patched), join(unaffected));
            writeln!(text, "{id}\t{package}\t{patched}\t{unaffected}\t{}", kind.name())
                .expect("a string takes it all");
        }
        text
    }
}

impl Advisory {
    fn parse(line: &str) -> Result<Self> {
        let columns: Vec<&str> = line.split('\t').collect();
        let &[id, package, patched, unaffected, kind] = columns.as_slice() else {
            bail!("there are {} columns instead of 5", columns.len())
        };
        Ok(Self {
            id: id.to_owned(),
            package: package.to_owned(),
            patched: split(patched)?,
            unaffected: split(unaffected)?,
            kind: Kind::from_name(kind)?,
        })
    }

    /// Whether `version` of `package` has the fault.
    pub(super) fn touches(&self, package: &str, version: &Version) -> bool {
        let mut free = self.patched.iter().chain(&self.unaffected);
        self.package == package && !free.any(|range| range.holds(version))
    }

    /// What to do about it.
    pub(super) fn remedy(&self) -> String {
        if self.patched.is_empty() {
            return "no version is free of it".to_owned();
        }
        let ranges: Vec<String> = self.patched.iter().map(|range| format!("`{range}`")).collect();
        format!("use {}", ranges.join(" or "))
    }
}

impl Kind {
    const ALL: [Self; 4] = [Self::Vulnerability, Self::Unsound, Self::Unmaintained, Self::Notice];

    /// Its name in the table.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Vulnerability => "vulnerability",
            Self::Unsound => "unsound",
            Self::Unmaintained => "unmaintained",
            Self::Notice => "notice",
        }
    }

    /// The kind of that name.
    pub(super) fn from_name(name: &str) -> Result<Self> {
        let kind = Self::ALL.into_iter().find(|kind| kind.name() == name);
        kind.with_context(|| format!("`{name}` is not a kind of advisory"))
    }
}

fn join(ranges: &[Range]) -> String {
    let ranges: Vec<String> = ranges.iter().map(ToString::to_string).collect();
    if ranges.is_empty() { NONE.to_owned() } else { ranges.join(OR) }
}

fn split(ranges: &str) -> Result<Vec<Range>> {
    if ranges == NONE {
        return Ok(Vec::new());
    }
    let parse = |range: &str| range.parse().with_context(|| format!("`{range}` is no range of versions"));
    ranges.split(OR).map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::{Kind, Table};

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let line = "X-1\tleaky\t>=1.2.4, <1.3.0 || >=1.3.1-rc.1\t-\tunsound\n";
        let table = Table::parse(&format!("# date: 2026-01-31\n{line}")).unwrap();
        assert_eq!(table.advisories[0].kind, Kind::Unsound);
        assert!(table.render().ends_with(&format!("\n{line}")));
        assert_eq!(Table::parse(&table.render()).unwrap(), table);
    }

    #[track_caller]
    fn check_refused(text: &str, expected: &str) {
        assert_eq!(format!("{:#}", Table::parse(text).unwrap_err()), expected);
    }

    #[test]
    fn a_damaged_table_is_refused() {
        check_refused("X-1\tp\t-\t-\tnotice\n", "the line with the date is missing");
        check_refused("# date: 2026-01-31\nX-1\tp\n", "in line 2: there are 2 columns instead of 5");
        check_refused(
            "# date: 2026-01-31\nX-1\tp\t-\t-\trumour\n",
            "in line 2: `rumour` is not a kind of advisory",
        );
    }
}
