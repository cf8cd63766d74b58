//! Seeds that lead elsewhere: on a seed's first answered visit the target of its redirect becomes a seed, too.
//!
//! Where seeds lead is kept in the table of the store, so that the scope is the same in the next run. A rebuilt
//! schedule restores it from the redirects in the archive.

use super::Frontier;
use super::offer::Origin;
use super::persist::SEED;
use crate::FoundUrl;
use crate::error::Result;
use crate::report::SeedReport;
use crate::scope::ScopeVerdict;
use crate::state::{LastOutcome, State};
use base::limits::REDIRECTS_MAX;
use base::{PageUrl, Timestamp};
use sat::Number;

impl Frontier {
    /// Makes the target of a seed's redirect a seed, up to a limit (H4).
    pub(super) fn follow_seed(
        &mut self,
        from: Number,
        state: &State,
        target: &PageUrl,
        at: Timestamp,
    ) -> Result<()> {
        let Some(hops) = self.next_hop(state) else { return Ok(()) };
        tracing::info!(seed = %state.url, %target, "a seed leads elsewhere, and its target is a seed, too");
        self.settings.scope.add_seed(target);
        self.set(&[SEED, target.as_str().as_bytes()].concat(), &[])?;
        let found = FoundUrl { url: target.clone(), role: state.role, announced: None };
        let origin = Origin { page: Some(from), hops, is_seed: true, vouched: true };
        self.accept(&found, origin, Some(0), at).map(|_| ())
    }

    /// A report on a seed: where it leads, and how the last visit there ended.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn seed(&mut self, seed: &PageUrl) -> Result<SeedReport> {
        let mut told = SeedReport { url: seed.as_str().to_owned(), ..SeedReport::default() };
        let (mut url, mut passed) = (seed.clone(), Vec::new());
        for _ in 0..=REDIRECTS_MAX {
            url = self.by_proper_name(&url, &url.key()).unwrap_or(url);
            let key = url.key();
            if passed.contains(&key) {
                return Ok(SeedReport { ended: SeedReport::LOOP, is_lost: true, ..told });
            }
            let Some(record) = self.store.get(key.as_str().as_bytes())? else {
                return Ok(self.unknown_seed(told, &url));
            };
            passed.push(key);
            let state = State::read(&record.value).unwrap_or_default();
            if state.outcome != LastOutcome::Moved {
                return Ok(ended_seed(told, &state));
            }
            match PageUrl::parse(&state.moved_to) {
                Ok(target) => url = target,
                Err(_) => return Ok(SeedReport { ended: SeedReport::NOWHERE, is_lost: true, ..told }),
            }
            told.target = Some(url.as_str().to_owned());
        }
        Ok(SeedReport { ended: SeedReport::LOOP, is_lost: true, ..told })
    }
    /// A seed, or where it leads, that is not known: it was left out, or waits to be judged.
    fn unknown_seed(&self, told: SeedReport, url: &PageUrl) -> SeedReport {
        match self.settings.scope.judge(url) {
            ScopeVerdict::Leave(rule) => SeedReport { reason: Some(rule), is_lost: true, ..told },
            ScopeVerdict::Visit { .. } => told,
        }
    }
}

fn ended_seed(told: SeedReport, state: &State) -> SeedReport {
    let is_lost = !state.is_new() && (state.visits == 0 || state.is_gone());
    let reason = (state.status > 0 && is_lost).then(|| format!("status {}", state.status));
    SeedReport { ended: state.outcome.as_str(), reason, is_lost, ..told }
}
