//! Which documents a scan has: the snapshot, chosen by what is known, in the order in which it lies on disk (P1, A5).

use super::Args;
use crate::commands::Context;
use crate::commands::snapshot::{Described, Describer, SORT_BYTES_MAX};
use crate::progress::Progress;
use crate::signals::Stop;
use anyhow::Context as _;
use archive::derived::Facts;
use archive::{Choice, Order, Reader, Snapshot, Sorter, Version};
use scan::PointerWriter;
use std::cell::Cell;
use std::iter::Peekable;
use std::path::Path;

/// Finds the documents.
pub(super) struct Finder<'a> {
    context: &'a Context,
    reader: &'a Reader,
    stop: &'a Stop,
    wanted: Wanted,
    describer: Describer<'a>,
    progress: Progress,
    count: Cell<u64>,
}

/// What is asked for.
enum Wanted {
    /// A snapshot.
    Chosen(Choice),
    /// What differs between two moments, as it is at the second.
    Changed { earlier: Choice, later: Choice },
}

/// How often the progress is told.
const TOLD_EVERY: u64 = 1_000;

impl<'a> Finder<'a> {
    pub(super) fn new(
        context: &'a Context,
        reader: &'a Reader,
        args: &'a Args,
        stop: &'a Stop,
    ) -> anyhow::Result<Self> {
        let wanted = if args.only_changed {
            let (earlier, later) = args.choices.between(context)?;
            Wanted::Changed { earlier, later }
        } else {
            Wanted::Chosen(args.choices.check(context)?)
        };
        let describer = Describer::new(reader, args.choices.languages())?;
        let progress = context.output.progress("choosing documents", None);
        Ok(Self { context, reader, stop, wanted, describer, progress, count: Cell::new(0) })
    }

    /// Hands over every document, in the order in which they lie on disk.
    pub(super) fn find(&self, list: &mut PointerWriter, spool: &Path) -> anyhow::Result<()> {
        let versions = self.versions()?;
        if self.describer.has_to_look_up(true)? {
            // What is looked up comes in that order.
            for described in self.describer.describe(versions, true, spool)? {
                let Described { version, facts } = described?;
                list.push(&version.to_bytes(&scan::beside(&version, &facts)))?;
                self.count()?;
            }
            return Ok(());
        }
        let mut sorter = Sorter::new(Order::Address, spool, SORT_BYTES_MAX);
        for version in versions {
            let version = version?;
            sorter.push_with(&version, &scan::beside(&version, &Facts::default()))?;
            self.count()?;
        }
        for version in sorter.finish_encoded()? {
            list.push(&version?)?;
        }
        Ok(())
    }

    /// What is asked for, by key.
    fn versions(&self) -> anyhow::Result<Box<dyn Iterator<Item = anyhow::Result<Version>>>> {
        let walk = "cannot walk through the index";
        let versions: Box<dyn Iterator<Item = _>> = match &self.wanted {
            Wanted::Chosen(choice) => Box::new(self.reader.snapshot(choice).context(walk)?),
            Wanted::Changed { earlier, later } => Box::new(Changed {
                earlier: self.reader.snapshot(earlier).context(walk)?.peekable(),
                later: self.reader.snapshot(later).context(walk)?,
            }),
        };
        Ok(Box::new(versions.map(move |version| version.context(walk))))
    }

    /// One more was chosen.
    fn count(&self) -> anyhow::Result<()> {
        self.stop.check().context("cannot choose the documents")?;
        let count = self.count.get() + 1;
        self.count.set(count);
        if count.is_multiple_of(TOLD_EVERY) {
            self.progress.set(count, "documents chosen");
        }
        Ok(())
    }

    /// Says what was left out, if anything was.
    pub(super) fn tell_left_out(&self) {
        self.describer.left_out().iter().for_each(|told| self.context.output.note(told));
    }
}

/// What is in one snapshot and not, with the same content, in an earlier one. Both come by key, from the last to the first.
struct Changed {
    earlier: Peekable<Snapshot>,
    later: Snapshot,
}

impl Iterator for Changed {
    type Item = Result<Version, archive::Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let version = match self.later.next()? {
                Ok(version) => version,
                error => return Some(error),
            };
            while let Some(Ok(earlier)) = self.earlier.peek() {
                if earlier.payload.key <= version.payload.key {
                    break;
                }
                self.earlier.next();
            }
            match self.earlier.peek() {
                Some(Err(_)) => return self.earlier.next(),
                Some(Ok(earlier)) if is_same(earlier, &version) => {}
                _ => return Some(Ok(version)),
            }
        }
    }
}

/// Whether a page has the same content in both; where that is not known of one, it is the same only if it is one version.
fn is_same(earlier: &Version, later: &Version) -> bool {
    let (one, other) = (&earlier.payload, &later.payload);
    let is_one = one.location == other.location;
    let has_same = one.content.is_some() && one.content == other.content;
    one.key == other.key && (is_one || has_same)
}
