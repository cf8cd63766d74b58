//! What the dispatcher and its workers say to each other: [`Parcel`]s one way, [`Report`]s the other.
//!
//! A message is its length in four bytes and then itself; numbers are little endian. Both ends are the same program of the
//! same version, so there is nothing to negotiate.
//!
//! **Invariant:** no message is longer than [`MESSAGE_BYTES_MAX`], and whatever a broken pipe holds is refused, never
//! believed.

use archive::Location;
use base::disk::DiskFile;
use base::{Sha1Digest, Timestamp};
use std::sync::Arc;

/// The longest message: the longest document that is handed out, and what is said of it.
pub(crate) const MESSAGE_BYTES_MAX: usize = (1 << 30) + (1 << 24);

/// A document on its way to a worker: the compressed member that holds it, which goes from its file into the pipe without
/// being looked at.
#[derive(Clone, Debug)]
pub(crate) struct Parcel {
    pub(crate) number: u64,
    pub(crate) at: Timestamp,
    /// Where the member stands.
    pub(crate) location: Location,
    /// The file that it stands in.
    pub(crate) file: Arc<dyn DiskFile>,
    /// The sum of its bytes, if it is known.
    pub(crate) sum: Option<u32>,
    /// Whether the block is a whole answer; else it is the body alone.
    pub(crate) is_answer: bool,
    pub(crate) url: String,
    /// What the index knows, as members of a JSON object; empty when no program reads it.
    pub(crate) fields: String,
    /// The head of the answer, where it is not that in the record.
    pub(crate) head: Option<Vec<u8>>,
    /// The digest that the payload must have.
    pub(crate) payload: Option<Sha1Digest>,
}

/// A document as it arrives at a worker, where it lies in the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arrived<'a> {
    pub(crate) number: u64,
    pub(crate) offset: u64,
    pub(crate) sum: Option<u32>,
    pub(crate) is_answer: bool,
    /// Whether it is to be the first and only one of a program.
    pub(crate) is_alone: bool,
    pub(crate) url: &'a str,
    pub(crate) fields: &'a str,
    pub(crate) head: Option<&'a [u8]>,
    pub(crate) payload: Option<Sha1Digest>,
    pub(crate) member: &'a [u8],
}

const IS_ANSWER: u8 = 1;
const HAS_HEAD: u8 = 1 << 1;
const HAS_PAYLOAD: u8 = 1 << 2;
const HAS_SUM: u8 = 1 << 3;
const IS_ALONE: u8 = 1 << 4;

impl Parcel {
    /// What it takes on its way and where it arrives, about.
    pub(crate) fn bytes(&self) -> usize {
        self.length() + self.url.len() + self.fields.len() + self.head.as_ref().map_or(0, Vec::len) + 200
    }
    /// How long its member is.
    pub(crate) fn length(&self) -> usize {
        usize::try_from(self.location.length).unwrap_or(usize::MAX / 2)
    }

    /// Everything but the member, which is at `place` of the bytes that follow.
    fn put_front(&self, place: usize, is_alone: bool, out: &mut Vec<u8>) {
        let bits = [
            (is_alone, IS_ALONE),
            (self.is_answer, IS_ANSWER),
            (self.head.is_some(), HAS_HEAD),
            (self.payload.is_some(), HAS_PAYLOAD),
            (self.sum.is_some(), HAS_SUM),
        ];
        out.push(bits.into_iter().filter(|(is_set, _)| *is_set).fold(0, |bits, (_, bit)| bits | bit));
        put_length(out, place);
        put_length(out, self.length());
        out.extend_from_slice(&self.number.to_le_bytes());
        out.extend_from_slice(&self.location.offset.to_le_bytes());
        put_bytes(out, self.url.as_bytes());
        put_bytes(out, self.fields.as_bytes());
        self.head.iter().for_each(|head| put_bytes(out, head));
        self.payload.iter().for_each(|payload| out.extend_from_slice(payload.as_bytes()));
        self.sum.iter().for_each(|sum| out.extend_from_slice(&sum.to_le_bytes()));
    }
}

/// Parcels that are close together in one file and are sent together: their descriptions, then the range of
/// the file that holds them all.
#[derive(Debug)]
pub(crate) struct Batch<'a> {
    pub(crate) parcels: &'a [Arc<Parcel>],
    /// Where the stretch begins.
    pub(crate) from: u64,
    /// How long it is.
    pub(crate) length: usize,
    /// Whether its one parcel is tried alone.
    pub(crate) is_alone: bool,
}

/// What lies between two members that go together is no longer than this: requests and notes of the same visit.
const GAP_BYTES_MAX: u64 = 4 * 1024;
/// A stretch is no longer than this, unless it is one member.
const STRETCH_BYTES_MAX: u64 = 512 * 1024;

impl<'a> Batch<'a> {
    /// The first of `parcels` that go together, and the rest.
    pub(crate) fn split(parcels: &'a [Arc<Parcel>], is_alone: bool) -> Option<(Self, &'a [Arc<Parcel>])> {
        let first = &parcels.first()?.location;
        let (from, mut end, mut count) = (first.offset, first.offset + first.length, 1);
        for next in parcels.iter().skip(1).map(|parcel| &parcel.location) {
            let is_near = next.file == first.file && next.offset >= end && next.offset - end <= GAP_BYTES_MAX;
            if !is_near || next.offset + next.length - from > STRETCH_BYTES_MAX {
                break;
            }
            (end, count) = (next.offset + next.length, count + 1);
        }
        let (parcels, rest) = parcels.split_at_checked(count)?;
        let length = usize::try_from(end - from).unwrap_or(usize::MAX / 2);
        Some((Self { parcels, from, length, is_alone }, rest))
    }

    /// Everything but the stretch of the file.
    pub(crate) fn put_front(&self, out: &mut Vec<u8>) {
        let start = begin(out);
        let fronts = begin(out);
        for parcel in self.parcels {
            let place = usize::try_from(parcel.location.offset - self.from).unwrap_or(usize::MAX);
            parcel.put_front(place, self.is_alone, out);
        }
        end(out, fronts, 0);
        end(out, start, self.length);
    }
}

impl<'a> Arrived<'a> {
    /// The next document of a message without its length; `from` says how much of what is said of them was read. Nothing
    /// after the last.
    pub(crate) fn next(message: &'a [u8], from: &mut usize) -> Result<Option<Self>, TooLong> {
        let mut whole = Rest(message);
        let fronts = whole.bytes().ok_or(TooLong)?;
        let mut rest = Rest(fronts.get(*from..).ok_or(TooLong)?);
        if rest.0.is_empty() {
            return Ok(None);
        }
        let arrived = Self::read(&mut rest, whole.0).ok_or(TooLong)?;
        *from = fronts.len() - rest.0.len();
        Ok(Some(arrived))
    }

    fn read(rest: &mut Rest<'a>, stretch: &'a [u8]) -> Option<Self> {
        let [bits] = rest.chunk()?;
        let (place, length) = (rest.length()?, rest.length()?);
        let member = stretch.get(place..place.checked_add(length)?)?;
        let number = u64::from_le_bytes(rest.chunk()?);
        let offset = u64::from_le_bytes(rest.chunk()?);
        let (url, fields) = (rest.text()?, rest.text()?);
        let head = if bits & HAS_HEAD == 0 { None } else { Some(rest.bytes()?) };
        let payload =
            if bits & HAS_PAYLOAD == 0 { None } else { Some(Sha1Digest::from_bytes(rest.chunk()?)) };
        let sum = if bits & HAS_SUM == 0 { None } else { Some(u32::from_le_bytes(rest.chunk()?)) };
        let (is_answer, is_alone) = (bits & IS_ANSWER != 0, bits & IS_ALONE != 0);
        Some(Self { number, offset, sum, is_answer, is_alone, url, fields, head, payload, member })
    }
}

/// The answer of an analysis about one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnalysisAnswer {
    /// A JSON value on one line.
    Json(String),
    /// Text of any shape.
    Text(String),
    /// Bytes that are not text.
    Bytes(Vec<u8>),
}

impl AnalysisAnswer {
    /// A block of bytes, which may be text.
    pub(crate) fn of_block(bytes: Vec<u8>) -> Self {
        String::from_utf8(bytes).map_or_else(|error| Self::Bytes(error.into_bytes()), Self::Text)
    }
    const fn code(&self) -> u8 {
        match self {
            Self::Json(_) => 0,
            Self::Text(_) => 1,
            Self::Bytes(_) => 2,
        }
    }
    /// The answer as bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Json(text) | Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
    /// Its kind and its bytes, as they are sent and kept.
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        out.push(self.code());
        out.extend_from_slice(self.as_bytes());
    }
    /// Reads what [`AnalysisAnswer::put`] wrote, up to the end.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (code, rest) = bytes.split_first()?;
        let text = || String::from_utf8(rest.to_vec()).ok();
        match code {
            0 => text().map(Self::Json),
            1 => text().map(Self::Text),
            2 => Some(Self::Bytes(rest.to_vec())),
            _ => None,
        }
    }
}

/// A report of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// What the analysis said of a document.
    Answered(u64, AnalysisAnswer),
    /// A document that cannot be handed to any analysis, and why.
    Unfit(u64, String),
    /// The program ended; it had been given these and had not answered. The worker goes on with what it has.
    Died { failure: AnalysisFailure, suspects: Vec<u64> },
    /// How long the worker has had a document in hand so far, in microseconds.
    Busy(u64),
    /// The worker cannot work at all.
    Broken(String),
}

/// How an analysis failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnalysisFailure {
    /// The kind of failure.
    pub cause: FailureCause,
    /// A description of the failure.
    pub what: String,
    /// The end of the program's standard error.
    pub words: String,
}

/// The kind of an analysis failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureCause {
    /// It exited without an answer.
    Ended,
    /// It was ended by a signal, its own or from outside.
    Crashed,
    /// It did nothing for too long, or took too long for one document.
    Hung,
    /// It exceeded its limit of memory or processes.
    Greedy,
    /// It wrote something that is not an answer.
    Garbage,
    /// Its worker ended.
    Worker,
    /// The document could not be given to it.
    Unfit,
}

impl FailureCause {
    /// Every cause, in the order of their codes.
    pub(crate) const ALL: [Self; 7] =
        [Self::Ended, Self::Crashed, Self::Hung, Self::Greedy, Self::Garbage, Self::Worker, Self::Unfit];

    /// The cause in a word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::Crashed => "crashed",
            Self::Hung => "hung",
            Self::Greedy => "greedy",
            Self::Garbage => "garbage",
            Self::Worker => "worker",
            Self::Unfit => "unfit",
        }
    }
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Ended => 0,
            Self::Crashed => 1,
            Self::Hung => 2,
            Self::Greedy => 3,
            Self::Garbage => 4,
            Self::Worker => 5,
            Self::Unfit => 6,
        }
    }
}

const ANSWERED: u8 = 0;
const UNFIT: u8 = 1;
const DIED: u8 = 2;
const BUSY: u8 = 3;
const BROKEN: u8 = 4;

impl Report {
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        let start = begin(out);
        match self {
            Self::Answered(number, answer) => {
                out.push(ANSWERED);
                out.extend_from_slice(&number.to_le_bytes());
                answer.put(out);
            }
            Self::Unfit(number, why) => {
                out.push(UNFIT);
                out.extend_from_slice(&number.to_le_bytes());
                out.extend_from_slice(why.as_bytes());
            }
            Self::Died { failure, suspects } => {
                out.extend_from_slice(&[DIED, failure.cause.code()]);
                put_bytes(out, failure.what.as_bytes());
                put_bytes(out, failure.words.as_bytes());
                suspects.iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
            }
            Self::Busy(micros) => {
                out.push(BUSY);
                out.extend_from_slice(&micros.to_le_bytes());
            }
            Self::Broken(why) => {
                out.push(BROKEN);
                out.extend_from_slice(why.as_bytes());
            }
        }
        end(out, start, 0);
    }

    /// Reads a message without its length.
    pub(crate) fn read(message: &[u8]) -> Option<Self> {
        let mut rest = Rest(message);
        let [tag] = rest.chunk()?;
        match tag {
            ANSWERED => {
                Some(Self::Answered(u64::from_le_bytes(rest.chunk()?), AnalysisAnswer::read(rest.0)?))
            }
            UNFIT => Some(Self::Unfit(u64::from_le_bytes(rest.chunk()?), rest.all()?)),
            DIED => {
                let [code] = rest.chunk()?;
                let cause = FailureCause::ALL.into_iter().find(|cause| cause.code() == code)?;
                let (what, words) = (rest.text()?.to_owned(), rest.text()?.to_owned());
                let mut suspects = Vec::new();
                while !rest.0.is_empty() {
                    suspects.push(u64::from_le_bytes(rest.chunk()?));
                }
                Some(Self::Died { failure: AnalysisFailure { cause, what, words }, suspects })
            }
            BUSY => Some(Self::Busy(u64::from_le_bytes(rest.chunk()?))),
            BROKEN => rest.all().map(Self::Broken),
            _ => None,
        }
    }
}

/// The first message in `bytes` and how many bytes it takes with its length; nothing while it is not whole. An error when
/// no message begins there.
pub(crate) fn split(bytes: &[u8]) -> Result<Option<(&[u8], usize)>, TooLong> {
    let Some((length, rest)) = bytes.split_first_chunk::<4>() else { return Ok(None) };
    let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
    if length > MESSAGE_BYTES_MAX {
        return Err(TooLong);
    }
    Ok(rest.get(..length).map(|message| (message, 4 + length)))
}

/// How long the first message in `bytes` is with its length, as soon as that is known.
pub(crate) fn wanted(bytes: &[u8]) -> Option<usize> {
    let (length, _) = bytes.split_first_chunk::<4>()?;
    usize::try_from(u32::from_le_bytes(*length)).ok().map(|length| length.saturating_add(4))
}

/// Something that is no message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

fn begin(out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    start
}

/// Writes the length of what began at `start` and goes on for `more` bytes that are not in `out`.
fn end(out: &mut [u8], start: usize, more: usize) {
    let length =
        u32::try_from(out.len() - start - 4 + more).expect("documents and answers are bounded far below");
    if let Some(place) = out.get_mut(start..start + 4) {
        place.copy_from_slice(&length.to_le_bytes());
    }
}

pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_length(out, bytes.len());
    out.extend_from_slice(bytes);
}

fn put_length(out: &mut Vec<u8>, length: usize) {
    let length = u32::try_from(length).expect("documents, heads and texts are bounded far below");
    out.extend_from_slice(&length.to_le_bytes());
}

/// What is left of a message.
pub(crate) struct Rest<'a>(pub(crate) &'a [u8]);

impl<'a> Rest<'a> {
    pub(crate) fn chunk<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (chunk, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*chunk)
    }
    fn length(&mut self) -> Option<usize> {
        usize::try_from(u32::from_le_bytes(self.chunk()?)).ok()
    }
    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }
    pub(crate) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }
    fn all(&mut self) -> Option<String> {
        String::from_utf8(std::mem::take(&mut self.0).to_vec()).ok()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use base::Chance;
    use base::disk::{Disk as _, Open, SimulatedDisk};
    use std::path::Path;

    fn parcel() -> Parcel {
        Parcel {
            number: u64::MAX,
            sum: Some(7),
            is_answer: true,
            fields: r#""url":"x""#.to_owned(),
            head: Some(b"HTTP/1.1 200 OK\r\n\r\n".to_vec()),
            payload: Some(Sha1Digest::of(&[b"x"])),
            ..small(3)
        }
    }

    /// A parcel of `bytes` bytes.
    pub(crate) fn small(length: u64) -> Parcel {
        let (disk, path) = (SimulatedDisk::new(1), Path::new("/a.warc.gz"));
        Parcel {
            number: 0,
            at: Timestamp::MIN,
            location: Location { file: "a.warc.gz".into(), offset: 9, length },
            file: disk.open(path, Open::CreateNew).unwrap(),
            sum: None,
            is_answer: false,
            url: "http://a.example/写し".to_owned(),
            fields: String::new(),
            head: None,
            payload: None,
        }
    }

    /// Two parcels, three bytes each, with two between them.
    fn parcels() -> Vec<Arc<Parcel>> {
        let location = |offset| Location { file: "a.warc.gz".into(), offset, length: 3 };
        let parcels =
            [Parcel { location: location(9), ..parcel() }, Parcel { location: location(14), ..small(3) }];
        parcels.into_iter().map(Arc::new).collect()
    }

    fn sent(parcels: &[Arc<Parcel>]) -> Vec<u8> {
        let (batch, rest) = Batch::split(parcels, true).unwrap();
        assert_eq!((batch.from, batch.length, rest.len()), (9, 8, 0));
        let mut bytes = Vec::new();
        batch.put_front(&mut bytes);
        bytes.extend_from_slice(&[0, 1, 2, 99, 99, 3, 4, 5]);
        bytes
    }

    fn reports() -> Vec<Report> {
        let failure =
            AnalysisFailure { cause: FailureCause::Hung, what: "still".to_owned(), words: "ぐ".to_owned() };
        vec![
            Report::Answered(1, AnalysisAnswer::Json("{}".to_owned())),
            Report::Answered(2, AnalysisAnswer::Text(String::new())),
            Report::Answered(3, AnalysisAnswer::Bytes(vec![255])),
            Report::Unfit(4, "why".to_owned()),
            Report::Died { failure, suspects: vec![5, 6] },
            Report::Busy(7),
            Report::Broken("no".to_owned()),
        ]
    }

    #[test]
    fn parcels_and_reports_arrive_as_they_were_sent() {
        let parcels = parcels();
        let bytes = sent(&parcels);
        let (message, length) = split(&bytes).unwrap().unwrap();
        assert_eq!((length, wanted(&bytes)), (bytes.len(), Some(bytes.len())));
        let mut from = 0;
        for (parcel, member) in parcels.iter().zip([&[0, 1, 2], &[3, 4, 5]]) {
            let expected = Arrived {
                number: parcel.number,
                offset: parcel.location.offset,
                sum: parcel.sum,
                is_answer: parcel.is_answer,
                is_alone: true,
                url: &parcel.url,
                fields: &parcel.fields,
                head: parcel.head.as_deref(),
                payload: parcel.payload,
                member,
            };
            assert_eq!(Arrived::next(message, &mut from), Ok(Some(expected)));
        }
        assert_eq!(Arrived::next(message, &mut from), Ok(None));
        for report in reports() {
            let mut bytes = Vec::new();
            report.put(&mut bytes);
            assert_eq!(Report::read(split(&bytes).unwrap().unwrap().0), Some(report));
        }
    }

    #[test]
    fn half_a_message_is_none_and_noise_is_refused() {
        let bytes = sent(&parcels());
        for end in 0..bytes.len() {
            assert_eq!(split(&bytes[..end]), Ok(None));
            let _ = Arrived::next(&bytes[..end], &mut 0);
        }
        assert_eq!(split(&[255; 9]), Err(TooLong));
        let mut chance = Chance::new(1);
        for _ in 0..10_000 {
            let noise: Vec<u8> = (0..chance.below(60)).map(|_| chance.bits().to_le_bytes()[0]).collect();
            let _ = (Arrived::next(&noise, &mut 0), Report::read(&noise), split(&noise));
        }
    }

    #[test]
    fn only_what_lies_close_together_goes_together() {
        let at = |file: &str, offset, length| {
            let location = Location { file: file.into(), offset, length };
            Arc::new(Parcel { location, ..small(3) })
        };
        #[track_caller]
        fn check(parcels: &[Arc<Parcel>], expected: usize) {
            let (batch, rest) = Batch::split(parcels, false).unwrap();
            assert_eq!((batch.parcels.len(), rest.len()), (expected, parcels.len() - expected));
        }
        check(&[at("a", 0, 10), at("a", 10, 10), at("a", 5_000, 1)], 2);
        check(&[at("a", 0, 10), at("b", 10, 10)], 1);
        check(&[at("a", 50, 10), at("a", 0, 10)], 1);
        // One body that stands for two pages goes twice.
        check(&[at("a", 0, 10), at("a", 0, 10)], 1);
        check(&[at("a", 0, 1 << 20), at("a", 1 << 20, 10)], 1);
        check(&[at("a", 0, 400_000), at("a", 400_000, 200_000)], 1);
    }

    #[test]
    fn causes_are_read_as_they_are_written() {
        for (place, cause) in FailureCause::ALL.into_iter().enumerate() {
            assert_eq!(usize::from(cause.code()), place, "{}", cause.as_str());
        }
    }
}
