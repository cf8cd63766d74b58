//! Zstandard frames, and the dictionary that a file can begin with.

use super::clause::Clause;
use super::input::Input;
use super::member::{Fault, Note};
use super::report::Severity;
use std::io::Read;
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

/// The longest dictionary, compressed or not, that a reader must know how to use (WARC-zstd 1.0).
const DICTIONARY_BYTES_MAX: usize = 8 * 1024 * 1024;
const FRAME_MAGIC: u32 = 0xfd2f_b528;
const DICTIONARY_FRAME_MAGIC: u32 = 0x184d_2a5d;

/// Decompresses zstandard frames.
pub(super) struct Unzstd {
    decoder: Option<Decoder<'static>>,
    dictionary: Option<Vec<u8>>,
}

impl std::fmt::Debug for Unzstd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unzstd").field("dictionary", &self.dictionary.is_some()).finish_non_exhaustive()
    }
}

fn damage(what: impl Into<String>) -> Fault {
    Fault::Damaged(Clause::Zstd, what.into())
}

impl Unzstd {
    pub(super) fn new() -> Self {
        Self { decoder: None, dictionary: None }
    }

    /// Begins the frame at the position of `input`; false if it has no content, and is skipped.
    pub(super) fn begin<R: Read>(
        &mut self,
        input: &mut Input<R>,
        notes: &mut Vec<Note>,
    ) -> Result<bool, Fault> {
        let (magic, length) = match *input.ahead(8)? {
            [a, b, c, d, e, f, g, h, ..] => {
                (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]))
            }
            _ => return Err(damage("the file ends inside the header of a frame")),
        };
        if magic != FRAME_MAGIC {
            let is_first = input.position() == 0;
            input.consume(8);
            self.skip(input, length, magic == DICTIONARY_FRAME_MAGIC && is_first)?;
            return Ok(false);
        }
        let frame =
            Frame::read(input.ahead(18)?).ok_or_else(|| damage("the header of a frame is incomplete"))?;
        self.prove_dictionary(frame.dictionary_id)?;
        if !frame.has_length {
            notes.push(advice("the frame does not say how long its content is"));
        }
        if !frame.has_checksum {
            notes.push(advice("the frame has no checksum"));
        }
        let unusable = |_| damage("the decompressor cannot be prepared");
        match &mut self.decoder {
            Some(decoder) => decoder.reinit().map_err(unusable)?,
            None => {
                let dictionary = self.dictionary.as_deref().unwrap_or_default();
                self.decoder = Some(Decoder::with_dictionary(dictionary).map_err(unusable)?);
            }
        }
        Ok(true)
    }

    /// Passes a skippable frame; the first one of a file can hold the dictionary.
    fn skip<R: Read>(&mut self, input: &mut Input<R>, length: u32, is_dictionary: bool) -> Result<(), Fault> {
        let mut left = usize::try_from(length).unwrap_or(usize::MAX);
        if is_dictionary && left > DICTIONARY_BYTES_MAX {
            return Err(damage(format!("the dictionary is longer than `{DICTIONARY_BYTES_MAX}` bytes")));
        }
        let mut kept = Vec::new();
        while left > 0 {
            let bytes = input.ahead(1)?;
            let taken = bytes.len().min(left);
            if taken == 0 {
                return Err(damage("the file ends inside a skippable frame"));
            }
            if is_dictionary {
                kept.extend_from_slice(bytes.get(..taken).unwrap_or_default());
            }
            input.consume(taken);
            left -= taken;
        }
        if is_dictionary {
            self.dictionary = Some(unpacked_dictionary(kept)?);
        }
        Ok(())
    }

    fn prove_dictionary(&self, wanted: u32) -> Result<(), Fault> {
        let found = self.dictionary.as_deref().and_then(dictionary_id).unwrap_or_default();
        if wanted == 0 || wanted == found {
            return Ok(());
        }
        Err(damage(format!("the frame needs the dictionary `{wanted}`, which the file does not begin with")))
    }

    /// Fills `window`; returns how much, and whether the frame has ended.
    pub(super) fn advance<R: Read>(
        &mut self,
        input: &mut Input<R>,
        window: &mut [u8],
    ) -> Result<(usize, bool), Fault> {
        let Some(decoder) = &mut self.decoder else { return Ok((0, true)) };
        let compressed = input.ahead(1)?;
        let at_end = compressed.is_empty();
        let (mut from, mut to) = (InBuffer::around(compressed), OutBuffer::around(window));
        let result = decoder.run(&mut from, &mut to);
        let (taken, made) = (from.pos(), to.pos());
        input.consume(taken);
        match result {
            Ok(0) => Ok((made, true)),
            Ok(_) if at_end && made == 0 => Err(damage("the file ends inside a frame")),
            Ok(_) => Ok((made, false)),
            Err(error) => Err(damage(format!("the frame cannot be decompressed: {error}"))),
        }
    }
}

fn advice(what: &str) -> Note {
    (Severity::Advice, Clause::ZstdFile, what.to_owned())
}

fn unpacked_dictionary(bytes: Vec<u8>) -> Result<Vec<u8>, Fault> {
    if !bytes.starts_with(&FRAME_MAGIC.to_le_bytes()) {
        return Ok(bytes);
    }
    let unpacked =
        zstd::bulk::Decompressor::new().and_then(|mut it| it.decompress(&bytes, DICTIONARY_BYTES_MAX));
    unpacked.map_err(|error| damage(format!("the dictionary cannot be decompressed: {error}")))
}

fn dictionary_id(dictionary: &[u8]) -> Option<u32> {
    match *dictionary {
        [0x37, 0xa4, 0x30, 0xec, a, b, c, d, ..] => Some(u32::from_le_bytes([a, b, c, d])),
        _ => None,
    }
}

/// What the header of a frame says.
struct Frame {
    dictionary_id: u32,
    has_length: bool,
    has_checksum: bool,
}

impl Frame {
    fn read(header: &[u8]) -> Option<Self> {
        let flags = *header.get(4)?;
        let is_single = flags & 0x20 != 0;
        let id_from = if is_single { 5 } else { 6 };
        let id_bytes = [0, 1, 2, 4].get(usize::from(flags & 3)).copied()?;
        let id = header.get(id_from..id_from + id_bytes)?;
        let dictionary_id = id.iter().rev().fold(0, |id, byte| id << 8 | u32::from(*byte));
        Some(Self { dictionary_id, has_length: is_single || flags >> 6 != 0, has_checksum: flags & 4 != 0 })
    }
}
