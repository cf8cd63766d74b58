//! Parses names and records of a message, forwards, within its bytes.
//!
//! **Invariant:** a pointer leads to a smaller offset than every one before it in the same name, so parsing a name
//! ends; it also ends after [`HOPS_MAX`] pointers and 255 bytes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The longest name in wire form (RFC 1035).
const NAME_BYTES_MAX: usize = 255;
/// The maximum number of pointers in one name: compression needs one, an unusual encoder a few.
const HOPS_MAX: usize = 16;

const TYPE_A: u16 = 1;
const TYPE_NAME_SERVER: u16 = 2;
const TYPE_ALIAS: u16 = 5;
const TYPE_START: u16 = 6;
const TYPE_AAAA: u16 = 28;
const CLASS_INTERNET: u16 = 1;

/// The bytes are not a complete message.
#[derive(Debug)]
pub(super) struct Broken;

/// A record: its owner, lifetime and data.
#[derive(Debug)]
pub(super) struct Record {
    /// The owner in wire form, uncompressed.
    pub(super) name: Vec<u8>,
    pub(super) seconds: u32,
    pub(super) data: Data,
}

/// The data of a record, if it is of use.
#[derive(Debug)]
pub(super) enum Data {
    Address(IpAddr),
    /// The owner is an alias of this name.
    Alias(Vec<u8>),
    /// The start of authority, and how long the absence of records may be cached.
    Start {
        minimum: u32,
    },
    NameServer,
    Other,
}

/// A position in a message.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Broken> {
        let taken = self.bytes.get(self.at..self.at.saturating_add(length)).ok_or(Broken)?;
        self.at += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Broken> {
        self.take(N)?.try_into().map_err(|_| Broken)
    }

    /// The next two-byte numbers.
    pub(super) fn words<const N: usize>(&mut self) -> Option<[u16; N]> {
        let mut words = [0; N];
        for word in &mut words {
            *word = u16::from_be_bytes(self.array().ok()?);
        }
        Some(words)
    }

    fn seconds(&mut self) -> Result<u32, Broken> {
        let seconds = u32::from_be_bytes(self.array()?);
        // A time with its first bit set counts as 0 (RFC 2181, 8).
        Ok(if seconds > u32::MAX / 2 { 0 } else { seconds })
    }

    /// The next name, uncompressed. The position moves past it, not to where it points.
    pub(super) fn name(&mut self) -> Result<Vec<u8>, Broken> {
        let mut name = Vec::with_capacity(32);
        let mut behind = None;
        let mut lowest = self.at;
        for _ in 0..=HOPS_MAX {
            let Some(target) = self.labels(&mut name)? else {
                self.at = behind.unwrap_or(self.at);
                return Ok(name);
            };
            if target >= lowest {
                return Err(Broken);
            }
            behind.get_or_insert(self.at);
            (lowest, self.at) = (target, target);
        }
        Err(Broken)
    }

    /// Parses labels up to the end of the name, or to a pointer, which is returned.
    fn labels(&mut self, name: &mut Vec<u8>) -> Result<Option<usize>, Broken> {
        loop {
            let [length] = self.array()?;
            match length {
                0..=63 => {
                    name.push(length);
                    name.extend_from_slice(self.take(usize::from(length))?);
                    if name.len() > NAME_BYTES_MAX {
                        return Err(Broken);
                    }
                    if length == 0 {
                        return Ok(None);
                    }
                }
                192.. => {
                    let [low] = self.array()?;
                    return Ok(Some(usize::from(u16::from_be_bytes([length & 0x3f, low]))));
                }
                64..=191 => return Err(Broken),
            }
        }
    }

    /// The next record. Unused types are skipped by their length.
    pub(super) fn record(&mut self) -> Result<Record, Broken> {
        let name = self.name()?;
        let [kind, class] = self.words().ok_or(Broken)?;
        let seconds = self.seconds()?;
        let [length] = self.words().ok_or(Broken)?;
        let ends = self.at + usize::from(length);
        if ends > self.bytes.len() {
            return Err(Broken);
        }
        let data = if class == CLASS_INTERNET { self.data(kind, ends)? } else { Data::Other };
        self.at = ends;
        Ok(Record { name, seconds, data })
    }

    fn data(&mut self, kind: u16, ends: usize) -> Result<Data, Broken> {
        let data = match kind {
            TYPE_A => Data::Address(IpAddr::V4(Ipv4Addr::from(self.array::<4>()?))),
            TYPE_AAAA => Data::Address(IpAddr::V6(Ipv6Addr::from(self.array::<16>()?))),
            TYPE_ALIAS => Data::Alias(self.name()?),
            TYPE_START => {
                // It follows the server, the mailbox, the serial number and three times.
                self.name()?;
                self.name()?;
                self.take(16)?;
                Data::Start { minimum: self.seconds()? }
            }
            TYPE_NAME_SERVER => return Ok(Data::NameServer),
            _ => return Ok(Data::Other),
        };
        // Data of the wrong length is invalid.
        if self.at == ends { Ok(data) } else { Err(Broken) }
    }
}
