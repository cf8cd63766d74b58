//! Members: individually compressed records, and recompressing them.
//!
//! A file holds members of one kind only: a reader that found gzip first does not expect zstandard. So members from a
//! file of the other kind are recompressed, piece by piece.

use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use std::io::{self, Read, Write};

/// How the records of a file are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// gzip: every reader knows it.
    Gzip,
    /// zstandard, without a dictionary.
    Zstd,
}

const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const ZSTD_MAGIC: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const PLAIN_MAGIC: &[u8] = b"WARC/";
const GZIP_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;

/// Appends the records of `stored` to `file`, compressed as `coding` says: unchanged if they are already. Returns the
/// new length of the first of them, which is `first_bytes` long.
pub(crate) fn append(stored: &[u8], first_bytes: u64, coding: Coding, file: &mut Vec<u8>) -> io::Result<u64> {
    let magic = if coding == Coding::Gzip { GZIP_MAGIC } else { ZSTD_MAGIC };
    if stored.starts_with(magic) {
        file.extend_from_slice(stored);
        return Ok(first_bytes);
    }
    let start = file.len();
    let mut first_end = None;
    let mut rest = stored;
    while !rest.is_empty() {
        append_one(&mut rest, coding, file)?;
        first_end.get_or_insert(file.len());
    }
    Ok((first_end.unwrap_or(start) - start) as u64)
}

fn append_one(rest: &mut &[u8], coding: Coding, file: &mut Vec<u8>) -> io::Result<()> {
    if rest.starts_with(GZIP_MAGIC) {
        return compress(&mut GzDecoder::new(rest), coding, file);
    }
    if rest.starts_with(ZSTD_MAGIC) {
        return compress(&mut zstd::stream::read::Decoder::with_buffer(rest)?.single_frame(), coding, file);
    }
    if !rest.starts_with(PLAIN_MAGIC) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "it is neither gzip nor zstandard nor a plain record",
        ));
    }
    let record = warc::WarcReader::new(*rest, 0)
        .next()
        .ok_or(io::ErrorKind::UnexpectedEof)?
        .map_err(io::Error::other)?;
    let length = usize::try_from(record.length).map_err(io::Error::other)?;
    let (mut plain, after) = rest.split_at_checked(length).ok_or(io::ErrorKind::UnexpectedEof)?;
    *rest = after;
    compress(&mut plain, coding, file)
}

fn compress(plain: &mut impl Read, coding: Coding, file: &mut Vec<u8>) -> io::Result<()> {
    match coding {
        Coding::Gzip => {
            let mut encoder = GzEncoder::new(file, Compression::new(GZIP_LEVEL));
            io::copy(plain, &mut encoder)?;
            encoder.finish()?.flush()
        }
        Coding::Zstd => {
            let mut encoder = zstd::stream::write::Encoder::new(file, ZSTD_LEVEL)?;
            encoder.include_checksum(true)?;
            io::copy(plain, &mut encoder)?;
            encoder.finish()?.flush()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORDS: [&[u8]; 2] = [
        b"WARC/1.1\r\nContent-Length: 3\r\n\r\none\r\n\r\n",
        b"WARC/1.1\r\nContent-Length: 5\r\n\r\nother\r\n\r\n",
    ];

    fn group(coding: Option<Coding>) -> (Vec<u8>, u64) {
        let mut file = Vec::new();
        let mut first = 0;
        for record in RECORDS {
            match coding {
                Some(coding) => compress(&mut &record[..], coding, &mut file).unwrap(),
                None => file.extend_from_slice(record),
            }
            first = if first == 0 { file.len() } else { first };
        }
        (file, first as u64)
    }

    #[test]
    fn records_keep_to_their_own_members_in_either_kind() {
        for from in [None, Some(Coding::Gzip), Some(Coding::Zstd)] {
            for to in [Coding::Gzip, Coding::Zstd] {
                let (stored, first_bytes) = group(from);
                let mut file = b"before".to_vec();
                let length = append(&stored, first_bytes, to, &mut file).unwrap();
                let copied = &file[6..];
                if from == Some(to) {
                    assert_eq!((copied, length), (stored.as_slice(), first_bytes), "verbatim");
                }
                let (mut first, mut second) = copied.split_at(usize::try_from(length).unwrap());
                for (member, record) in [(&mut first, RECORDS[0]), (&mut second, RECORDS[1])] {
                    let mut plain = Vec::new();
                    match to {
                        Coding::Gzip => GzDecoder::new(*member).read_to_end(&mut plain).unwrap(),
                        Coding::Zstd => zstd::stream::read::Decoder::with_buffer(*member)
                            .unwrap()
                            .single_frame()
                            .read_to_end(&mut plain)
                            .unwrap(),
                    };
                    assert_eq!(plain, record, "{from:?} to {to:?}");
                }
            }
        }
    }

    #[test]
    fn other_bytes_are_not_copied() {
        let (mut cut, _) = group(Some(Coding::Zstd));
        cut.truncate(cut.len() - 5);
        for bytes in [&b"something else"[..], b"WARC/1.1\r\nContent-Length: 9\r\n\r\nx", &cut] {
            assert!(append(bytes, 1, Coding::Gzip, &mut Vec::new()).is_err());
        }
    }
}
