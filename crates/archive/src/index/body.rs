//! Bodies: where the record is that holds some bytes, found by their digest.

use crate::capture::entry::{ContentKey, Stored};
use crate::error::Error;
use crate::index::Run;
use crate::index::row::{Place, Row};
use base::Sha1Digest;
use base::bytes::ByteReader;
use runs::Secondary;
use std::cmp::Ordering;
use std::ops::ControlFlow;

/// A stored body: where the record is that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Body {
    pub(crate) payload: Sha1Digest,
    /// The beginning of the content's key: it distinguishes two bodies with the same SHA-1.
    pub(crate) content: [u8; 8],
    pub(crate) place: Place,
}

impl Body {
    /// The body that a row stores, if it stores one that others may refer to.
    pub(crate) fn of(row: &Row) -> Option<Self> {
        let is_stored = row.kind == Stored::Response && !row.truncated;
        let payload = row.payload.filter(|payload| is_stored && *payload != Sha1Digest::of(&[]))?;
        // Longer records are kept, but never referred to.
        let is_short = u32::try_from(row.place.length).is_ok();
        is_short.then_some(Self { payload, content: tag(row.content?), place: row.place })
    }
}

/// The beginning of a content's key.
pub(crate) fn tag(content: ContentKey) -> [u8; 8] {
    *content.0.first_chunk().expect("it is 16 bytes long")
}

fn prefix(payload: Sha1Digest) -> u64 {
    u64::from_be_bytes(*payload.as_bytes().first_chunk().expect("it is 20 bytes long"))
}

/// Encoded as its digest, the beginning of its content's key, and its place.
impl Secondary for Body {
    const BYTES: usize = 20 + 8 + 4 + 8 + 4;
    const PER_BLOCK: usize = 372;

    fn prefix(&self) -> u64 {
        prefix(self.payload)
    }
    fn order(&self, other: &Self) -> Ordering {
        (self.payload, self.content).cmp(&(other.payload, other.content))
    }
    fn encode(&self, bytes: &mut Vec<u8>, name: &mut dyn FnMut(u32) -> u32) {
        bytes.extend_from_slice(self.payload.as_bytes());
        bytes.extend_from_slice(&self.content);
        bytes.extend_from_slice(&name(self.place.file).to_le_bytes());
        bytes.extend_from_slice(&self.place.offset.to_le_bytes());
        let length = u32::try_from(self.place.length).unwrap_or(u32::MAX);
        bytes.extend_from_slice(&length.to_le_bytes());
    }
    fn decode(bytes: &mut ByteReader<'_>, names: &[u32]) -> Option<Self> {
        let (payload, content) = (Sha1Digest::from_bytes(bytes.array()?), bytes.array()?);
        let file = *names.get(bytes.u32()? as usize)?;
        let place = Place { file, offset: bytes.u64()?, length: u64::from(bytes.u32()?) };
        Some(Self { payload, content, place })
    }
}

/// Where a run says that the body with this digest and content is stored.
pub(crate) fn find_body(run: &Run, payload: Sha1Digest, content: ContentKey) -> Result<Option<Place>, Error> {
    let found = run.look_up(prefix(payload), |bodies| {
        let start = bodies.partition_point(|body| body.payload < payload);
        let mut same = bodies[start..].iter().take_while(|body| body.payload == payload);
        match same.find(|body| body.content == tag(content)) {
            Some(body) => ControlFlow::Break(Some(body.place)),
            None if bodies.last().is_some_and(|last| last.payload > payload) => ControlFlow::Break(None),
            None => ControlFlow::Continue(()),
        }
    })?;
    Ok(found.flatten())
}

/// Where a run says that any body with this digest is stored.
pub(crate) fn find_payload(run: &Run, payload: Sha1Digest) -> Result<Option<Place>, Error> {
    let found =
        run.look_up(prefix(payload), |bodies| match bodies.iter().find(|body| body.payload == payload) {
            Some(body) => ControlFlow::Break(body.place),
            None => ControlFlow::Continue(()),
        })?;
    Ok(found)
}
