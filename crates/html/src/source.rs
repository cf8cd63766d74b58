//! From positions in decoded text back to positions in the bytes that it was decoded from.
//!
//! A page in valid UTF-8 is its own text, and needs no map. For others the bytes are decoded a second time, and the map
//! stores one run for each stretch in which all characters have the same length on both sides.
//!
//! **Invariant:** the bytes between two mapped positions, decoded from the state of the decoder at the first, are the
//! text between the two.

use crate::charset::DetectedCharset;
use encoding_rs::{Decoder, DecoderResult, Encoding};

/// A range of the bytes of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceRange {
    /// The position of its first byte.
    pub offset: usize,
    /// Its length in bytes.
    pub length: usize,
}

/// Maps positions in the decoded text of a page to positions in its bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceMap {
    /// Empty if the text is the bytes.
    runs: Vec<Run>,
}

/// Characters of equal length.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Where it begins in the text.
    text: usize,
    /// Where it begins in the bytes.
    source: usize,
    /// The length of a character in the text.
    text_step: usize,
    /// The length of a character in the bytes.
    source_step: usize,
}

impl SourceMap {
    /// The map of `bytes`, which decode to `text`.
    pub(crate) fn new(charset: DetectedCharset, bytes: &[u8], text: &str) -> Self {
        if std::ptr::eq(bytes, text.as_bytes()) {
            return Self::default();
        }
        let marked = Encoding::for_bom(bytes).map_or(0, |(_, length)| length);
        let mut runs = Runs::starting_at(marked);
        if charset.encoding == encoding_rs::UTF_8 {
            runs.add_utf8(bytes.get(marked..).unwrap_or_default());
        } else {
            Decoding::new(charset.encoding, bytes, marked).run(&mut runs);
        }
        Self { runs: runs.done }
    }

    /// The position in the bytes of the character that begins at `text`, or of the end of the one before it.
    pub(crate) fn offset(&self, text: usize) -> usize {
        let after = self.runs.partition_point(|run| run.text <= text);
        let Some(run) = after.checked_sub(1).and_then(|at| self.runs.get(at)) else { return text };
        run.source + (text - run.text) / run.text_step * run.source_step
    }
}

/// Collects runs.
struct Runs {
    done: Vec<Run>,
    text: usize,
    source: usize,
}

impl Runs {
    fn starting_at(source: usize) -> Self {
        Self { done: Vec::new(), text: 0, source }
    }

    /// Adds `count` characters.
    fn add(&mut self, count: usize, text_step: usize, source_step: usize) {
        let goes_on = self
            .done
            .last()
            .is_some_and(|last| (last.text_step, last.source_step) == (text_step, source_step));
        if !goes_on {
            self.done.push(Run { text: self.text, source: self.source, text_step, source_step });
        }
        self.text += count * text_step;
        self.source += count * source_step;
    }

    /// Valid stretches of UTF-8 are copied, and every invalid one is replaced by U+FFFD.
    fn add_utf8(&mut self, bytes: &[u8]) {
        for chunk in bytes.utf8_chunks() {
            if !chunk.valid().is_empty() {
                self.add(chunk.valid().len(), 1, 1);
            }
            if !chunk.invalid().is_empty() {
                self.add(1, REPLACEMENT_BYTES, chunk.invalid().len());
            }
        }
    }
}

/// The length of U+FFFD in UTF-8.
const REPLACEMENT_BYTES: usize = 3;
/// Enough space for the characters that end with one byte.
const BUFFER_BYTES: usize = 32;

/// Decodes byte by byte, except stretches of ASCII.
struct Decoding<'a> {
    decoder: Decoder,
    bytes: &'a [u8],
    at: usize,
    /// Where the bytes begin that have given no character yet.
    pending: usize,
    /// In this encoding a byte of ASCII is that character wherever no character is incomplete.
    has_ascii: bool,
}

impl<'a> Decoding<'a> {
    fn new(encoding: &'static Encoding, bytes: &'a [u8], at: usize) -> Self {
        let decoder = encoding.new_decoder_without_bom_handling();
        Self { decoder, bytes, at, pending: at, has_ascii: encoding.is_ascii_compatible() }
    }

    fn run(mut self, runs: &mut Runs) {
        while self.at < self.bytes.len() {
            let is_ascii = self.byte(runs);
            if is_ascii && self.has_ascii {
                let rest = self.bytes.get(self.at..).unwrap_or_default();
                let ascii = Encoding::ascii_valid_up_to(rest);
                if ascii > 0 {
                    runs.add(ascii, 1, 1);
                }
                self.at += ascii;
                self.pending = self.at;
            }
        }
        self.feed(&[], true, runs);
    }

    /// Decodes one byte; returns whether it is a character of ASCII.
    fn byte(&mut self, runs: &mut Runs) -> bool {
        let Some(byte) = self.bytes.get(self.at..=self.at) else { return false };
        self.at += 1;
        self.feed(byte, false, runs).is_some_and(|last| byte == [last])
    }

    /// Gives bytes to the decoder; returns the last character, if it is ASCII.
    fn feed(&mut self, mut bytes: &[u8], is_last: bool, runs: &mut Runs) -> Option<u8> {
        let mut last = None;
        loop {
            let mut buffer = [0; BUFFER_BYTES];
            let (result, read, written) =
                self.decoder.decode_to_utf8_without_replacement(bytes, &mut buffer, is_last);
            let text = std::str::from_utf8(buffer.get(..written).unwrap_or_default()).unwrap_or_default();
            bytes = bytes.get(read..).unwrap_or_default();
            let replaced = match result {
                DecoderResult::Malformed(length, after) => Some((usize::from(length), usize::from(after))),
                _ => None,
            };
            let end = self.at - bytes.len() - replaced.map_or(0, |(length, after)| length + after);
            self.add(text, end.max(self.pending), runs);
            last = text.bytes().last().filter(u8::is_ascii).or(last);
            if let Some((_, after)) = replaced {
                last = None;
                self.add("\u{fffd}", self.at - bytes.len() - after, runs);
                continue;
            }
            if matches!(result, DecoderResult::InputEmpty) {
                return last;
            }
        }
    }

    /// The bytes up to `end` are these characters. The last of several ends with the last byte, before which all but the first are
    /// one byte each.
    fn add(&mut self, text: &str, end: usize, runs: &mut Runs) {
        let count = text.chars().count();
        for (place, character) in text.chars().enumerate() {
            let to = end - (count - 1 - place).min(end - self.pending);
            runs.add(1, character.len_utf8(), to - self.pending);
            self.pending = to;
        }
    }
}
