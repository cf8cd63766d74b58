//! The meaning of the response to a robots fetch (RFC 9309 §2.3.1).

use crate::RobotsRules;
use base::door::Truncation;
use base::limits::ROBOTS_BYTES_MAX;
use base::{Interval, Outcome, PageUrl, Refusal};
use std::sync::Arc;

/// The result of one robots fetch.
#[derive(Clone, Debug)]
pub enum RobotsAnswer {
    /// The file, parsed for our agent (2xx).
    Rules(Arc<RobotsRules>),
    /// It is at another URL (3xx).
    Elsewhere(PageUrl),
    /// It does not exist (4xx): nothing is refused.
    Absent,
    /// It is unreachable (5xx, 429, no response, a truncated response, or a forbidden request): everything is refused. With
    /// the time the server asks us to wait, if any.
    Unreachable(Option<Interval>),
}

impl RobotsAnswer {
    /// Interprets the response to a robots fetch, given its decoded text.
    ///
    /// A truncated file may lack the line that forbids a page, so it counts as unreachable, unless it was cut after the part
    /// of a file that is ever read.
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
