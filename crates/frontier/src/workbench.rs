//! The workbench: the pages that are loaded from the store, and the servers that may have something to do.
//!
//! A loaded page is in the queue of its server, is held back, waits for a retry, or is being visited. Byte counts and page
//! counts change only here.
//!
//! **Invariant:** a page is in one place at a time, and [`Workbench::location`] names it.
//!
//! **Invariant:** `bytes` and `queued` are the sums over all queues; `held_back` is the number of pages that are held back in
//! memory.
//!
//! **Invariant:** an entry of the ready heap counts only while its server is listed for that moment.

use crate::loaded_page::{LoadedPage, Rank};
use crate::servers::ServerId;
use crate::trap::UrlShape;
use base::Timestamp;
use sat::{Minute, Number};
use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};

/// The memory of a page that is held back.
const HELD_BACK_BYTES: usize = 128;
/// The maximum number of pages that wait here for a retry. The others wait in the store.
const RETRIES_MAX: usize = 10_000;

/// Where a loaded page is.
#[derive(Debug)]
pub(crate) enum PageLocation {
    /// In the queue of its server.
    Queued(ServerId, Rank),
    /// It is held back.
    HeldBack(ServerId),
    /// Its visit failed, and it waits to be visited again soon.
    Retrying(ServerId, LoadedPage),
    /// It is being visited, or its capture is being archived.
    Visiting(ServerId, LoadedPage),
}

/// The pages that are loaded, and the servers that may have something to do.
#[derive(Debug, Default)]
pub(crate) struct Workbench {
    queues: Vec<Queue>,
    locations: HashMap<u32, PageLocation>,
    /// Servers by the moment at which they may have something to do; among equals, first listed, first served.
    ready: BinaryHeap<Reverse<(Timestamp, u64, ServerId)>>,
    listings: u64,
    retries: BinaryHeap<Reverse<(Timestamp, u32)>>,
    bytes: usize,
    queued: u64,
    held_back: usize,
    /// How far the store has been read, and whether there was no room for the rest.
    pub(crate) refilled_to: Option<Minute>,
    pub(crate) is_full: bool,
}

/// The loaded pages of one server.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pages: BTreeMap<Rank, LoadedPage>,
    /// New pages that are held back, by number and shape, as far as memory has them.
    held_back: BTreeMap<UrlShape, VecDeque<u32>>,
    held_back_count: usize,
    /// Queued pages that are visited although their shape is suspected.
    sampled: Vec<u32>,
    /// The moment for which the server is listed as ready.
    listed_at: Option<Timestamp>,
}

static EMPTY: Queue = Queue {
    pages: BTreeMap::new(),
    held_back: BTreeMap::new(),
    held_back_count: 0,
    sampled: Vec::new(),
    listed_at: None,
};

impl Queue {
    /// The rank of the next page.
    pub(crate) fn first(&self) -> Option<Rank> {
        self.pages.first_key_value().map(|(rank, _)| *rank)
    }
    /// The next page that waits for the budget.
    pub(crate) fn first_gated(&self) -> Option<(Rank, &LoadedPage)> {
        self.pages.range(Rank::GATED..).next().map(|(rank, page)| (*rank, page))
    }
    /// Whether the next page needs no budget.
    pub(crate) fn has_free(&self) -> bool {
        self.first().is_some_and(|rank| !rank.is_gated)
    }
    pub(crate) fn get(&self, rank: Rank) -> Option<&LoadedPage> {
        self.pages.get(&rank)
    }
    pub(crate) fn len(&self) -> usize {
        self.pages.len()
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }
    /// The page to postpone after `added` joined a queue of at most `max` pages; none if there is room. Neither new pages nor
    /// revisits take more than half from the other.
    pub(crate) fn surplus(&self, added: Rank, max: usize) -> Option<Rank> {
        if self.pages.len() <= max {
            return None;
        }
        let is_revisits = added.is_gated && self.pages.range(Rank::GATED..).count() > max / 2;
        let free = self.pages.range(..Rank::GATED).next_back().map(|(rank, _)| *rank);
        free.filter(|_| !is_revisits).or_else(|| self.pages.last_key_value().map(|(rank, _)| *rank))
    }
    /// Whether a queued page is visited although its shape is suspected.
    pub(crate) fn is_sampled(&self, page: Number) -> bool {
        self.sampled.contains(&page.0)
    }
    /// How many pages are held back in memory.
    pub(crate) fn held_back_count(&self) -> usize {
        self.held_back_count
    }
    /// The shapes of the pages that are held back in memory.
    pub(crate) fn held_back_shapes(&self) -> impl Iterator<Item = UrlShape> + '_ {
        self.held_back.keys().copied()
    }
    /// The moment for which the server is listed as ready.
    pub(crate) fn listed_at(&self) -> Option<Timestamp> {
        self.listed_at
    }
}

impl Workbench {
    /// The queue of a server.
    pub(crate) fn queue(&self, server: ServerId) -> &Queue {
        self.queues.get(server.position()).unwrap_or(&EMPTY)
    }
    fn queue_mut(&mut self, server: ServerId) -> &mut Queue {
        if self.queues.len() <= server.position() {
            self.queues.resize_with(server.position() + 1, Queue::default);
        }
        &mut self.queues[server.position()]
    }
    /// Where a page is, if it is loaded.
    pub(crate) fn location(&self, page: Number) -> Option<&PageLocation> {
        self.locations.get(&page.0)
    }
    /// The memory that queued pages take.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
    /// How many pages are queued, over all servers.
    pub(crate) fn queued(&self) -> u64 {
        self.queued
    }

    /// Puts a page into the queue of its server.
    ///
    /// # Panics
    /// When another page has its rank.
    pub(crate) fn enqueue(&mut self, server: ServerId, rank: Rank, page: LoadedPage) {
        self.bytes += page.memory_bytes();
        self.queued += 1;
        self.locations.insert(page.number.0, PageLocation::Queued(server, rank));
        let before = self.queue_mut(server).pages.insert(rank, page);
        assert!(before.is_none(), "a page is queued once");
    }
    /// Takes a page out of the queue of its server.
    pub(crate) fn dequeue(&mut self, server: ServerId, rank: Rank) -> Option<LoadedPage> {
        let queue = self.queue_mut(server);
        let page = queue.pages.remove(&rank)?;
        queue.sampled.retain(|sampled| *sampled != page.number.0);
        self.locations.remove(&page.number.0);
        self.bytes = self.bytes.checked_sub(page.memory_bytes()).expect("a queued page was counted in bytes");
        self.queued = self.queued.checked_sub(1).expect("a queued page was counted");
        Some(page)
    }
    /// Moves a queued page before all others that wait for the budget. Returns its new rank.
    pub(crate) fn move_to_front(&mut self, page: Number) -> Option<Rank> {
        let Some(PageLocation::Queued(server, rank)) = self.locations.get_mut(&page.0) else { return None };
        let (server, before) = (*server, std::mem::replace(rank, Rank::foremost(page)));
        let queue = self.queue_mut(server);
        let loaded = queue.pages.remove(&before).expect("a queued page is in its queue");
        queue.pages.insert(Rank::foremost(page), loaded);
        Some(Rank::foremost(page))
    }
    /// Removes a page that is about to be written in another state. A page that is being visited stays.
    pub(crate) fn unload(&mut self, page: Number) {
        match self.locations.get(&page.0) {
            Some(PageLocation::Queued(server, rank)) => {
                let (server, rank) = (*server, *rank);
                self.dequeue(server, rank).expect("a queued page is in its queue");
            }
            Some(PageLocation::HeldBack(server)) => self.stop_holding(*server, page),
            Some(PageLocation::Retrying(..)) => _ = self.locations.remove(&page.0),
            Some(PageLocation::Visiting(..)) | None => {}
        }
    }

    /// Takes a page out of its queue to be visited.
    pub(crate) fn start_visit(&mut self, server: ServerId, rank: Rank) -> Option<Number> {
        let page = self.dequeue(server, rank)?;
        let number = page.number;
        self.locations.insert(number.0, PageLocation::Visiting(server, page));
        Some(number)
    }
    /// The same for a page by its number, if it is queued.
    pub(crate) fn start_visit_of(&mut self, page: Number) {
        if let Some(PageLocation::Queued(server, rank)) = self.locations.get(&page.0) {
            let (server, rank) = (*server, *rank);
            self.start_visit(server, rank);
        }
    }
    /// The visit of a page is over.
    pub(crate) fn end_visit(&mut self, page: Number) -> Option<(ServerId, LoadedPage)> {
        match self.locations.entry(page.0) {
            std::collections::hash_map::Entry::Occupied(entry)
                if matches!(entry.get(), PageLocation::Visiting(..)) =>
            {
                let PageLocation::Visiting(server, page) = entry.remove() else { return None };
                Some((server, page))
            }
            _ => None,
        }
    }
    /// A page that is being visited.
    pub(crate) fn visiting(&self, page: Number) -> Option<&LoadedPage> {
        match self.locations.get(&page.0) {
            Some(PageLocation::Visiting(_, loaded)) => Some(loaded),
            _ => None,
        }
    }
    /// The state of a page was written. If it is being visited, the result is learned on top of that state.
    pub(crate) fn refresh(&mut self, page: Number, key: &[u8], value: &[u8]) {
        if let Some(PageLocation::Visiting(_, loaded)) = self.locations.get_mut(&page.0) {
            *loaded = LoadedPage::new(page, key, value);
        }
    }

    /// Whether memory has room for one more page that is held back.
    pub(crate) fn has_room_to_hold(&self, queue_bytes_max: usize) -> bool {
        self.held_back < queue_bytes_max / 4 / HELD_BACK_BYTES
    }
    /// Holds back a page that is not loaded.
    pub(crate) fn hold(&mut self, server: ServerId, shape: UrlShape, page: Number) {
        self.held_back += 1;
        self.locations.insert(page.0, PageLocation::HeldBack(server));
        let queue = self.queue_mut(server);
        queue.held_back_count += 1;
        queue.held_back.entry(shape).or_default().push_back(page.0);
    }
    /// Removes one of the pages of a shape that are held back: the first, or another one by a draw.
    pub(crate) fn take_held(&mut self, server: ServerId, shape: UrlShape, draw: u64) -> Option<Number> {
        let queue = self.queue_mut(server);
        let Entry::Occupied(mut pages) = queue.held_back.entry(shape) else { return None };
        let at = usize::try_from(draw).unwrap_or(0) % pages.get().len().max(1);
        let page = pages.get_mut().swap_remove_front(at);
        if pages.get().is_empty() {
            pages.remove();
        }
        let page = Number(page?);
        self.count_released(server);
        self.locations.remove(&page.0);
        Some(page)
    }
    fn stop_holding(&mut self, server: ServerId, page: Number) {
        let queue = self.queue_mut(server);
        let found = queue.held_back.iter_mut().find_map(|(shape, pages)| {
            let at = pages.iter().position(|other| *other == page.0)?;
            pages.remove(at);
            Some((*shape, pages.is_empty()))
        });
        let (shape, is_empty) = found.expect("a page that is held back is in the list of its shape");
        if is_empty {
            queue.held_back.remove(&shape);
        }
        self.count_released(server);
        self.locations.remove(&page.0);
    }
    fn count_released(&mut self, server: ServerId) {
        const COUNTED: &str = "a page that is held back was counted";
        let count = &mut self.queue_mut(server).held_back_count;
        *count = count.checked_sub(1).expect(COUNTED);
        self.held_back = self.held_back.checked_sub(1).expect(COUNTED);
    }
    /// The page is about to be queued, and is visited although its shape is suspected.
    pub(crate) fn sample(&mut self, server: ServerId, page: Number) {
        self.queue_mut(server).sampled.push(page.0);
    }

    /// Keeps a page until its visit is retried. Without room it comes back from the store.
    pub(crate) fn retry_at(&mut self, server: ServerId, page: LoadedPage, at: Timestamp) {
        if self.retries.len() < RETRIES_MAX {
            self.retries.push(Reverse((at, page.number.0)));
            self.locations.insert(page.number.0, PageLocation::Retrying(server, page));
        }
    }
    /// When the first retry is due.
    pub(crate) fn next_retry(&self) -> Option<Timestamp> {
        self.retries.peek().map(|Reverse((at, _))| *at)
    }
    /// A page whose retry is due.
    pub(crate) fn take_retry(&mut self, now: Timestamp) -> Option<(ServerId, LoadedPage)> {
        while self.next_retry().is_some_and(|at| at <= now) {
            let Reverse((_, number)) = self.retries.pop()?;
            // It may have been unloaded or visited meanwhile.
            if let Some(PageLocation::Retrying(..)) = self.locations.get(&number)
                && let Some(PageLocation::Retrying(server, page)) = self.locations.remove(&number)
            {
                return Some((server, page));
            }
        }
        None
    }

    /// Lists a server for the moment at which it may have something to do.
    pub(crate) fn list_at(&mut self, server: ServerId, at: Timestamp) {
        self.listings += 1;
        self.queue_mut(server).listed_at = Some(at);
        self.ready.push(Reverse((at, self.listings, server)));
    }
    /// The server is no longer listed. Returns whether it was, for this moment.
    pub(crate) fn unlist(&mut self, server: ServerId, listed: Timestamp) -> bool {
        let queue = self.queue_mut(server);
        let is_listed = queue.listed_at == Some(listed);
        if is_listed {
            queue.listed_at = None;
        }
        is_listed
    }
    /// When the first listed server may have something to do.
    pub(crate) fn next_ready(&self) -> Option<Timestamp> {
        self.ready.peek().map(|Reverse((at, ..))| *at)
    }
    /// The first listed server.
    pub(crate) fn pop_ready(&mut self) -> Option<(Timestamp, ServerId)> {
        self.ready.pop().map(|Reverse((at, _, server))| (at, server))
    }
    /// The first server that is ready by `now` and fit. It stays listed.
    pub(crate) fn find_ready(
        &self,
        now: Timestamp,
        is_fit: impl Fn(ServerId) -> bool,
    ) -> Option<(Timestamp, ServerId)> {
        let ready = self.ready.iter().map(|Reverse(entry)| *entry).filter(|(at, _, server)| {
            *at <= now && is_fit(*server) && self.queue(*server).listed_at == Some(*at)
        });
        ready.min().map(|(at, _, server)| (at, server))
    }

    /// Checks the invariants by counting everything again.
    #[cfg(test)]
    pub(crate) fn check(&self) {
        let pages = || self.queues.iter().flat_map(|queue| queue.pages.iter());
        assert_eq!(self.queued, pages().count() as u64);
        assert_eq!(self.bytes, pages().map(|(_, page)| page.memory_bytes()).sum::<usize>());
        let held = |queue: &Queue| queue.held_back.values().map(VecDeque::len).sum::<usize>();
        assert!(self.queues.iter().all(|queue| held(queue) == queue.held_back_count));
        assert_eq!(self.held_back, self.queues.iter().map(held).sum::<usize>());
        for (position, queue) in self.queues.iter().enumerate() {
            for (rank, page) in &queue.pages {
                let location = self.location(page.number);
                assert!(
                    matches!(location, Some(PageLocation::Queued(server, at)) if *at == *rank && server.position() == position),
                    "{location:?}"
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;
    use crate::revisit::RevisitPolicy;
    use crate::state::State;

    const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000).expect("in range");

    fn page(number: u32) -> (Rank, LoadedPage) {
        let state = State::new("http://a.example/", Role::Page, 0, NOW);
        let mut value = Vec::new();
        state.write(&mut value);
        let page = LoadedPage::new(Number(number), b"example,a)/", &value);
        (page.rank(&state, &RevisitPolicy::default()), page)
    }
    fn server() -> ServerId {
        ServerId::at(3)
    }

    #[test]
    fn a_page_is_in_one_place_and_its_bytes_are_counted_while_it_is_queued() {
        let mut bench = Workbench::default();
        let (rank, one) = page(1);
        let bytes = one.memory_bytes();
        bench.enqueue(server(), rank, one);
        bench.check();
        assert_eq!((bench.queued(), bench.bytes()), (1, bytes));
        assert_eq!(bench.start_visit(server(), rank), Some(Number(1)));
        bench.check();
        assert_eq!((bench.queued(), bench.bytes()), (0, 0));
        bench.unload(Number(1));
        assert!(bench.visiting(Number(1)).is_some(), "a page that is visited stays");
        assert!(bench.end_visit(Number(1)).is_some() && bench.location(Number(1)).is_none());
        assert!(bench.end_visit(Number(1)).is_none());
    }

    #[test]
    fn a_full_queue_gives_up_new_pages_before_revisits_take_more_than_half() {
        let mut bench = Workbench::default();
        let ranks: Vec<Rank> = (0..4)
            .map(|number| {
                let (rank, page) = page(number);
                bench.enqueue(server(), rank, page);
                rank
            })
            .collect();
        let queue = bench.queue(server());
        assert_eq!(queue.surplus(ranks[3], 4), None);
        assert_eq!(queue.surplus(ranks[0], 3), Some(ranks[3]), "the last one");
    }

    #[test]
    fn pages_that_are_held_back_are_counted_and_taken_by_shape() {
        let mut bench = Workbench::default();
        let (one, other) = (UrlShape::of("/a/1"), UrlShape::of("/b?x=1"));
        bench.hold(server(), one, Number(1));
        bench.hold(server(), one, Number(2));
        bench.hold(server(), other, Number(3));
        bench.check();
        bench.unload(Number(2));
        bench.check();
        assert_eq!(bench.take_held(server(), one, 0), Some(Number(1)));
        assert_eq!(bench.take_held(server(), one, 0), None);
        assert_eq!(bench.queue(server()).held_back_shapes().collect::<Vec<_>>(), [other]);
        bench.check();
        assert_eq!(bench.queue(server()).held_back_count(), 1);
    }

    #[test]
    fn an_early_page_moves_before_those_that_wait_for_the_budget() {
        let mut bench = Workbench::default();
        let (rank, one) = page(1);
        bench.enqueue(server(), rank, one);
        assert_eq!(bench.move_to_front(Number(1)), Some(Rank::foremost(Number(1))));
        bench.check();
        assert_eq!(bench.queue(server()).first(), Some(Rank::foremost(Number(1))));
        assert_eq!(bench.move_to_front(Number(2)), None);
    }

    #[test]
    fn servers_come_by_their_moment_and_old_listings_do_not_count() {
        let mut bench = Workbench::default();
        let (one, other) = (ServerId::at(0), ServerId::at(1));
        let later = NOW.plus(base::Interval::from_seconds(5));
        bench.list_at(one, later);
        bench.list_at(other, later);
        bench.list_at(one, NOW);
        assert_eq!(bench.find_ready(later, |server| server == one), Some((NOW, one)));
        assert_eq!(bench.pop_ready(), Some((NOW, one)));
        assert!(bench.unlist(one, NOW));
        assert_eq!(bench.pop_ready(), Some((later, one)));
        assert!(!bench.unlist(one, later), "it was listed again since");
        assert_eq!(bench.pop_ready(), Some((later, other)));
    }

    #[test]
    fn a_retry_comes_at_its_moment_unless_the_page_was_unloaded() {
        let mut bench = Workbench::default();
        let later = NOW.plus(base::Interval::from_seconds(5));
        bench.retry_at(server(), page(1).1, later);
        bench.retry_at(server(), page(2).1, later);
        assert!(bench.take_retry(NOW).is_none() && bench.next_retry() == Some(later));
        bench.unload(Number(1));
        let (_, two) = bench.take_retry(later).unwrap();
        assert_eq!(two.number, Number(2));
        assert!(bench.take_retry(later).is_none());
    }
}
