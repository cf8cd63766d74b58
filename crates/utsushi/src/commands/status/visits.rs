//! The number of visits that found a change, by the interval before them: from the archive, whichever crawler wrote it.
//!
//! Every capture of the index is read once, in order: memory is one entry and the bins.

use archive::{Entry, Error, Flag, Key, Reader};
use base::Timestamp;
use node::views::HistogramBar;

/// The visits that came after an interval of one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) visits: u64,
    /// Those that found other content than the previous response.
    pub(super) changed: u64,
}

impl Seen {
    /// The share that found a change.
    #[expect(clippy::cast_precision_loss, reason = "counts of visits")]
    pub(super) fn ratio(self) -> f64 {
        if self.visits == 0 { 0.0 } else { self.changed as f64 / self.visits as f64 }
    }
}

/// Progress is reported once for this many captures.
const TOLD_EVERY: u64 = 4_096;

/// Counts the visits to pages, without robots files, into the bins of `bars`, which are adjacent.
pub(super) fn count(
    reader: &Reader,
    bars: &[HistogramBar],
    mut told: impl FnMut(u64),
) -> Result<Vec<Seen>, Error> {
    let mut seen = vec![Seen::default(); bars.len()];
    let mut later: Option<(Key, Timestamp, bool)> = None;
    for (number, entry) in (1..).zip(reader.all()?) {
        let entry = entry?;
        if u64::is_multiple_of(number, TOLD_EVERY) {
            told(number);
        }
        if !is_answer(&entry) {
            continue;
        }
        if let Some((key, at, is_changed)) = &later
            && *key == entry.key
            && let Some(slot) = bin(bars, *at, entry.at).and_then(|bin| seen.get_mut(bin))
        {
            slot.visits += 1;
            slot.changed += u64::from(*is_changed);
        }
        later = Some((entry.key, entry.at, entry.flag == Flag::Changed));
    }
    Ok(seen)
}

fn is_answer(entry: &Entry) -> bool {
    entry.is_visit() && entry.flag != Flag::Error && !entry.key.as_str().ends_with(")/robots.txt")
}

/// The bin of the time between two visits; the first and the last include everything beyond them.
fn bin(bars: &[HistogramBar], later: Timestamp, earlier: Timestamp) -> Option<usize> {
    #[expect(clippy::cast_precision_loss, reason = "an interval of some years in microseconds")]
    let seconds = (later.as_micros() - earlier.as_micros()) as f64 / 1e6;
    bars.len().checked_sub(1).map(|last| bars.partition_point(|bar| bar.to <= seconds).min(last))
}
