//! What a crawl leaves undone at its end: pages that could not be fetched, seeds that lead elsewhere or nowhere.

use base::PageUrl;
use frontier::{Failing, Frontier, SeedReport};

/// Maximum number of unfetched pages that are listed.
const FAILING_MAX: usize = 100_000;

/// What a crawl leaves undone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remains {
    /// The pages whose last visit failed; only of a crawl that ends when nothing new is left.
    pub failing: Vec<Failing>,
    /// The seeds of this run that lead elsewhere, or of which nothing could be fetched.
    pub seeds: Vec<SeedReport>,
}

impl Remains {
    /// Collects what is left undone.
    pub(crate) fn find(
        frontier: &mut Frontier,
        seeds: &[PageUrl],
        is_complete: bool,
    ) -> Result<Self, frontier::Error> {
        let failing = if is_complete { frontier.failing(FAILING_MAX)? } else { Vec::new() };
        let mut told = Vec::new();
        for seed in seeds {
            told.push(frontier.seed(seed)?);
        }
        told.retain(|seed| seed.is_lost || seed.target.is_some());
        Ok(Self { failing, seeds: told })
    }
}
