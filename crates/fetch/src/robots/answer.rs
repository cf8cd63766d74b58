//! What the answer to a robots request means (RFC 9309 §2.3.1).

use super::Rules;
use base::door::{Exchange, Truncation};
use base::limits::ROBOTS_BYTES_MAX;
use base::{Interval, Outcome, PageUrl, Refusal};
use std::sync::Arc;

/// What came of asking for a robots file once.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The file, read for us (2xx).
    Rules(Arc<Rules>),
    /// It is to be had there (3xx).
    Elsewhere(PageUrl),
    /// There is none (4xx): nothing is refused.
    Absent,
    /// It cannot be had (5xx, 429, no answer, half an answer, or we may not ask): everything is refused. How long the
    /// server asks to be left alone, if it does.
    Unreachable(Option<Interval>),
}

impl Answer {
    /// Reads the answer that a visit to a robots file brought, with its [`text`].
    ///
    /// A file that broke off may have lost the very line that forbids, so it counts as none; unless all that is ever
    /// read of a file had come by then.
    #[must_use]
    pub fn read(outcome: &Outcome, text: Option<&[u8]>, agent: &str) -> Self {
        match (outcome, text) {
            (Outcome::Fetched { truncated, .. }, Some(text)) if is_enough(*truncated, text) => {
                Self::Rules(Arc::new(Rules::for_agent(text, agent)))
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

/// The text of a robots file, its codings removed; nothing when it is coded in a way that cannot be read within the
/// limits.
#[must_use]
pub fn text(exchange: &Exchange) -> Option<Vec<u8>> {
    text_of(&coding::content(exchange)).map(<[u8]>::to_vec)
}

/// The text of a robots file that was decoded as far as that goes: all that is ever read of one, and a byte more, which
/// tells whether a line was cut. A coding that breaks off behind that does no harm.
#[must_use]
pub fn text_of<'a>(decoded: &'a coding::Decoded<'_>) -> Option<&'a [u8]> {
    let text = match decoded {
        coding::Decoded::Whole(text) => text.as_ref(),
        coding::Decoded::Broken { got } if got.len() >= ROBOTS_BYTES_MAX => got,
        _ => return None,
    };
    Some(text.get(..=ROBOTS_BYTES_MAX).unwrap_or(text))
}
