//! The archive of the data directory, opened: for a reader beside others, or for the one writer (D1).

use super::Context;
use crate::node::directory::{Directory, Floor, Opening, Web, Writer};
use crate::words::count_of;
use anyhow::Context as _;
use archive::{Archive, Key, Reader, Recovery};
use base::clock::{Clock as _, RealClock};
use base::disk::RealDisk;
use base::{Interval, PageUrl, Timestamp};
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl Context {
    /// Opens the archive to read from it, whoever writes to it meanwhile.
    pub(crate) fn reader(&self) -> anyhow::Result<(Directory, Reader)> {
        let directory = Directory::open_reader(&self.data)?;
        let reader = Reader::open(Arc::new(RealDisk), &directory.archive_path());
        Ok((directory, reader.context("cannot read the archive")?))
    }

    /// The present of the data directory, from which ages count. For the public web it is that of this machine. The simulated
    /// web has a clock of its own, which runs ahead: its present is right after its latest capture (D16).
    pub(crate) fn present(&self) -> anyhow::Result<Timestamp> {
        let (directory, reader) = self.reader()?;
        let last = match directory.format().web {
            Web::Public => None,
            Web::Simulated => reader.summary().context("cannot read the archive")?.last,
        };
        let after = |last: Timestamp| last.plus(Interval::from_micros(1));
        Ok(last.map_or_else(|| RealClock::start().now(), after))
    }

    /// The same, and says it when the directory holds the simulated web.
    pub(crate) fn tell_present(&self) -> anyhow::Result<Timestamp> {
        self.tell_simulated()?;
        self.present()
    }

    /// Says that times are not ours when the directory holds the simulated web.
    pub(crate) fn tell_simulated(&self) -> anyhow::Result<()> {
        if Directory::open_reader(&self.data)?.format().web == Web::Simulated {
            let present = self.present()?;
            self.output.note(format!("times are those of the simulated web, where it is now {present}"));
        }
        Ok(())
    }

    /// Takes the right to write. The data directory is made if there is none, to hold `web`; one that exists must hold
    /// it already.
    pub(crate) fn lock(&self, web: Web, command: &str, now: Timestamp) -> anyhow::Result<Writer> {
        let floor = Floor::from(&self.config.archive);
        Ok(Directory::open_writer(&self.data, &Opening { web, command, now, floor })?)
    }

    /// Takes the right to write to a data directory that exists, whichever web it holds.
    pub(crate) fn lock_existing(&self, command: &str, now: Timestamp) -> anyhow::Result<Writer> {
        let web = Directory::open_reader(&self.data)?.format().web;
        self.lock(web, command, now)
    }

    /// Opens the archive to write to it, and says what the last writer left unfinished.
    pub(crate) fn archive(&self, writer: &Writer, now: Timestamp) -> anyhow::Result<Archive> {
        let settings = &self.config.archive;
        let settings = archive::Settings {
            file_bytes_max: settings.file_bytes_max,
            compression: settings.compression(),
            disk_free_bytes_min: writer.disk_free_bytes_min(),
            ..archive::Settings::default()
        };
        let (archive, recovery) = Archive::open(Arc::new(RealDisk), &writer.archive_path(), settings, now)?;
        self.tell_recovery(&recovery);
        Ok(archive)
    }

    /// Says what had to be mended.
    pub(crate) fn tell_recovery(&self, recovery: &Recovery) {
        for file in &recovery.files {
            self.output.note(format!(
                "`{}` was left unfinished: {} captures are kept, {} bytes at its end that were never acknowledged are cut",
                file.file, file.captures, file.lost_bytes
            ));
            for offset in &file.damaged_offsets {
                self.output.complaint(format!("the record at byte `{offset}` of `{}` is damaged", file.file));
            }
        }
        for (file, offset) in &recovery.damaged {
            self.output.complaint(format!(
                "the record at byte `{offset}` of `{file}` is damaged; it is left out of the index"
            ));
        }
        if let Some(why) = &recovery.index {
            self.output.note(format!("the index is made anew: {why}"));
        }
        if recovery.takedowns > 0 {
            self.output
                .note(format!("{} that was cut off is finished", count_of(recovery.takedowns, "takedown")));
        }
    }

    /// Where what does not fit into memory can wait: beside the output if that is a file, else in the data directory,
    /// else where the system keeps such things.
    pub(crate) fn spool(&self, output: Option<&Path>) -> PathBuf {
        let beside = output.and_then(Path::parent);
        let beside = beside.map(|parent| if parent.as_os_str().is_empty() { Path::new(".") } else { parent });
        let places = beside.into_iter().chain([self.data.as_path()]);
        let can_write = |place: &&Path| rustix::fs::access(*place, rustix::fs::Access::WRITE_OK).is_ok();
        places.into_iter().find(can_write).map_or_else(std::env::temp_dir, Path::to_owned)
    }
}

/// What a page is known by, if `text` was asked for; a missing `http://` is added.
pub(crate) fn key_of(text: &str) -> Key {
    let is_page = |url: &String| PageUrl::parse(url).is_ok();
    let with_scheme = Some(format!("http://{text}")).filter(|url| !text.contains("://") && is_page(url));
    Key::of(with_scheme.as_deref().unwrap_or(text))
}
