//! zstd frames: those that hold records, those that hold a dictionary, and those to be skipped.
//!
//! A `.warc.zst` file is a sequence of frames, one a record. It may begin with a skippable frame of its own number
//! that holds a dictionary for all others, raw or itself compressed. Other skippable frames are padding.
//!
//! **Invariant:** a dictionary takes at most [`DICTIONARY_BYTES_MAX`], a window at most what `WINDOW_LOG_MAX` says,
//! which is what every decoder of zstd grants by default.

use super::{Fault, ZstdLevel};
use std::fmt;
use std::sync::Arc;
use zstd::zstd_safe::{CCtx, CParameter, DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

/// The first bytes of a frame.
pub(crate) const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
/// The longest dictionary that is used.
pub const DICTIONARY_BYTES_MAX: usize = 8 * 1024 * 1024;

const WINDOW_LOG_MAX: u32 = 27;
const DICTIONARY_FRAME: u32 = 0x184d_2a5d;
const DICTIONARY_MAGIC: [u8; 4] = 0xec30_a437_u32.to_le_bytes();
const NOT_A_FRAME: &str = "its compressed bytes are invalid";

/// The length of the magic number and the size of a skippable frame.
pub(crate) const SKIPPABLE_HEAD_BYTES: usize = 8;

/// The head of a frame that holds no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Skippable {
    pub(crate) is_dictionary: bool,
    /// How much follows the head.
    pub(crate) bytes: u32,
}

/// What a skippable frame at the beginning of `bytes` looks like.
pub(crate) fn skippable(bytes: &[u8]) -> Option<Skippable> {
    let (magic, rest) = bytes.split_first_chunk()?;
    let magic = u32::from_le_bytes(*magic);
    let bytes = u32::from_le_bytes(*rest.first_chunk()?);
    let is_dictionary = magic == DICTIONARY_FRAME;
    (magic >> 4 == DICTIONARY_FRAME >> 4).then_some(Skippable { is_dictionary, bytes })
}

/// How many bytes whole skippable frames take at the beginning of `bytes`.
pub(crate) fn skippable_bytes(bytes: &[u8]) -> usize {
    let mut taken = 0;
    while let Some(frame) = bytes.get(taken..).and_then(skippable) {
        let end = usize::try_from(frame.bytes).ok().and_then(|bytes| bytes.checked_add(SKIPPABLE_HEAD_BYTES));
        let Some(end) = end.and_then(|end| end.checked_add(taken)).filter(|end| *end <= bytes.len()) else {
            break;
        };
        taken = end;
    }
    taken
}

/// Whether `bytes` is the beginning of a skippable frame, as far as it goes.
pub(crate) fn may_be_skippable(bytes: &[u8]) -> bool {
    let [_, second, third, fourth] = DICTIONARY_FRAME.to_le_bytes();
    let is_expected = |(found, expected): (&u8, u8)| *found == expected;
    let is_first = |first: &u8| first >> 4 == 5;
    bytes.first().is_some_and(is_first) && bytes.iter().skip(1).zip([second, third, fourth]).all(is_expected)
}

/// Appends a frame of `length` bytes, at least [`SKIPPABLE_HEAD_BYTES`], that every reader skips.
pub(crate) fn append_skippable(length: usize, file: &mut Vec<u8>) {
    let content = length - SKIPPABLE_HEAD_BYTES;
    file.extend_from_slice(&(DICTIONARY_FRAME & !0xf).to_le_bytes());
    file.extend_from_slice(&u32::try_from(content).unwrap_or(u32::MAX).to_le_bytes());
    file.resize(file.len() + content, 0);
}

/// The dictionary that all frames of a file may refer to.
#[derive(Clone, PartialEq, Eq)]
pub struct Dictionary(Arc<[u8]>);

impl Dictionary {
    /// The dictionary that a frame holds, raw or compressed; none if it holds something else.
    pub(crate) fn of_frame(content: &[u8]) -> Result<Option<Self>, Fault> {
        if content.starts_with(&DICTIONARY_MAGIC) {
            return Ok(Some(Self(content.into())));
        }
        if content.starts_with(&MAGIC) {
            return Ok(Some(Self(unpack_dictionary(content)?.into())));
        }
        Ok(None)
    }
    /// The dictionary as it is used, not compressed.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dictionary of {} bytes", self.0.len())
    }
}

fn unpack_dictionary(mut frame: &[u8]) -> Result<Vec<u8>, Fault> {
    let (mut zstd, mut dictionary) = (Zstd::default(), Vec::new());
    let mut window = vec![0; 64 * 1024];
    loop {
        let step = zstd.step(frame, &mut window)?;
        dictionary.extend_from_slice(window.get(..step.made).unwrap_or_default());
        frame = frame.get(step.taken..).unwrap_or_default();
        if dictionary.len() > DICTIONARY_BYTES_MAX {
            return Err(Fault::Damaged("its dictionary is too long"));
        }
        if step.is_end {
            return Ok(dictionary);
        }
        if frame.is_empty() && step.made == 0 {
            return Err(Fault::Damaged("its dictionary ends too early"));
        }
    }
}

/// Input and output lengths of a step of decompression.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) taken: usize,
    pub(crate) made: usize,
    /// Whether the frame is over and its checksum, if it has one, is right.
    pub(crate) is_end: bool,
}

/// Decompresses frames. Its state is created with the first frame.
#[derive(Default)]
pub(crate) struct Zstd {
    context: Option<DCtx<'static>>,
    dictionary: Option<Dictionary>,
}

impl Zstd {
    pub(crate) fn set_dictionary(&mut self, dictionary: Dictionary) {
        (self.context, self.dictionary) = (None, Some(dictionary));
    }
    pub(crate) fn dictionary(&self) -> Option<&Dictionary> {
        self.dictionary.as_ref()
    }

    fn context(&mut self) -> Result<&mut DCtx<'static>, Fault> {
        if self.context.is_none() {
            let mut context = DCtx::create();
            let set = context.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX));
            set.map_err(|_| Fault::Damaged(NOT_A_FRAME))?;
            if let Some(dictionary) = &self.dictionary {
                let loaded = context.load_dictionary(dictionary.as_bytes());
                loaded.map_err(|_| Fault::Damaged("the dictionary of its file is invalid"))?;
            }
            self.context = Some(context);
        }
        self.context.as_mut().ok_or(Fault::Damaged(NOT_A_FRAME))
    }

    /// Unpacks exactly one frame; none when it is damaged or does not fit.
    pub(crate) fn whole(&mut self, frame: &[u8], room: &mut [u8]) -> Option<usize> {
        self.context().ok()?.decompress(room, frame).ok()
    }

    /// Begins a frame that is unpacked step by step.
    pub(crate) fn begin(&mut self) -> Result<(), Fault> {
        let reset = self.context()?.reset(ResetDirective::SessionOnly);
        reset.map(drop).map_err(|_| Fault::Damaged(NOT_A_FRAME))
    }
    /// Unpacks as much as `window` takes.
    pub(crate) fn step(&mut self, input: &[u8], window: &mut [u8]) -> Result<Step, Fault> {
        let (mut from, mut to) = (InBuffer::around(input), OutBuffer::around(window));
        let left = self.context()?.decompress_stream(&mut to, &mut from);
        let is_end = left.map_err(|_| Fault::Damaged(NOT_A_FRAME))? == 0;
        Ok(Step { taken: from.pos(), made: to.pos(), is_end })
    }
}

impl fmt::Debug for Zstd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Zstd").field("dictionary", &self.dictionary).finish()
    }
}

/// Compresses whole frames, each with its length and checksum.
pub(crate) struct Compress(CCtx<'static>);

impl Compress {
    pub(crate) fn new(level: ZstdLevel) -> Self {
        let mut context = CCtx::create();
        for parameter in [
            CParameter::CompressionLevel(i32::from(level.get())),
            CParameter::ContentSizeFlag(true),
            CParameter::ChecksumFlag(true),
        ] {
            context.set_parameter(parameter).expect("every level is one of zstd's");
        }
        Self(context)
    }
    /// Appends `content` to `file` as one frame.
    pub(crate) fn append(&mut self, content: &[u8], file: &mut Vec<u8>) {
        let start = file.len();
        file.resize(start + zstd::zstd_safe::compress_bound(content.len()), 0);
        let room = file.get_mut(start..).unwrap_or_default();
        let length = self.0.compress2(room, content).expect("the room is as large as the bound says");
        file.truncate(start + length);
    }
}

impl fmt::Debug for Compress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Compress")
    }
}
