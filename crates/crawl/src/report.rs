//! What a crawl has done so far.

use archive::Stored;
use base::{Capture, Interval, Outcome, PageUrl, Timestamp};
use frontier::HeldBack;

/// A capture that is durable, so it may be reported (D2).
#[derive(Clone, Debug)]
pub struct ArchivedCapture {
    /// The page.
    pub url: PageUrl,
    /// When the visit began.
    pub at: Timestamp,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether it was a robots file rather than a page.
    pub robots: bool,
    /// Whether it was visited only because another page needs it to be shown.
    pub requisite: bool,
    /// Whether the content differs from the visit before; `None` on a first visit, and without content.
    pub changed: Option<bool>,
    /// How it was stored.
    pub stored: Stored,
    /// Where it is.
    pub location: archive::Location,
}

/// Counts of a crawl. `docs/reference/figures.md` defines each of them for users.
///
/// **Invariant:** once a crawl has ended, `requests` = `pages` + `requisites` + `robots` + `unanswered` + `cut_off`,
/// less what was not archived: a full disk, a takedown, a network outage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrawlReport {
    /// HTTP requests that were sent, for pages and robots files. Name look-ups and refusals do not count.
    pub requests: u64,
    /// Requests that got no answer.
    pub unanswered: u64,
    /// Requests that were under way when the crawl stopped.
    pub cut_off: u64,
    /// Answers to requests for pages that are durable: the sum of the seven counts that follow.
    pub pages: u64,
    /// First visits that brought content the archive did not have.
    pub new: u64,
    /// First visits that brought content the archive had already, from another URL.
    pub duplicates: u64,
    /// Later visits that found other content than the visit before.
    pub changed: u64,
    /// Later visits that found the content of the visit before.
    pub unchanged: u64,
    /// Redirects.
    pub moved: u64,
    /// Answers 404 and 410.
    pub gone: u64,
    /// Other error answers.
    pub failed: u64,
    /// Answers to requests for robots files that are durable.
    pub robots: u64,
    /// Durable answers to requests for requisites (images, style sheets, fonts, scripts). They do not count as pages.
    pub requisites: u64,
    /// Visits to such files that brought nothing: gone, failed, refused or unreachable.
    pub requisites_missing: u64,
    /// Visits to pages that were not made because robots rules, the opt-out list or the address forbid it. Nothing was sent.
    pub refused: u64,
    /// Visits to pages that got no answer, or whose server could not be looked up.
    pub unreachable: u64,
    /// Bytes received from servers.
    pub bytes_received: u64,
    /// Bytes added to the archive.
    pub bytes_written: u64,
    /// Servers known.
    pub servers: u64,
    /// Pages known.
    pub known: u64,
    /// Pages known and never visited.
    pub waiting: u64,
    /// Links that were not accepted: outside the scope, or of a server with too many pages.
    pub dropped: u64,
    /// Pages and links that are held back, by reason (H10).
    pub held_back: HeldBack,
    /// Pages whose last visit failed, in this run or before. A missing page is not a failure.
    pub failing: u64,
    /// Captures that could not be kept because the disk was full when the crawl ended.
    pub lost: u64,
    /// The longest time that the archive had to wait for room on the disk.
    pub full: Interval,
}

impl CrawlReport {
    /// Counts one durable capture.
    pub fn count(&mut self, kept: &ArchivedCapture, bytes_written: u64) {
        self.bytes_written += bytes_written;
        if kept.robots {
            self.robots += u64::from(kept.stored != Stored::Metadata);
            return;
        }
        if kept.requisite {
            self.requisites += u64::from(is_answered(&kept.outcome));
            self.requisites_missing += u64::from(brought_nothing(&kept.outcome));
            return;
        }
        let is_known = kept.stored == Stored::Revisit;
        let count = match (&kept.outcome, kept.changed) {
            (Outcome::Fetched { .. }, None) if is_known => &mut self.duplicates,
            (Outcome::Fetched { .. }, None) => &mut self.new,
            (Outcome::Fetched { .. }, Some(true)) => &mut self.changed,
            (Outcome::Fetched { .. }, Some(false)) | (Outcome::NotModified, _) => &mut self.unchanged,
            (Outcome::Moved { .. }, _) => &mut self.moved,
            (Outcome::Gone { .. }, _) => &mut self.gone,
            (Outcome::Failed { .. }, _) => &mut self.failed,
            (Outcome::Refused(_), _) => &mut self.refused,
            (Outcome::Unreachable(_), _) => &mut self.unreachable,
        };
        *count += 1;
        self.pages += u64::from(is_answered(&kept.outcome));
    }

    /// Counts one request that ended.
    pub(crate) fn count_request(&mut self, capture: &Capture) {
        let is_unanswered = matches!(capture.outcome, Outcome::Unreachable(_));
        self.requests += u64::from(is_unanswered || capture.exchange.is_some());
        self.unanswered += u64::from(is_unanswered);
    }
}

fn is_answered(outcome: &Outcome) -> bool {
    !matches!(outcome, Outcome::Refused(_) | Outcome::Unreachable(_))
}
fn brought_nothing(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Fetched { .. } | Outcome::NotModified | Outcome::Moved { .. } => false,
        Outcome::Gone { .. } | Outcome::Failed { .. } | Outcome::Refused(_) | Outcome::Unreachable(_) => true,
    }
}
