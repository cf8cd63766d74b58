//! How often a verdict was right, by kinds.

use std::collections::BTreeMap;
use std::fmt;

/// Verdicts beside the truth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// The text changed, and this was said.
    found: u64,
    /// The text changed, and it was not said.
    missed: u64,
    /// Only what surrounds it changed, and the text was said to have.
    wrong: u64,
    /// Only what surrounds it changed, and this was said.
    left: u64,
}

impl Counts {
    pub(super) fn changed(self) -> u64 {
        self.found + self.missed
    }
    pub(super) fn beside(self) -> u64 {
        self.wrong + self.left
    }
    pub(super) fn precision(self) -> f64 {
        share(self.found, self.wrong)
    }
    pub(super) fn recall(self) -> f64 {
        share(self.found, self.missed)
    }
    /// The part of the changes beside the text that were said to be such.
    pub(super) fn beside_share(self) -> f64 {
        share(self.left, self.wrong)
    }
    fn count(&mut self, is_changed: bool, is_said: bool) {
        let slot = match (is_changed, is_said) {
            (true, true) => &mut self.found,
            (true, false) => &mut self.missed,
            (false, true) => &mut self.wrong,
            (false, false) => &mut self.left,
        };
        *slot += 1;
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of pages")]
fn share(part: u64, rest: u64) -> f64 {
    if part + rest == 0 { 1.0 } else { part as f64 / (part + rest) as f64 }
}

/// Counts by kind.
#[derive(Debug, Default)]
pub(super) struct Tally {
    all: Counts,
    kinds: BTreeMap<String, Counts>,
    faults: Vec<String>,
}

/// So many faults are shown.
const FAULTS_MAX: usize = 20;

impl Tally {
    pub(super) fn count(&mut self, is_changed: bool, is_said: bool, kinds: &[&str]) {
        self.all.count(is_changed, is_said);
        for kind in kinds {
            self.kinds.entry((*kind).to_owned()).or_default().count(is_changed, is_said);
        }
    }
    pub(super) fn keep(&mut self, fault: String) {
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(fault);
        }
    }
    pub(super) fn all(&self) -> Counts {
        self.all
    }
    pub(super) fn of(&self, kind: &str) -> Counts {
        self.kinds.get(kind).copied().unwrap_or_default()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:18} changed: said, not; beside: said changed, not; precision, recall", "kind")?;
        let all = ("all".to_owned(), self.all);
        for (kind, counts) in [(&all.0, &all.1)].into_iter().chain(&self.kinds) {
            let Counts { found, missed, wrong, left } = counts;
            let (precision, recall) = (counts.precision(), counts.recall());
            writeln!(
                f,
                "{kind:18} {found:>6} {missed:>6}  {wrong:>6} {left:>6}  {precision:.4} {recall:.4}"
            )?;
        }
        self.faults.iter().try_for_each(|fault| writeln!(f, "{fault}"))
    }
}

/// What of a simulated page differs, by the lines of its markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Text,
    Listing,
    Advert,
    Date,
    Template,
    Links,
    /// The line that tells when the page was changed: the new wording is that of before.
    Stamp,
    Several,
}

impl Part {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "a paragraph",
            Self::Listing => "the listing",
            Self::Advert => "advert",
            Self::Date => "date",
            Self::Template => "template",
            Self::Links => "links around",
            Self::Stamp => "the update time",
            Self::Several => "several of these",
        }
    }

    /// The only part that differs, or several. The line that tells when the text changed goes with any.
    pub(super) fn that_differs(before: &[u8], after: &[u8]) -> Self {
        let (before, after) = (lines(before), lines(after));
        let mut parts: Vec<Self> = Vec::new();
        for (one, other) in [(&before, &after), (&after, &before)] {
            let differing = one.iter().filter(|(line, count)| other.get(*line) != Some(count));
            parts.extend(differing.filter_map(|((part, _), _)| *part));
        }
        parts.sort_unstable();
        parts.dedup();
        match parts[..] {
            [part] => part,
            [] => Self::Stamp,
            _ => Self::Several,
        }
    }
}

/// The lines of a page with the part they belong to, and how often each is there.
fn lines(body: &[u8]) -> BTreeMap<(Option<Part>, Vec<u8>), u32> {
    let mut lines = BTreeMap::new();
    let mut is_main = false;
    for line in body.split(|byte| *byte == b'\n') {
        let starts = |start: &str| line.starts_with(start.as_bytes());
        is_main = (is_main || starts("<main>")) && !starts("</main>");
        let part = match () {
            () if starts("<p class=\"updated\">") => None,
            () if starts("<div class=\"ad\"") => Some(Part::Advert),
            () if starts("<p class=\"today\">") => Some(Part::Date),
            () if starts("<meta name=\"generator\"")
                || starts("<link rel=\"stylesheet\"")
                || starts("<header class=")
                || starts("<body class=") =>
            {
                Some(Part::Template)
            }
            () if starts("<li>") && is_main => Some(Part::Listing),
            () if is_main => Some(Part::Text),
            () => Some(Part::Links),
        };
        *lines.entry((part, line.to_vec())).or_insert(0) += 1;
    }
    lines
}
