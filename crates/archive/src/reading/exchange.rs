//! An archived answer as the door gave it, so that whatever reads answers reads archived ones too.
//!
//! **Invariant:** head and payload are those of the visit, the bytes of a revisit included. What no record holds, the
//! port and the times, is left out, and so are the marks; chunk framing is removed, and so nothing says any more how
//! the body ended.

use crate::capture::entry::{Entry, Stored};
use crate::error::Error;
use crate::reading::reader::Reader;
use base::Body;
use base::door::{Exchange, Marks, Times, Truncation};
use base::http::Framing;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use warc::Record;
use warc::header::name;

impl Reader {
    /// The answer that a capture brought; nothing for a visit without one, and for what is no visit.
    pub fn exchange(&self, entry: &Entry) -> Result<Option<Exchange>, Error> {
        if !matches!(entry.kind, Stored::Response | Stored::Revisit) {
            return Ok(None);
        }
        let record = self.record(entry)?;
        let (address, truncated) = (address(&record), truncation(&record, entry));
        let document = self.document_of(entry, record)?;
        let body = Body::from(document.payload().into_owned());
        Ok(Some(Exchange {
            address,
            request_head: Vec::new(),
            response_head: document.head,
            body,
            status: entry.status.unwrap_or(0),
            framing: Framing::UntilClose,
            truncated,
            marks: Marks::default(),
            times: Times::default(),
        }))
    }
}

/// Who answered, without the port, which no record holds; the unspecified address if it was not recorded.
fn address(record: &Record) -> SocketAddr {
    let stated = record.fields.get(name::IP_ADDRESS).and_then(|address| address.parse().ok());
    SocketAddr::new(stated.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)), 0)
}

/// Why a body is incomplete. Of a reason that is not known the one is taken that trusts the body least.
fn truncation(record: &Record, entry: &Entry) -> Option<Truncation> {
    let stated = record.fields.get(name::TRUNCATED).filter(|_| entry.truncated)?;
    Some(Truncation::named(stated).unwrap_or(Truncation::Disconnect))
}
