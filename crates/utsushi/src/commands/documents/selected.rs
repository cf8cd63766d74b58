//! Which documents of a set are worth searching (F1).

use super::in_period;
use crate::commands::Context;
use crate::signals::Stop;
use crate::words::by_reason;
use anyhow::Context as _;
use archive::Choice;
use base::PageUrl;
use document::selection::{CopyFinder, CopyRank, DropReason, Fingerprint, Judged, Thresholds};
use document::standard::Library;
use document::{Moment, ValidDocument};
use std::collections::BTreeMap;
use std::path::Path;

/// Memory of each sort.
const SORT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The documents of a set that are left out, by their numbers in the set.
///
/// **Invariant:** it takes one bit a document.
#[derive(Debug, Default)]
pub(super) struct Selection {
    dropped: Vec<u64>,
    counts: BTreeMap<DropReason, u64>,
}

impl Selection {
    /// Judges all documents of a set, before any is written.
    pub(super) fn of(
        library: &Library,
        choice: &Choice,
        (thresholds, spool): (&Thresholds, &Path),
        stop: &Stop,
    ) -> anyhow::Result<Self> {
        let (mut selection, mut copies) = (Self::default(), CopyFinder::new(spool, SORT_BYTES_MAX));
        for (version, number) in library.archive().snapshot(choice).context("cannot read the index")?.zip(0..)
        {
            stop.check().context("cannot choose the documents")?;
            let version = version.context("cannot read the index")?;
            let Some((valid, moment)) = in_period(version, choice.period())? else { continue };
            let rank = CopyRank { seen: valid.validity.from().as_micros(), number };
            let judge = || judge(library, thresholds, (&valid, &moment));
            match judge()? {
                None => {}
                Some(Err(reason)) => selection.drop_one(number, reason),
                Some(Ok(fingerprint)) => {
                    copies.push(rank, &fingerprint).context("cannot sort the fingerprints")?;
                }
            }
        }
        let found = copies.finish(|copy| {
            let reason = if copy.is_exact { DropReason::Copy } else { DropReason::NearCopy };
            selection.drop_one(copy.copy.number, reason);
        });
        found.context("cannot sort the fingerprints")?;
        Ok(selection)
    }

    fn drop_one(&mut self, number: u64, reason: DropReason) {
        let word = usize::try_from(number / 64).unwrap_or(usize::MAX);
        if self.dropped.len() <= word {
            self.dropped.resize(word + 1, 0);
        }
        self.dropped.iter_mut().skip(word).take(1).for_each(|bits| *bits |= 1 << (number % 64));
        *self.counts.entry(reason).or_default() += 1;
    }
    /// Whether a document is left out.
    pub(super) fn drops(&self, number: u64) -> bool {
        let word = usize::try_from(number / 64).ok().and_then(|word| self.dropped.get(word));
        word.is_some_and(|bits| bits & 1 << (number % 64) != 0)
    }
    /// How many documents are left out, by reason.
    pub(super) fn counts(&self) -> BTreeMap<String, u64> {
        self.counts.iter().map(|(reason, count)| (reason.as_str().to_owned(), *count)).collect()
    }
    /// Reports what is left out.
    pub(super) fn tell(&self, context: &Context) {
        if !self.counts.is_empty() {
            context.output.note(format!("left out: {}", by_reason(&self.counts())));
        }
    }
}

/// The fingerprint of a document that is kept unless it is a copy, or why it is left out; `None` for what is no page.
fn judge(
    library: &Library,
    thresholds: &Thresholds,
    (valid, moment): (&ValidDocument, &Moment),
) -> anyhow::Result<Option<Result<Fingerprint, DropReason>>> {
    let Some(document) = library.documents().get(&valid.entry.key, valid.id)? else { return Ok(None) };
    let Ok(url) = PageUrl::parse(&valid.entry.url) else { return Ok(None) };
    let is_kept = match thresholds.judge(&url, &document) {
        Judged::Dropped(reason) => return Ok(Some(Err(reason))),
        Judged::Kept => true,
        Judged::KeptIfLinked => library.is_linked(&valid.entry.key, moment)?,
    };
    if !is_kept {
        return Ok(Some(Err(DropReason::SmallUnlinked)));
    }
    Ok(Some(Fingerprint::of(&document.text).ok_or(DropReason::Empty)))
}
