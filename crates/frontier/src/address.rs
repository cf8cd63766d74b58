//! Addresses: many servers may share one. An address gets one request at a time (C6), unless its owner agreed to more
//! (C18).
//!
//! **Invariant:** a taken address is released exactly once; servers that came meanwhile wait in order and are returned
//! then.

use crate::servers::ServerId;
use base::{Interval, Timestamp};
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

/// The addresses that are known.
#[derive(Debug, Default)]
pub(crate) struct Addresses(HashMap<IpAddr, Address>);

/// An address.
#[derive(Debug)]
pub(crate) struct Address {
    in_flight: u32,
    free_at: Timestamp,
    waiting: VecDeque<ServerId>,
    /// The total load of its servers, in the units of [`crate::load`].
    load: u64,
    /// The delay between two requests, and the maximum number of concurrent ones.
    pub pause: Interval,
    pub width: u32,
}

impl Addresses {
    /// An address; `new` gives its delay, its width and when it may first be requested.
    pub(crate) fn of(
        &mut self,
        ip: IpAddr,
        new: impl FnOnce() -> (Interval, u32, Timestamp),
    ) -> &mut Address {
        self.0.entry(ip).or_insert_with(|| {
            let (pause, width, free_at) = new();
            Address { in_flight: 0, free_at, waiting: VecDeque::new(), load: 0, pause, width }
        })
    }
    pub(crate) fn get(&self, ip: IpAddr) -> Option<&Address> {
        self.0.get(&ip)
    }
    pub(crate) fn get_mut(&mut self, ip: IpAddr) -> Option<&mut Address> {
        self.0.get_mut(&ip)
    }
}

impl Address {
    /// Takes the address for a server. During its delay, returns the end of that; if it is busy, the server waits for
    /// it.
    pub(crate) fn take(&mut self, server: ServerId, now: Timestamp) -> Result<(), Option<Timestamp>> {
        if self.in_flight >= self.width {
            self.waiting.push_back(server);
            return Err(None);
        }
        if self.free_at > now {
            return Err(Some(self.free_at));
        }
        self.in_flight += 1;
        Ok(())
    }
    /// Releases the address, which is free again at `free_at`, and returns the waiting servers in order.
    pub(crate) fn give_back(&mut self, free_at: Timestamp) -> VecDeque<ServerId> {
        assert!(self.in_flight > 0, "an address is released once");
        self.in_flight -= 1;
        self.free_at = self.free_at.max(free_at);
        std::mem::take(&mut self.waiting)
    }
    /// The total load of its servers.
    pub(crate) fn load(&self) -> u64 {
        self.load
    }
    pub(crate) fn add_load(&mut self, units: u64) {
        self.load += units;
    }
    pub(crate) fn remove_load(&mut self, units: u64) {
        self.load = self.load.checked_sub(units).expect("the load of an address is the sum of its servers");
    }
    /// When it is free again.
    pub(crate) fn free_at(&self) -> Timestamp {
        self.free_at
    }
}
