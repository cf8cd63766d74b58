//! What earlier runs learned about robots files, from the archive (D3).
//!
//! The archived answers are replayed: those of the last attempt and, if that brought no file, those of the attempts
//! before it, back to one that did. So a file fetched within the day is not requested again after a restart, and an old
//! copy of an unreachable one stays in use for as long as before. Files that were taken down are no longer in the
//! archive, so their rules are lost.
//!
//! **Invariant:** an archived answer teaches the same as the live one; both are read by [`RobotsAnswer::read`].

use archive::{Entry, Reader, Stored};
use base::limits::{ROBOTS_LIFETIME, ROBOTS_STALE_MAX};
use base::url::Origin;
use base::{PageUrl, RefusalKind, Timestamp};
use robots::{Need, RobotsAnswer, Standing};

/// Maximum number of attempts that are read for one file: a month of them.
const TRIES_MAX: usize = 64;

/// What is known about the robots files at `homes`; those without archived answers are left out.
///
/// # Errors
/// When the archive cannot be read.
pub fn recall_robots(
    reader: &Reader,
    agent: &str,
    homes: impl IntoIterator<Item = PageUrl>,
) -> Result<Vec<(Origin, Standing)>, archive::Error> {
    let memory = Memory { reader, agent };
    let known = homes.into_iter().map(|home| {
        let origin = home.origin();
        Ok(memory.standing(home)?.map(|standing| (origin, standing)))
    });
    known.filter_map(Result::transpose).collect()
}

struct Memory<'a> {
    reader: &'a Reader,
    agent: &'a str,
}

/// The answers of one attempt, each with its moment: redirects, and their targets.
type Try = Vec<(RobotsAnswer, Timestamp)>;

impl Memory<'_> {
    fn standing(&self, home: PageUrl) -> Result<Option<Standing>, archive::Error> {
        let tries = self.tries(&home)?;
        let mut standing = Standing::new(home);
        for (answer, at) in tries.iter().rev().flatten() {
            standing.learn(answer, *at);
        }
        Ok((!tries.is_empty()).then_some(standing))
    }

    /// The attempts from the last one back to one that settled the rules.
    fn tries(&self, home: &PageUrl) -> Result<Vec<Try>, archive::Error> {
        let mut tries: Vec<Try> = Vec::new();
        let (mut newest, mut ends) = (None, Timestamp::MAX);
        for entry in self.reader.newest_first(&home.key().into())? {
            let entry = entry?;
            let is_too_old = entry.at.plus(ROBOTS_STALE_MAX) < *newest.get_or_insert(entry.at);
            if is_too_old || tries.len() >= TRIES_MAX {
                break;
            }
            if entry.url != home.as_str() {
                continue;
            }
            let Some(answers) = self.a_try(home, &entry, ends)? else { continue };
            ends = entry.at;
            let settles = is_settled(home, &answers);
            tries.push(answers);
            if settles {
                break;
            }
        }
        Ok(tries)
    }

    /// One attempt: the answer at home and, after a redirect, the answers there before the next attempt.
    fn a_try(&self, home: &PageUrl, entry: &Entry, ends: Timestamp) -> Result<Option<Try>, archive::Error> {
        let Some(first) = self.answer(entry)? else { return Ok(None) };
        let mut standing = Standing::new(home.clone());
        let (mut answers, mut at) = (Try::new(), entry.at);
        let mut next = Some(first);
        while let Some(answer) = next.take() {
            standing.learn(&answer, at);
            answers.push((answer, at));
            let Need::Ask(place) = standing.needs(at) else { break };
            if let Some((answer, came)) = self.hop(&place, at, ends)? {
                at = came;
                next = Some(answer);
            }
        }
        Ok(Some(answers))
    }

    /// The last answer of a redirect's target. It may have come before the redirect, because all that are redirected to
    /// one file share its answer.
    fn hop(
        &self,
        place: &PageUrl,
        from: Timestamp,
        ends: Timestamp,
    ) -> Result<Option<(RobotsAnswer, Timestamp)>, archive::Error> {
        for entry in self.reader.newest_first(&place.key().into())? {
            let entry = entry?;
            if entry.at.plus(ROBOTS_LIFETIME) < from {
                break;
            }
            // A request that a proxy refused did not reach the server, so it says nothing about the file.
            let is_by_proxy =
                || self.reader.refusal(&entry).is_ok_and(|kind| kind == Some(RefusalKind::Proxy));
            if entry.at < ends && entry.url == place.as_str() && !is_by_proxy() {
                return Ok(self.answer(&entry)?.map(|answer| (answer, entry.at)));
            }
        }
        Ok(None)
    }

    /// What an archived answer means; `None` if its record is damaged.
    fn answer(&self, entry: &Entry) -> Result<Option<RobotsAnswer>, archive::Error> {
        let Ok(url) = PageUrl::parse(&entry.url) else { return Ok(None) };
        if entry.kind == Stored::Metadata {
            return Ok(Some(RobotsAnswer::Unreachable(None)));
        }
        let exchange = match self.reader.exchange(entry) {
            Err(error @ archive::Error::Damaged { .. }) => {
                tracing::warn!(%url, %error, "a robots file cannot be read back, and is fetched again");
                return Ok(None);
            }
            other => other?,
        };
        let Some(exchange) = exchange else { return Ok(None) };
        let outcome = fetch::outcome(&url, &Ok(exchange.clone()));
        let text = fetch::robots_text(&exchange);
        Ok(Some(RobotsAnswer::read(&outcome, text.as_deref(), self.agent)))
    }
}

/// Whether nothing older can matter: the file came, or there was none.
fn is_settled(home: &PageUrl, answers: &Try) -> bool {
    let mut standing = Standing::new(home.clone());
    let Some((_, at)) = answers.last() else { return false };
    answers.iter().for_each(|(answer, at)| standing.learn(answer, *at));
    matches!(standing.needs(*at), Need::Known(_))
}
