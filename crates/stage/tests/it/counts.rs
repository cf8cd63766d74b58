//! A stage that counts how often each software answered. A capture that is taken twice shows.

use archive::{Checkpoint, Target};
use base::disk::{Disk, Open, SimulatedDisk};
use base::http;
use stage::{Arrival, Error, Stage, parse_checkpoint};
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) struct Counts {
    disk: SimulatedDisk,
    path: PathBuf,
    checkpoint: String,
    counts: BTreeMap<String, u64>,
    /// The addresses of the parsed bodies that it was shown.
    pub(crate) bodies: Vec<usize>,
    /// How many captures it could look ahead each time.
    pub(crate) ahead: Vec<usize>,
}

impl Counts {
    pub(crate) fn open(disk: &SimulatedDisk, name: &str) -> io::Result<Self> {
        disk.create_directory(Path::new("/data"))?;
        let path = Path::new("/data").join(name);
        let text = match disk.open(&path, Open::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            file => {
                let file = file?;
                let mut bytes = vec![0; usize::try_from(file.length()?).unwrap()];
                file.read_at(0, &mut bytes)?;
                String::from_utf8_lossy(&bytes).into_owned()
            }
        };
        let mut lines = text.lines();
        let checkpoint = lines.next().unwrap_or_default().to_owned();
        let row = |line: &str| {
            let (count, software) = line.split_once(' ')?;
            Some((software.to_owned(), count.parse().ok()?))
        };
        let counts = lines.filter_map(row).collect();
        Ok(Self { disk: disk.clone(), path, checkpoint, counts, bodies: Vec::new(), ahead: Vec::new() })
    }

    /// Stores the counts with a checkpoint, whatever that is.
    pub(crate) fn store(&mut self, checkpoint: &str) -> Result<(), Error> {
        checkpoint.clone_into(&mut self.checkpoint);
        self.write().map_err(|error| Error::of("counts", error))
    }
    fn write(&self) -> io::Result<()> {
        let rows: String =
            self.counts.iter().map(|(software, count)| format!("{count} {software}\n")).collect();
        let new = self.path.with_extension("tmp");
        match self.disk.remove(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = self.disk.open(&new, Open::CreateNew)?;
        file.write_at(0, format!("{}\n{rows}", self.checkpoint).as_bytes())?;
        file.sync()?;
        self.disk.rename(&new, &self.path)?;
        self.disk.sync_directory(Path::new("/data"))
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows: Vec<String> =
            self.counts.iter().map(|(software, count)| format!("{software} {count}")).collect();
        f.write_str(&rows.join(", "))
    }
}

impl Stage for Counts {
    fn name(&self) -> &'static str {
        "counts"
    }
    fn checkpoint(&self) -> Result<Option<Checkpoint>, Error> {
        parse_checkpoint(self.name(), &self.checkpoint)
    }
    fn take(&mut self, arrival: &Arrival<'_>) -> Result<(), Error> {
        self.ahead.push(arrival.following().count());
        if let Some(software) = http::field(arrival.head()?, "server") {
            *self.counts.entry(software.to_owned()).or_default() += 1;
        }
        self.bodies.extend(arrival.page()?.map(|page| std::ptr::from_ref(page).addr()));
        Ok(())
    }
    fn commit(&mut self, checkpoint: &Checkpoint) -> Result<(), Error> {
        self.store(&checkpoint.to_string())
    }
    fn take_down(&mut self, _: &Target) -> Result<u64, Error> {
        // Counts say nothing of any page.
        Ok(0)
    }
    fn clear(&mut self) -> Result<(), Error> {
        self.counts.clear();
        self.store("")
    }
}
