//! Rewrites captures of other pages that refer to removed bytes, each with its own date and head.

use super::{Dependent, Plan};
use crate::capture::describe::{self, split_answer};
use crate::capture::entry::{Entry, Location, Stored};
use crate::error::Error;
use crate::files::fetch_record;
use crate::import::{OF_REVISIT, Written, is_one_of};
use crate::tombstone::Gone;
use crate::writing::append::Archive;
use crate::writing::records::Original;
use base::http;
use std::sync::Arc;
use warc::Record;

impl Archive {
    /// Rewrites the captures that refer to removed bytes: the first with the bytes, the others as references to it.
    pub(super) fn move_dependents(&mut self, plan: &Plan) -> Result<Vec<Entry>, Error> {
        let mut moved: Vec<Entry> = Vec::new();
        let mut home: Option<(Location, Original)> = None;
        for dependent in &plan.dependents {
            let records = self.group_records(&dependent.gone)?;
            let Some((main, companions)) = records.split_first() else { continue };
            let known = home.as_ref().filter(|(body, _)| *body == dependent.body);
            let entry = match known {
                Some((_, original)) => {
                    self.move_reference(main, companions, &dependent.entry, original.clone())?
                }
                None => {
                    let entry = self.move_home(main, companions, dependent)?;
                    let original = Original {
                        url: entry.url.clone(),
                        at: entry.at,
                        payload: entry.payload.unwrap_or_else(|| base::Sha1Digest::of(&[])),
                        content: entry.content,
                        location: entry.location.clone(),
                    };
                    home = Some((dependent.body.clone(), original));
                    entry
                }
            };
            moved.push(entry);
        }
        Ok(moved)
    }

    /// Writes a revisit as the answer that it stands for.
    fn move_home(
        &mut self,
        main: &Record,
        companions: &[Record],
        dependent: &Dependent,
    ) -> Result<Entry, Error> {
        let original = fetch_record::record(&*self.disk, &self.directory, &dependent.body, None)?;
        let block = answer(split_answer(&main.block).0, &original.block);
        let (head, body) = split_answer(&block);
        let facts = describe::Facts::of_answer(&dependent.entry.url, head, body, describe::framing(head));
        let entry = Entry {
            kind: Stored::Response,
            status: facts.status,
            media_type: facts.media_type,
            payload: Some(facts.payload),
            body: None,
            ..dependent.entry.clone()
        };
        // Its head no longer says that it is a revisit.
        let main = Record { fields: without_reference(&main.fields), ..main.clone() };
        self.make_way()?;
        self.write_group(Written { main: &main, companions, block: &block, original: None, entry })
    }

    fn move_reference(
        &mut self,
        main: &Record,
        companions: &[Record],
        entry: &Entry,
        original: Original,
    ) -> Result<Entry, Error> {
        self.make_way()?;
        let (block, entry) = (&main.block, entry.clone());
        self.write_group(Written { main, companions, block, original: Some(original), entry })
    }

    /// The records of a group, in order.
    fn group_records(&self, gone: &Gone) -> Result<Vec<Record>, Error> {
        let location = Location { file: Arc::clone(&gone.file), offset: gone.offset, length: gone.length };
        let bytes = fetch_record::member(&*self.disk, &self.directory, &location, None)?;
        let reader = warc::WarcReader::new(&*bytes, usize::MAX);
        let damaged = |_| Error::Damaged {
            path: self.directory.join(&*gone.file),
            offset: gone.offset,
            what: "it refers to bytes that are taken down, and cannot be read to be rewritten",
        };
        reader.collect::<Result<_, _>>().map_err(damaged)
    }
}

/// The fields without those that make a record a revisit.
fn without_reference(fields: &warc::Fields) -> warc::Fields {
    fields
        .iter()
        .filter(|(field, _)| !is_one_of(field, &OF_REVISIT))
        .fold(warc::Fields::new(), |fields, (name, value)| fields.foreign(name, value))
}

/// The answer that a revisit stands for: its own head and the bytes of the original, framed as the head says. The head
/// of a 304 is replaced by a plain one.
fn answer(head: &[u8], original: &[u8]) -> Vec<u8> {
    let (original_head, body) = split_answer(original);
    let payload = http::payload(body, describe::framing(original_head));
    let is_own = http::status(head).is_some_and(|status| status != 304);
    if !is_own {
        let media_type = http::field(original_head, "content-type").unwrap_or("application/octet-stream");
        let coding = http::field(original_head, "content-encoding");
        let coding = coding.map(|coding| format!("Content-Encoding: {coding}\r\n")).unwrap_or_default();
        let length = payload.len();
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\n{coding}Content-Length: {length}\r\n\r\n"
        );
        return [head.as_bytes(), &payload].concat();
    }
    [head, &describe::reframed(body, original_head, head)].concat()
}
