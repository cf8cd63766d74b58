//! Which servers a web has and how its pages are divided among them.
//!
//! **Invariant:** memory is one number per server, however many pages there are.

use crate::Plan;
use crate::name::Names;

/// The plan of a web, the names of its servers and the number of pages of each.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    plan: Plan,
    names: Names,
    /// The number of the first page of each server among all pages, and the number of all pages at the end.
    first_pages: Vec<u64>,
}

impl Layout {
    /// The layout of a plan. Every server has a home page, so there are at least as many pages as servers.
    ///
    /// # Panics
    /// When the plan has no server, or more servers than there are addresses.
    pub(crate) fn new(plan: Plan) -> Self {
        assert!(plan.servers > 0, "a web has a server");
        let names = Names::new(plan.seed, plan.servers, plan.hostile);
        let first_pages = first_pages(plan.pages, plan.servers);
        Self { plan, names, first_pages }
    }
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }
    pub(crate) fn names(&self) -> &Names {
        &self.names
    }
    /// Number of pages of all honest servers.
    pub(crate) fn pages(&self) -> u64 {
        *self.first_pages.last().expect("a web has a server")
    }
    /// Number of pages of honest server `number`.
    pub(crate) fn server_pages(&self, number: u32) -> u64 {
        let at = number as usize;
        self.first_pages[at + 1] - self.first_pages[at]
    }
    /// Bytes of memory outside of the struct itself.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.first_pages.capacity() * size_of::<u64>()
    }
}

/// Divides the pages: one per server, the rest in proportion to (rank + 1)^−¾, so that a few servers have most of them.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "shares are estimated in doubles and made exact in whole numbers"
)]
fn first_pages(pages: u64, servers: u32) -> Vec<u64> {
    let weight = |rank: u32| 1.0 / (f64::from(rank + 1).sqrt() * f64::from(rank + 1).sqrt().sqrt());
    let all: f64 = (0..servers).map(weight).sum();
    let spare = pages.saturating_sub(u64::from(servers));
    let share = |rank: u32| (spare as f64 * (weight(rank) / all)) as u64;
    let mut left = spare.saturating_sub((0..servers).map(share).sum());
    let mut first_pages = vec![0];
    let mut total = 0;
    for rank in 0..servers {
        // Pages left over by rounding go to the first servers, one each; the last server gets what still remains.
        let extra = if rank + 1 == servers { left } else { left.min(1) };
        left -= extra;
        total += 1 + share(rank) + extra;
        first_pages.push(total);
    }
    first_pages
}
