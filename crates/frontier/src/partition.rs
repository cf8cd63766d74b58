//! Which owner a server belongs to, when there are many (C15).
//!
//! The name of a server hashes to one of a fixed number of partitions, and every partition has one owner. Links to
//! servers of other owners are collected in batches, one per partition; nothing else is exchanged. On one machine there
//! is one owner and no batch.

use crate::FoundUrl;
use base::{ServerName, Timestamp, chance};
use std::collections::BTreeMap;

/// Number of partitions, fixed forever: an owner may change, the partition of a server does not.
pub const PARTITIONS: u16 = 1_024;
/// Maximum number of links in a batch.
const BATCH_LINKS_MAX: usize = 1_000;

/// The partition of a server.
#[must_use]
pub fn partition(server: &ServerName) -> u16 {
    let hash = chance::hash_bytes(0x5041_5254, server.as_str().as_bytes());
    u16::try_from(hash % u64::from(PARTITIONS)).unwrap_or(0)
}

/// The partitions that one owner has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Owned {
    /// All of them.
    #[default]
    All,
    /// These.
    Some(std::collections::BTreeSet<u16>),
}

impl Owned {
    /// Whether a server is the owner's.
    #[must_use]
    pub fn holds(&self, server: &ServerName) -> bool {
        match self {
            Self::All => true,
            Self::Some(partitions) => partitions.contains(&partition(server)),
        }
    }
}

/// Links for the owner of a partition.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkBatch {
    /// The partition.
    pub partition: u16,
    /// The links, and when each was found.
    pub links: Vec<(FoundUrl, Timestamp)>,
}

/// Links that wait to be sent.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    waiting: BTreeMap<u16, Vec<(FoundUrl, Timestamp)>>,
    full: Vec<LinkBatch>,
}

impl Outbox {
    pub(crate) fn put(&mut self, found: FoundUrl, at: Timestamp) {
        let partition = partition(&found.url.server());
        let links = self.waiting.entry(partition).or_default();
        links.push((found, at));
        if links.len() >= BATCH_LINKS_MAX {
            let links = std::mem::take(links);
            self.full.push(LinkBatch { partition, links });
        }
    }
    /// The batches that are full, or all that waits.
    pub(crate) fn take(&mut self, all: bool) -> Vec<LinkBatch> {
        let mut batches = std::mem::take(&mut self.full);
        if all {
            let rest = std::mem::take(&mut self.waiting).into_iter();
            batches.extend(
                rest.filter(|(_, links)| !links.is_empty())
                    .map(|(partition, links)| LinkBatch { partition, links }),
            );
        }
        batches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_spread_over_partitions_and_stay_where_they_are() {
        let name = |number: u32| ServerName::parse(&format!("www{number}.example.jp")).unwrap();
        let mut counts = vec![0_u32; usize::from(PARTITIONS)];
        (0..102_400).for_each(|number| counts[usize::from(partition(&name(number)))] += 1);
        assert!(counts.iter().all(|count| (50..170).contains(count)));
        assert_eq!(
            partition(&ServerName::parse("www.example.jp").unwrap()),
            506,
            "the partition is part of the protocol"
        );
    }
}
