//! The operations in a frame, and their bytes.
//!
//! | kind | bytes after the kind |
//! |---|---|
//! | 1 update | number 4, bucket 4, due 4, key bytes 2, value bytes 2, key, value |
//! | 2 delete | number 4 |
//! | 3 offer | due 4, key bytes 2, value bytes 2, key, value |
//! | 4 advance | minute 4 |
//! | 5 set | name bytes 2, value bytes 4, name, value |
//! | 6 unset | name bytes 2, name |
//!
//! Updates and deletes have sequences: the first that of the frame, each next one more. An update names its bucket,
//! so a replay never chooses one.

use base::disk::AlignedBytes;

/// One change of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation<'a> {
    Update { number: u32, bucket: u32, due: u32, key: &'a [u8], value: &'a [u8] },
    Delete { number: u32 },
    Offer { due: u32, key: &'a [u8], value: &'a [u8] },
    Advance { minute: u32 },
    Set { name: &'a [u8], value: &'a [u8] },
    Unset { name: &'a [u8] },
}

impl Operation<'_> {
    /// Maximum bytes of an operation with this much key and value.
    pub(crate) const fn bytes_max(content_bytes: usize) -> usize {
        content_bytes + 32
    }
    pub(crate) fn write(&self, frame: &mut AlignedBytes) {
        match *self {
            Self::Update { number, bucket, due, key, value } => {
                let mut head = [0; 17];
                head[0] = 1;
                head[1..5].copy_from_slice(&number.to_le_bytes());
                head[5..9].copy_from_slice(&bucket.to_le_bytes());
                head[9..13].copy_from_slice(&due.to_le_bytes());
                head[13..15].copy_from_slice(&short(key.len()));
                head[15..17].copy_from_slice(&short(value.len()));
                put(frame, &[&head, key, value]);
            }
            Self::Delete { number } => put(frame, &[&[2], &number.to_le_bytes()]),
            Self::Offer { due, key, value } => {
                put(frame, &[&[3], &due.to_le_bytes(), &short(key.len()), &short(value.len()), key, value]);
            }
            Self::Advance { minute } => put(frame, &[&[4], &minute.to_le_bytes()]),
            Self::Set { name, value } => {
                put(frame, &[&[5], &short(name.len()), &long(value.len()), name, value]);
            }
            Self::Unset { name } => put(frame, &[&[6], &short(name.len()), name]),
        }
    }
}

fn put(frame: &mut AlignedBytes, parts: &[&[u8]]) {
    parts.iter().for_each(|part| frame.extend_from_slice(part));
}

/// Reads operations; `None` at the end or if the bytes are invalid.
pub(crate) fn read<'a>(bytes: &mut &'a [u8]) -> Option<Operation<'a>> {
    let (kind, rest) = bytes.split_first()?;
    *bytes = rest;
    match kind {
        1 => {
            let (number, bucket, due) = (word(bytes)?, word(bytes)?, word(bytes)?);
            let (key, value) = pair(bytes)?;
            Some(Operation::Update { number, bucket, due, key, value })
        }
        2 => Some(Operation::Delete { number: word(bytes)? }),
        3 => {
            let due = word(bytes)?;
            let (key, value) = pair(bytes)?;
            Some(Operation::Offer { due, key, value })
        }
        4 => Some(Operation::Advance { minute: word(bytes)? }),
        5 => {
            let (name_bytes, value_bytes) = (half(bytes)?, word(bytes)? as usize);
            Some(Operation::Set { name: take(bytes, name_bytes)?, value: take(bytes, value_bytes)? })
        }
        6 => {
            let name_bytes = half(bytes)?;
            Some(Operation::Unset { name: take(bytes, name_bytes)? })
        }
        _ => None,
    }
}

fn pair<'a>(bytes: &mut &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
    let (key_bytes, value_bytes) = (half(bytes)?, half(bytes)?);
    Some((take(bytes, key_bytes)?, take(bytes, value_bytes)?))
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

fn word(bytes: &mut &[u8]) -> Option<u32> {
    take(bytes, 4)?.try_into().ok().map(u32::from_le_bytes)
}

fn half(bytes: &mut &[u8]) -> Option<usize> {
    take(bytes, 2)?.try_into().ok().map(|half| usize::from(u16::from_le_bytes(half)))
}

#[expect(clippy::cast_possible_truncation, reason = "checked against the limits where it came in")]
fn short(length: usize) -> [u8; 2] {
    (length as u16).to_le_bytes()
}

#[expect(clippy::cast_possible_truncation, reason = "checked against the limits where it came in")]
fn long(length: usize) -> [u8; 4] {
    (length as u32).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_read_back_as_written_and_no_prefix_makes_more_of_them() {
        let written = [
            Operation::Update { number: 7, bucket: 99, due: 101, key: b"k", value: b"value" },
            Operation::Delete { number: u32::MAX },
            Operation::Offer { due: 3, key: b"", value: b"" },
            Operation::Advance { minute: 9 },
            Operation::Set { name: b"place", value: &[0; 300] },
            Operation::Unset { name: b"place" },
        ];
        let mut frame = AlignedBytes::new();
        written.iter().for_each(|operation| operation.write(&mut frame));
        let mut bytes = frame.as_slice();
        let back: Vec<_> = std::iter::from_fn(|| read(&mut bytes)).collect();
        assert_eq!(back, written);
        for length in 0..frame.len() {
            let mut bytes = &frame[..length];
            assert!(std::iter::from_fn(|| read(&mut bytes)).count() < written.len());
        }
    }
}
