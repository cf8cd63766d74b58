//! Dead neighbourhoods: where nearly all pages of a directory are gone, they are looked for again by sample (C16, H32).
//!
//! A page that is not known to be gone is never slowed: a deletion opens a burst to the pages beside it, which are visited early
//! ([`crate::revisit::co_change`]).
//!
//! **Invariant:** memory is bounded: a server has at most [`PLACES_MAX`] directories in mind, the busiest of late.

use crate::codec::{Fields, put};
use base::chance;

/// So many directories of a server are kept in mind.
const PLACES_MAX: usize = 32;
/// From so many pages gone on, a directory may be dead.
const GONE_MIN: u16 = 4;
/// One in so many pages of a dead directory is still visited at its time.
const SAMPLE: u64 = 16;

/// The directories of a server in which pages are gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Neighbourhoods(Vec<Place>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    hash: u32,
    gone: u16,
    alive: u16,
}

impl Place {
    fn is_dead(&self) -> bool {
        self.gone >= GONE_MIN && u32::from(self.gone) > 4 * u32::from(self.alive)
    }
}

impl Neighbourhoods {
    /// A page behind this target was found gone, or alive. Whether anything changed that must be kept.
    pub(crate) fn saw(&mut self, target: &str, is_gone: bool) -> bool {
        let mut changed = false;
        for hash in directories(target) {
            let known = self.0.iter().position(|place| place.hash == hash);
            match known {
                None if !is_gone => {}
                None => {
                    self.forget_one();
                    self.0.push(Place { hash, gone: 1, alive: 0 });
                    changed = true;
                }
                Some(at) => {
                    let mut place = self.0.remove(at);
                    if is_gone {
                        place.gone = place.gone.saturating_add(1);
                    } else {
                        // One that lives speaks for its neighbours.
                        place.alive = place.alive.saturating_add(1);
                        place.gone /= 2;
                    }
                    if place.gone > 0 {
                        self.0.push(place);
                    }
                    changed = true;
                }
            }
        }
        changed
    }
    /// Whether a page lies among the dead and is not the one in so many that is visited all the same.
    pub(crate) fn slows(&self, target: &str, draw: u64) -> bool {
        !draw.is_multiple_of(SAMPLE) && self.is_dead(target)
    }
    /// Whether a page lies among the dead.
    pub(crate) fn is_dead(&self, target: &str) -> bool {
        let dead = |hash| self.0.iter().any(|place| place.hash == hash && place.is_dead());
        !self.0.is_empty() && directories(target).into_iter().any(dead)
    }

    fn forget_one(&mut self) {
        if self.0.len() >= PLACES_MAX {
            self.0.remove(0);
        }
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        put(bytes, self.0.len() as u64);
        for place in &self.0 {
            bytes.extend_from_slice(&place.hash.to_le_bytes());
            put(bytes, place.gone.into());
            put(bytes, place.alive.into());
        }
    }
    pub(crate) fn read(fields: &mut Fields<'_>) -> Self {
        let count = usize::try_from(fields.number()).unwrap_or(0).min(PLACES_MAX);
        let place = |_| Place {
            hash: u32::from_le_bytes(fields.array()),
            gone: fields.small(u16::MAX),
            alive: fields.small(u16::MAX),
        };
        Self((0..count).map(place).collect())
    }
}

/// The directory that a target lies in, and the one that this lies in; the root is everybody's and says nothing.
fn directories(target: &str) -> Vec<u32> {
    let path = target.split('?').next().unwrap_or_default();
    let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    let above = directory.rsplit_once('/').map_or("", |(above, _)| above);
    #[expect(clippy::cast_possible_truncation, reason = "half of a hash is a hash")]
    let hash = |text: &str| chance::hash_bytes(0x4449_5245, text.as_bytes()) as u32;
    [directory, above].into_iter().filter(|directory| !directory.is_empty()).map(hash).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_directory_is_sampled_until_one_of_it_lives() {
        let mut places = Neighbourhoods::default();
        for page in 0..3 {
            places.saw(&format!("/old/{page}.html"), true);
        }
        assert!(!places.is_dead("/old/x.html"), "three are no proof");
        places.saw("/old/3.html", true);
        assert!(places.is_dead("/old/x.html") && places.is_dead("/old/deeper/x.html"));
        assert!(!places.is_dead("/new/x.html") && !places.is_dead("/x.html"));
        let visited = (0..1_600).filter(|draw| !places.slows("/old/x.html", *draw)).count();
        assert_eq!(visited, 100);
        let mut bytes = Vec::new();
        places.write(&mut bytes);
        assert_eq!(Neighbourhoods::read(&mut Fields(&bytes)), places);
        places.saw("/old/x.html", false);
        assert!(!places.is_dead("/old/y.html"));
    }

    #[test]
    fn a_page_that_lives_costs_nothing() {
        let mut places = Neighbourhoods::default();
        assert!(!places.saw("/a/b/c", false));
        assert_eq!(places, Neighbourhoods::default());
        (0..1_000).for_each(|n| {
            places.saw(&format!("/{n}/x"), true);
        });
        assert_eq!(places.0.len(), PLACES_MAX);
    }
}
