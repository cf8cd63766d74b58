//! What the answer to a robots request means (RFC 9309 §2.3.1).

use crate::RobotsRules;
use base::door::Truncation;
use base::limits::ROBOTS_BYTES_MAX;
use base::{Interval, Outcome, PageUrl, Refusal};
use std::sync::Arc;

/// What came of asking for a robots file once.
#[derive(Clone, Debug)]
pub enum RobotsAnswer {
    /// The file, read for us (2xx).
    Rules(Arc<RobotsRules>),
    /// It is to be had there (3xx).
    Elsewhere(PageUrl),
    /// There is none (4xx): nothing is refused.
    Absent,
    /// It cannot be had (5xx, 429, no answer, half an answer, or we may not ask): everything is refused. How long the
    /// server asks to be left alone, if it does.
    Unreachable(Option<Interval>),
}

impl RobotsAnswer {
    /// Reads the answer that a visit to a robots file brought, with its decoded text.
    ///
    /// A file that broke off may have lost the very line that forbids, so it counts as none; unless all that is ever
    /// read of a file had come by then.
    #[must_use]
    pub fn read(outcome: &Outcome, text: Option<&[u8]>, agent: &str) -> Self {
        match (outcome, text) {
            (Outcome::Fetched { truncated, .. }, Some(text)) if is_enough(*truncated, text) => {
                Self::Rules(Arc::new(RobotsRules::for_agent(text, agent)))
            }
            (Outcome::Moved { target: Some(target), .. }, _) => Self::Elsewhere(target.clone()),
            (Outcome::Gone { .. }, _) => Self::Absent,
            (Outcome::Failed { status, .. }, _) if (400..500).contains(status) && *status != 429 => {
                Self::Absent
            }
            (
                Outcome::Failed { retry_after, .. } | Outcome::Refused(Refusal::Proxy { retry_after, .. }),
                _,
            ) => Self::Unreachable(*retry_after),
            _ => Self::Unreachable(None),
        }
    }
}

fn is_enough(truncated: Option<Truncation>, text: &[u8]) -> bool {
    truncated.is_none() || text.len() >= ROBOTS_BYTES_MAX
}
