//! An archived answer as an `Exchange`, so that code that reads answers reads archived ones too.
//!
//! **Invariant:** head and payload are those of the visit, including the bytes of a revisit. Port, times, marks and
//! chunk framing are left out.

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
    /// The answer of a capture; `None` for a visit without an answer and for other records.
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

/// The address that answered, without the port, which no record holds; the unspecified address if it was not recorded.
fn address(record: &Record) -> SocketAddr {
    let stated = record.fields.get(name::IP_ADDRESS).and_then(|address| address.parse().ok());
    SocketAddr::new(stated.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)), 0)
}

/// Why a body is incomplete. An unknown reason is read as the one that trusts the body least.
fn truncation(record: &Record, entry: &Entry) -> Option<Truncation> {
    let stated = record.fields.get(name::TRUNCATED).filter(|_| entry.truncated)?;
    Some(Truncation::named(stated).unwrap_or(Truncation::Disconnect))
}
