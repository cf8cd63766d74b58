//! Unpacks records from the bytes of their members into one reused buffer, for callers that read very many.

use super::layout::find_record;
use super::{Error, WarcReader};
use crate::head::{Head, Place};
use crate::member::Form;
use crate::member::whole::{Tried, Whole, whole_bytes_max};
use crate::member::zstandard::{Zstd, skippable_bytes};
use crate::record::RecordRef;

/// A longer record of its own does not keep its room for those that follow.
const OWN_BYTES_KEPT: usize = 1024 * 1024;

/// Unpacks members that need no dictionary.
///
/// **Invariant:** memory holds room for members unpacked whole (256 KiB or the block limit, at most 4 MiB), and the
/// last record that did not fit there, cut to the block limit; twice while it is unpacked. A member with a wrong
/// checksum, or with anything but one whole record, is an error.
#[derive(Debug)]
pub struct Unpacker {
    whole: Whole,
    zstd: Zstd,
    places: Vec<Place>,
    /// The last record that did not fit into the room of the others.
    head: Vec<u8>,
    block: Vec<u8>,
    block_bytes_max: usize,
}

impl Unpacker {
    /// Keeps at most this many bytes of a block.
    #[must_use]
    pub fn new(block_bytes_max: usize) -> Self {
        let whole = Whole::new(whole_bytes_max(block_bytes_max));
        let (places, head, block) = (Vec::new(), Vec::new(), Vec::new());
        Self { whole, zstd: Zstd::default(), places, head, block, block_bytes_max }
    }

    /// The record that `member` holds, which stands at `offset` of its file.
    pub fn unpack(&mut self, member: &[u8], offset: u64) -> Result<RecordRef<'_>, Error> {
        self.forget_long();
        let form = member.first().and_then(|first| Form::beginning_with(*first));
        let is_unpacked = match form.map(|form| self.whole.unpack(form, member, &mut self.zstd)) {
            Some(Tried::Taken(taken)) => {
                taken + skippable_bytes(member.get(taken..).unwrap_or_default()) == member.len()
            }
            _ => false,
        };
        let found =
            is_unpacked.then(|| find_record(self.whole.content(), 0, &mut self.places).ok()).flatten();
        let Some(layout) = found.filter(|layout| layout.end == self.whole.content().len()) else {
            return self.unpack_slowly(member, offset);
        };
        let content = self.whole.content();
        let block = content.get(layout.block).unwrap_or_default();
        let head = Head::new(content.get(layout.head).unwrap_or_default(), &self.places);
        let (length, block_bytes) = (member.len() as u64, block.len() as u64);
        let block = block.get(..self.block_bytes_max).unwrap_or(block);
        Ok(RecordRef { offset, length, is_alone: true, head, block, block_bytes })
    }

    /// Frees the room of a long record.
    fn forget_long(&mut self) {
        if self.head.capacity() + self.block.capacity() > OWN_BYTES_KEPT {
            (self.head, self.block) = (Vec::new(), Vec::new());
        }
    }

    /// Reads a member that is long, plain or wrong with the other reader.
    fn unpack_slowly(&mut self, member: &[u8], offset: u64) -> Result<RecordRef<'_>, Error> {
        let mut reader = WarcReader::starting_at(member, offset, self.block_bytes_max);
        let damaged = |what| Error::Damaged { offset, what };
        let record = reader.advance().ok_or_else(|| damaged("no record is there"))??;
        if !record.is_alone || record.length != member.len() as u64 {
            return Err(damaged("it is not alone in its member"));
        }
        self.head.clear();
        self.head.extend_from_slice(record.head.raw());
        self.block.clear();
        self.block.extend_from_slice(record.block);
        let block_bytes = record.block_bytes;
        self.places.clear();
        self.places.extend_from_slice(record.head.places());
        let head = Head::new(&self.head, &self.places);
        Ok(RecordRef {
            offset,
            length: member.len() as u64,
            is_alone: true,
            head,
            block: &self.block,
            block_bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Compression, Draft, Kind, Level, RecordId, WarcWriter, ZstdLevel};
    use base::Timestamp;

    fn member(compression: Compression, block: &[u8]) -> Vec<u8> {
        let at: Timestamp = "2026-03-31T09:00:00Z".parse().unwrap();
        let id = RecordId::at("a.warc.gz", 7, at, &Kind::Resource);
        let draft = Draft::new(&Kind::Resource, &id, at).target("https://example.org/");
        let mut file = Vec::new();
        WarcWriter::new(compression).append(draft, "text/plain", &[block], &mut file);
        file
    }

    const FORMS: [Compression; 3] =
        [Compression::Gzip(Level::DEFAULT), Compression::Zstd(ZstdLevel::DEFAULT), Compression::Plain];

    #[test]
    fn members_of_every_form_and_size_are_unpacked_one_after_the_other() {
        let mut unpacker = Unpacker::new(64 << 20);
        for length in [0, 1, 200_000, 6 << 20, 3] {
            let block = "写し!".bytes().cycle().take(length).collect::<Vec<u8>>();
            for form in FORMS {
                let member = member(form, &block);
                let record = unpacker.unpack(&member, 7).unwrap();
                assert_eq!(
                    (record.block, record.target()),
                    (&*block, Some("https://example.org/")),
                    "{form:?}"
                );
                assert_eq!(record.length, member.len() as u64);
            }
        }
    }

    #[test]
    fn of_a_long_block_so_much_is_kept_as_was_asked_for() {
        let record_of = |length: usize| {
            let member = member(FORMS[0], &vec![b'x'; length]);
            let mut unpacker = Unpacker::new(10);
            let record = unpacker.unpack(&member, 0).unwrap();
            (record.block.len(), record.block_bytes)
        };
        assert_eq!(record_of(100), (10, 100));
        assert_eq!(record_of(9 << 20), (10, 9 << 20));
    }

    #[test]
    fn a_long_record_does_not_keep_its_room() {
        let long = member(FORMS[0], &vec![b'x'; 9 << 20]);
        for form in FORMS {
            let short = member(form, b"short");
            let mut unpacker = Unpacker::new(64 << 20);
            unpacker.unpack(&long, 0).unwrap();
            assert!(unpacker.block.capacity() >= 9 << 20);
            assert_eq!(unpacker.unpack(&short, 0).unwrap().block, b"short");
            assert!(unpacker.block.capacity() <= OWN_BYTES_KEPT, "{form:?}");
        }
    }

    #[test]
    fn damaged_and_shared_members_are_refused() {
        let good = member(FORMS[0], b"one");
        let mut unpacker = Unpacker::new(1_000);
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x40;
            // Of a gzip head some bits mean nothing.
            if let Ok(record) = unpacker.unpack(&bad, 0) {
                assert_eq!(record.block, b"one", "{at}");
            }
            assert!(unpacker.unpack(&good[..at], 0).is_err(), "{at}");
        }
        assert!(unpacker.unpack(&[&*good, &*good].concat(), 0).is_err());
        assert!(unpacker.unpack(b"", 0).is_err());
        assert_eq!(unpacker.unpack(&good, 0).unwrap().block, b"one");
    }
}
