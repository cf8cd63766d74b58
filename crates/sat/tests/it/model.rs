//! What a store must hold, as ordinary maps.

use std::collections::BTreeMap;
use std::fmt;

/// A record as the caller gave it.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: Vec<u8>,
    pub(crate) due: u32,
    pub(crate) value: Vec<u8>,
}

/// Values are long; their length and a checksum tell them apart.
impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, bytes) = (String::from_utf8_lossy(&self.key), self.value.len());
        let sum = base::chance::hash_bytes(0, &self.value) & 0xFFFF;
        write!(f, "`{}` due {} with {bytes} bytes ({sum:04x})", key.get(..24).unwrap_or(&key), self.due)
    }
}

/// The whole content of a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Model {
    /// By number.
    pub(crate) records: BTreeMap<u32, Entry>,
    /// Every key that was ever given a number.
    pub(crate) numbers: BTreeMap<Vec<u8>, u32>,
    /// Offers, in order of arrival.
    pub(crate) pending: Vec<Entry>,
    pub(crate) table: BTreeMap<Vec<u8>, Vec<u8>>,
    pub(crate) minute: u32,
}

/// One change of the content.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Put(u32, Entry),
    Delete(u32),
    Offer(Entry),
    Set(Vec<u8>, Vec<u8>),
    Unset(Vec<u8>),
    Minute(u32),
    Settle,
}

impl Model {
    pub(crate) fn apply(&mut self, change: &Change) {
        match change {
            Change::Put(number, entry) => {
                self.records.insert(*number, entry.clone());
            }
            Change::Delete(number) => {
                self.records.remove(number);
            }
            Change::Offer(entry) => self.pending.push(entry.clone()),
            Change::Set(name, value) => {
                self.table.insert(name.clone(), value.clone());
            }
            Change::Unset(name) => {
                self.table.remove(name);
            }
            Change::Minute(minute) => self.minute = *minute,
            Change::Settle => {
                self.settle();
            }
        }
    }
    /// Number and newness for each offer: the first of equal keys wins, new keys are numbered as they came.
    pub(crate) fn settle(&mut self) -> Vec<(u32, bool)> {
        let mut answers = Vec::new();
        for offer in std::mem::take(&mut self.pending) {
            let next = u32::try_from(self.numbers.len()).expect("few keys");
            let number = *self.numbers.entry(offer.key.clone()).or_insert(next);
            let is_new = !self.records.contains_key(&number);
            if is_new {
                let due = offer.due.max(self.minute + 1);
                self.records.insert(number, Entry { due, ..offer });
            }
            answers.push((number, is_new));
        }
        answers
    }
}

/// Everything that a store shows; offers as their number only.
#[derive(Clone, Debug)]
pub(crate) struct Dump {
    pub(crate) records: BTreeMap<u32, Entry>,
    pub(crate) table: BTreeMap<Vec<u8>, Vec<u8>>,
    pub(crate) minute: u32,
    pub(crate) pending: usize,
    pub(crate) count: u64,
}

impl Model {
    /// How a store differs from the model, if it does.
    pub(crate) fn difference(&self, found: &Dump) -> Option<String> {
        if found.minute != self.minute {
            return Some(format!("minute {} instead of {}", found.minute, self.minute));
        }
        if found.pending != self.pending.len() {
            return Some(format!("{} offers wait instead of {}", found.pending, self.pending.len()));
        }
        if found.table != self.table {
            return Some(format!("the table is {} instead of {}", shown(&found.table), shown(&self.table)));
        }
        for (number, expected) in &self.records {
            if found.records.get(number) != Some(expected) {
                return Some(format!("{number} is {:?} instead of {expected:?}", found.records.get(number)));
            }
        }
        let extra = found.records.iter().find(|(number, _)| !self.records.contains_key(number));
        if let Some(extra) = extra {
            return Some(format!("{extra:?} should not be there"));
        }
        let count = self.records.len() as u64;
        (found.count != count).then(|| format!("the count is {} instead of {count}", found.count))
    }
}

/// A table, its values as their beginnings.
pub(crate) fn shown(table: &BTreeMap<Vec<u8>, Vec<u8>>) -> String {
    let entries = table.iter().map(|(name, value)| {
        let begin = &value[..value.len().min(2)];
        format!("{} = {begin:?}… {}", String::from_utf8_lossy(name), value.len())
    });
    entries.collect::<Vec<_>>().join(", ")
}
