//! Addresses: many servers may share one, and it is asked for one thing at a time (C6).
//!
//! **Invariant:** an address that is taken is given back exactly once; servers that came in the meantime wait in
//! order and are told when it is free.

use base::Timestamp;
use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;

/// The addresses in use.
#[derive(Debug, Default)]
pub(super) struct Addresses(HashMap<IpAddr, Address>);

#[derive(Debug)]
struct Address {
    busy: bool,
    free_at: Timestamp,
    waiting: VecDeque<usize>,
}

impl Addresses {
    /// Takes an address for a server. If it rests, tells until when; if it is busy, the server waits for it.
    pub(super) fn take(
        &mut self,
        ip: IpAddr,
        server: usize,
        now: Timestamp,
    ) -> Result<(), Option<Timestamp>> {
        let new = || Address { busy: false, free_at: Timestamp::MIN, waiting: VecDeque::new() };
        let address = self.0.entry(ip).or_insert_with(new);
        if address.busy {
            address.waiting.push_back(server);
            return Err(None);
        }
        if address.free_at > now {
            return Err(Some(address.free_at));
        }
        address.busy = true;
        Ok(())
    }

    /// Gives an address back until it is free again; whoever waited is returned in order.
    pub(super) fn give_back(&mut self, ip: IpAddr, free_at: Timestamp) -> VecDeque<usize> {
        let address = self.0.get_mut(&ip).expect("an address is given back only after it was taken");
        assert!(address.busy, "an address is given back once");
        address.busy = false;
        address.free_at = free_at;
        std::mem::take(&mut address.waiting)
    }
}
