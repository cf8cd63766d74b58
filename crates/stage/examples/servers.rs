#![doc = "A table of HTTP server software per server, kept up to date as captures arrive."]

use archive::{Archive, Checkpoint, Group, Key, Reader, Target};
use base::disk::{Disk, Open, SimulatedDisk};
use base::{Timestamp, http, printable};
use stage::{Arrival, BodyParser, Error, Runner, Stage, parse_checkpoint};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The table: one small file, written whole at every commit.
#[derive(Debug)]
pub struct Servers {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    /// The checkpoint as it is stored; empty before the first commit.
    checkpoint: String,
    rows: BTreeMap<String, Row>,
}

/// What the latest answer of a server says, and which page brought it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    at: Timestamp,
    page: Key,
    software: String,
}

impl Stage for Servers {
    fn name(&self) -> &'static str {
        "servers"
    }

    fn checkpoint(&self) -> Result<Option<Checkpoint>, Error> {
        parse_checkpoint(self.name(), &self.checkpoint)
    }

    fn take(&mut self, arrival: &Arrival<'_>) -> Result<(), Error> {
        // Notes and visits without an answer have no such field.
        let (Some(url), Some(software)) = (arrival.url(), http::field(arrival.head()?, "server")) else {
            return Ok(());
        };
        let server = url.server().to_string();
        let at = arrival.entry().at;
        // An import brings old captures after new ones.
        if self.rows.get(&server).is_none_or(|row| row.at <= at) {
            let software = printable(software).into_owned();
            self.rows.insert(server, Row { at, page: arrival.entry().key.clone(), software });
        }
        Ok(())
    }

    fn commit(&mut self, checkpoint: &Checkpoint) -> Result<(), Error> {
        self.checkpoint = checkpoint.to_string();
        self.write().map_err(|error| Error::of("servers", error))
    }

    fn take_down(&mut self, target: &Target) -> Result<u64, Error> {
        let before = self.rows.len();
        self.rows.retain(|_, row| !target.holds(&row.page));
        self.write().map_err(|error| Error::of("servers", error))?;
        Ok((before - self.rows.len()) as u64)
    }

    fn clear(&mut self) -> Result<(), Error> {
        (self.checkpoint, self.rows) = (String::new(), BTreeMap::new());
        self.write().map_err(|error| Error::of("servers", error))
    }
}

impl Servers {
    /// Opens the table in `directory`, which must exist.
    pub fn open(disk: Arc<dyn Disk>, directory: &Path) -> io::Result<Self> {
        let path = directory.join("servers.txt");
        let text = match disk.open(&path, Open::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            file => {
                let file = file?;
                let mut bytes = vec![0; usize::try_from(file.length()?).unwrap_or(usize::MAX)];
                file.read_at(0, &mut bytes)?;
                String::from_utf8_lossy(&bytes).into_owned()
            }
        };
        let mut lines = text.lines();
        let checkpoint = lines.next().unwrap_or_default().to_owned();
        Ok(Self { disk, path, checkpoint, rows: lines.filter_map(read_row).collect() })
    }

    /// The software of a server, as it names it.
    pub fn software(&self, server: &str) -> Option<&str> {
        self.rows.get(server).map(|row| row.software.as_str())
    }

    /// Rows and checkpoint become visible, and durable, together: by the rename.
    fn write(&self) -> io::Result<()> {
        let mut text = format!("{}\n", self.checkpoint);
        for (server, Row { at, page, software }) in &self.rows {
            text += &format!("{server}\t{}\t{page}\t{software}\n", at.to_rfc3339());
        }
        let unfinished = self.path.with_extension("tmp");
        match self.disk.remove(&unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = self.disk.open(&unfinished, Open::CreateNew)?;
        file.write_at(0, text.as_bytes())?;
        file.sync()?;
        self.disk.rename(&unfinished, &self.path)?;
        self.disk.sync_directory(self.path.parent().unwrap_or(&self.path))
    }
}

fn read_row(line: &str) -> Option<(String, Row)> {
    let mut cells = line.splitn(4, '\t');
    let (server, at) = (cells.next()?.to_owned(), cells.next()?.parse().ok()?);
    let (page, software) = (Key::from_stored(cells.next()?), cells.next()?.to_owned());
    Some((server, Row { at, page, software }))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    run()
}

/// Fills the table from an archive on a disk in memory.
pub fn run() -> Result<(), Box<dyn std::error::Error>> {
    // An archive with one capture.
    let (disk, directory) = (Arc::new(SimulatedDisk::new(1)), Path::new("/data/archive"));
    let at: Timestamp = "2026-03-31T09:00:00Z".parse()?;
    let (mut archive, _) = Archive::open(disk.clone(), directory, archive::Settings::default(), at)?;
    let answer = b"HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Length: 2\r\n\r\nhi".to_vec();
    archive.import(&Group::of_answer("http://a.example/", None, at, answer))?;
    archive.close()?;

    // The table catches up with it.
    let mut servers = Servers::open(disk.clone(), Path::new("/data"))?;
    let parser = BodyParser { agent: "utsushi".into(), requisites: false };
    let runner = Runner::new(Reader::open(disk, directory)?, parser);
    assert_eq!(runner.lag(&servers)?.captures, 1);
    runner.catch_up(&mut [&mut servers], |_| {})?;
    assert_eq!(servers.software("a.example"), Some("nginx"));
    assert_eq!(runner.lag(&servers)?.captures, 0);
    Ok(())
}
