//! The runs of a store as their writer has them: published generations, merged by levels.
//!
//! **Invariant:** the runs of the published generation hold all rows of the inputs that it covers, at every moment and
//! after any crash. Anything else in the directory is unused and is removed by the next writer.

use crate::error::Error;
use crate::generation::{Generation, UNFINISHED_NAME};
use crate::merge::{Keep, merge};
use crate::names::Names;
use crate::rows::Rows;
use crate::run::{Run, RunWriter, file_name};
use crate::walk::RowSource;
use base::disk::Disk;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Number of runs of one level that are merged into one of the next.
const RUNS_PER_LEVEL: usize = 6;

/// Runs, oldest first, each with its level: how often its rows were merged.
type LevelledRuns<R> = Vec<(Arc<Run<R>>, u32)>;

/// The runs of a store as their writer has them. There is one writer at a time; the program ensures that.
#[derive(Debug)]
pub struct RunStore<R: Rows> {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    names: Arc<Names>,
    generation: Generation,
    runs: LevelledRuns<R>,
    merges_beside: bool,
    merging: Option<Merging<R>>,
}

/// A running merge on its own thread.
#[derive(Debug)]
struct Merging<R> {
    id: u64,
    level: u32,
    /// The runs that it merges.
    of: Vec<u64>,
    thread: JoinHandle<Result<Run<R>, Error>>,
}

impl<R: Rows> Drop for RunStore<R> {
    /// Waits for the thread: the next writer must not meet one that still writes.
    fn drop(&mut self) {
        if let Some(merging) = self.merging.take() {
            // Its run is unused now, whether it succeeded or not.
            let _ = merging.thread.join();
        }
    }
}

impl<R: Rows> RunStore<R> {
    /// Opens what is published in `directory`, which is created if necessary. A damaged store counts as empty: the
    /// damage is returned with it, and the rows must be added again.
    ///
    /// # Errors
    /// When the directory cannot be read or written.
    pub fn open(disk: Arc<dyn Disk>, directory: &Path) -> Result<(Self, Option<Error>), Error> {
        disk.create_directory(directory)
            .map_err(|source| Error::writing(&*disk, "make directory", directory, source))?;
        let parent = directory.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or_else(|| Path::new("."));
        disk.sync_directory(parent).map_err(|source| Error::io("sync", parent, source))?;
        let mut names = Names::default();
        let (generation, runs, damage) = match load(&*disk, directory, &mut names) {
            Ok((generation, runs)) => (generation, runs, None),
            Err(damage @ Error::Damaged { .. }) => (Generation::default(), Vec::new(), Some(damage)),
            Err(Error::Io { action, path, source }) if source.kind() == std::io::ErrorKind::NotFound => {
                let what = Error::Io { action, path, source };
                (Generation::default(), Vec::new(), Some(what))
            }
            Err(error) => return Err(error),
        };
        let (directory, names) = (directory.to_owned(), Arc::new(names));
        let mut store =
            Self { disk, directory, names, generation, runs, merges_beside: false, merging: None };
        // After damage, numbers of runs start after everything that may be in the directory.
        store.generation.next_run = store.generation.next_run.max(store.last_file()? + 1);
        if damage.is_some() {
            store.install(store.generation.clone(), Vec::new())?;
        } else {
            // The writer that published this may have crashed before the name was durable; unused runs are removed only
            // after it is.
            store.sync_directory()?;
            store.remove_unused()?;
        }
        Ok((store, damage))
    }

    /// Sets whether runs are merged on their own thread.
    pub fn merge_beside(&mut self, is_wanted: bool) {
        self.merges_beside = is_wanted;
    }
    /// Whether the runs hold all rows of an input.
    #[must_use]
    pub fn covers(&self, input: &str) -> bool {
        self.generation.covered.contains(input)
    }
    /// The names that rows refer to.
    #[must_use]
    pub fn names(&self) -> &Arc<Names> {
        &self.names
    }
    /// The names that rows refer to, to add some.
    pub fn names_mut(&mut self) -> &mut Names {
        Arc::make_mut(&mut self.names)
    }
    /// The runs, oldest first.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = &Arc<Run<R>>> {
        self.runs.iter().map(|(run, _)| run)
    }
    /// The runs, to be walked.
    #[must_use]
    pub fn sources(&self) -> Vec<RowSource<R>> {
        self.runs().map(|run| RowSource::Run(Arc::clone(run))).collect()
    }

    /// The line that was published with the rows; empty if there was none.
    #[must_use]
    pub fn mark(&self) -> &str {
        &self.generation.mark
    }

    /// Publishes one more run, as [`RunStore::add_run`] does, and `mark` with it, as one unit.
    ///
    /// # Errors
    /// When the run cannot be written or published. Nothing has changed then.
    ///
    /// # Panics
    /// When the mark has more than one line.
    pub fn add_marked_run(
        &mut self,
        keys_max: u64,
        mark: &str,
        fill: impl FnOnce(&mut RunWriter<'_, R>, &mut Names) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.add(Generation { mark: one_line(mark), ..self.generation.clone() }, keys_max, fill)
    }

    /// Publishes a mark without rows.
    ///
    /// # Errors
    /// When it cannot be published. Nothing has changed then.
    ///
    /// # Panics
    /// When the mark has more than one line.
    pub fn set_mark(&mut self, mark: &str) -> Result<(), Error> {
        self.install(Generation { mark: one_line(mark), ..self.generation.clone() }, self.runs.clone())
    }

    /// Publishes one more run, which `fill` writes and which holds at most `keys_max` keys. With it the runs hold all rows of
    /// the inputs `covered`.
    ///
    /// # Errors
    /// When the run cannot be written or published. Nothing has changed then.
    pub fn add_run(
        &mut self,
        keys_max: u64,
        covered: impl IntoIterator<Item = Arc<str>>,
        fill: impl FnOnce(&mut RunWriter<'_, R>, &mut Names) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut generation = self.generation.clone();
        generation.covered.extend(covered);
        self.add(generation, keys_max, fill)
    }

    /// Writes a run and publishes it with `generation`.
    fn add(
        &mut self,
        mut generation: Generation,
        keys_max: u64,
        fill: impl FnOnce(&mut RunWriter<'_, R>, &mut Names) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let disk = Arc::clone(&self.disk);
        let mut writer = RunWriter::create(&*disk, &self.directory, generation.next_run, keys_max)?;
        fill(&mut writer, self.names_mut())?;
        let run = writer.finish(self.names_mut())?;
        generation.next_run += 1;
        let mut runs = self.runs.clone();
        runs.push((Arc::new(run), 0));
        self.install(generation, runs)
    }

    /// Publishes that the runs hold all rows of the inputs `covered`.
    ///
    /// # Errors
    /// When the generation cannot be published. Nothing has changed then.
    pub fn cover(&mut self, covered: impl IntoIterator<Item = Arc<str>>) -> Result<(), Error> {
        let mut generation = self.generation.clone();
        generation.covered.extend(covered);
        self.install(generation, self.runs.clone())
    }

    /// Replaces all runs by one with what `keep` accepts.
    ///
    /// # Errors
    /// When runs cannot be read or written.
    pub fn rewrite(&mut self, keep: &mut dyn Keep<R>) -> Result<(), Error> {
        self.take_merged(true)?;
        let runs: Vec<Arc<Run<R>>> = self.runs().cloned().collect();
        let level = self.runs.iter().map(|(_, level)| *level).max().unwrap_or(0);
        let mut generation = self.generation.clone();
        let (disk, id) = (Arc::clone(&self.disk), generation.next_run);
        let merged = merge(&*disk, &self.directory, id, &runs, Arc::make_mut(&mut self.names), Some(keep))?;
        generation.next_run += 1;
        self.install(generation, vec![(Arc::new(merged), level)])
    }

    /// Removes all rows, so that they are added again.
    ///
    /// # Errors
    /// When the generation cannot be published.
    pub fn clear(&mut self) -> Result<(), Error> {
        self.take_merged(true)?;
        let generation =
            Generation { covered: BTreeSet::new(), mark: String::new(), ..self.generation.clone() };
        self.install(generation, Vec::new())
    }

    /// Merges runs of a level as long as there are many of one; one merge at a time if that is done on a thread.
    ///
    /// # Errors
    /// When runs cannot be read or written.
    pub fn merge(&mut self) -> Result<(), Error> {
        self.take_merged(false)?;
        while let Some(level) = self.crowded_level() {
            if self.merging.is_some() {
                return Ok(());
            }
            let of_level = |(_, other): &&(Arc<Run<R>>, u32)| *other == level;
            let merged: Vec<Arc<Run<R>>> =
                self.runs.iter().filter(of_level).map(|(run, _)| Arc::clone(run)).collect();
            let (id, of) = (self.generation.next_run, merged.iter().map(|run| run.id()).collect());
            self.generation.next_run += 1;
            // The thread gives no name a number that ours do not have.
            let (disk, directory, mut names) =
                (Arc::clone(&self.disk), self.directory.clone(), Names::clone(&self.names));
            let mut work = move || merge(&*disk, &directory, id, &merged, &mut names, None);
            if self.merges_beside {
                let thread = std::thread::Builder::new().name("merge".into()).spawn(work);
                let thread =
                    thread.map_err(|source| Error::io("start a thread for", &self.directory, source))?;
                self.merging = Some(Merging { id, level, of, thread });
            } else {
                self.install_merged(work()?, level, &of)?;
            }
        }
        Ok(())
    }

    /// Installs what a thread merged, if it is done, or waits for it.
    ///
    /// # Errors
    /// When the merge failed for another reason than a full disk, after which it is retried with the next one.
    ///
    /// # Panics
    /// When the thread did.
    pub fn take_merged(&mut self, waits: bool) -> Result<(), Error> {
        let is_done = |merging: &Merging<R>| waits || merging.thread.is_finished();
        let Some(merging) = self.merging.take_if(|merging| is_done(merging)) else { return Ok(()) };
        let Merging { level, of, thread, .. } = merging;
        match thread.join().expect("a merge does not panic") {
            Err(Error::DiskFull { .. }) => self.remove_unused(),
            merged => self.install_merged(merged?, level, &of),
        }
    }

    /// Replaces runs by the one merged from them.
    fn install_merged(&mut self, run: Run<R>, level: u32, of: &[u64]) -> Result<(), Error> {
        // Where the last of them stood: runs that were made meanwhile are younger.
        let is_merged = |(run, _): &&(Arc<Run<R>>, u32)| of.contains(&run.id());
        let position = self.runs.iter().rposition(|run| is_merged(&run)).map_or(0, |last| last + 1);
        let before = self.runs.iter().take(position).filter(|run| !is_merged(run)).cloned();
        let mut runs: Vec<_> = before.collect();
        runs.push((Arc::new(run), level + 1));
        runs.extend(self.runs.iter().skip(position).cloned());
        self.install(self.generation.clone(), runs)
    }

    fn crowded_level(&self) -> Option<u32> {
        let levels: BTreeSet<u32> = self.runs.iter().map(|(_, level)| *level).collect();
        let count = |level: u32| self.runs.iter().filter(|(_, other)| *other == level).count();
        levels.into_iter().find(|level| count(*level) >= RUNS_PER_LEVEL)
    }

    /// Publishes a generation, then removes the runs that are no longer part of it.
    fn install(&mut self, mut generation: Generation, runs: LevelledRuns<R>) -> Result<(), Error> {
        generation.number += 1;
        generation.runs = runs.iter().map(|(run, level)| (run.id(), *level)).collect();
        generation.publish(&*self.disk, &self.directory, R::GENERATION)?;
        (self.generation, self.runs) = (generation, runs);
        self.remove_unused()
    }

    /// Removes runs that no generation names. A reader that has one open can still read it.
    fn remove_unused(&self) -> Result<(), Error> {
        let merging = self.merging.iter().map(|merging| merging.id);
        let used = self.generation.runs.iter().map(|(id, _)| *id).chain(merging);
        let names: Vec<String> = used.map(file_name).collect();
        for path in self.list()? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_ours = name.ends_with(".run") || name == UNFINISHED_NAME;
            if is_ours && !names.iter().any(|known| known == name) {
                self.disk.remove(&path).map_err(|source| Error::io("remove", &path, source))?;
            }
        }
        Ok(())
    }
    fn last_file(&self) -> Result<u64, Error> {
        let id = |path: &PathBuf| path.file_stem()?.to_str()?.parse::<u64>().ok();
        Ok(self.list()?.iter().filter_map(id).max().unwrap_or(0))
    }
    fn list(&self) -> Result<Vec<PathBuf>, Error> {
        self.disk.list(&self.directory).map_err(|source| Error::io("list", &self.directory, source))
    }
    fn sync_directory(&self) -> Result<(), Error> {
        let synced = self.disk.sync_directory(&self.directory);
        synced.map_err(|source| Error::io("sync", &self.directory, source))
    }
}

/// The runs of the generation that was published last, as a reader sees them. It takes no lock; if a writer merges runs
/// meanwhile, opening may fail because a file is missing, and is retried.
#[derive(Debug)]
pub struct PublishedRuns<R: Rows> {
    /// The runs, oldest first.
    pub runs: Vec<Arc<Run<R>>>,
    covered: BTreeSet<Arc<str>>,
    mark: String,
}

impl<R: Rows> PublishedRuns<R> {
    /// Opens what is published in `directory`, which may be nothing.
    ///
    /// # Errors
    /// When the runs cannot be read, or are damaged.
    pub fn open(disk: &dyn Disk, directory: &Path, names: &mut Names) -> Result<Self, Error> {
        let (generation, runs) = load(disk, directory, names)?;
        Ok(Self {
            runs: runs.into_iter().map(|(run, _)| run).collect(),
            covered: generation.covered,
            mark: generation.mark,
        })
    }
    /// Whether the runs hold all rows of an input.
    #[must_use]
    pub fn covers(&self, input: &str) -> bool {
        self.covered.contains(input)
    }
    /// The line that was published with the rows; empty if there was none.
    #[must_use]
    pub fn mark(&self) -> &str {
        &self.mark
    }
    /// The runs, to be walked.
    #[must_use]
    pub fn sources(&self) -> Vec<RowSource<R>> {
        self.runs.iter().map(|run| RowSource::Run(Arc::clone(run))).collect()
    }
}

/// The mark as it stands in a generation.
fn one_line(mark: &str) -> String {
    assert!(!mark.contains('\n'), "a mark is one line");
    mark.to_owned()
}

/// Reads the published generation and opens its runs.
fn load<R: Rows>(
    disk: &dyn Disk,
    directory: &Path,
    names: &mut Names,
) -> Result<(Generation, LevelledRuns<R>), Error> {
    let generation = Generation::read(disk, directory, R::GENERATION)?.unwrap_or_default();
    let open = |(id, level): &(u64, u32)| {
        let run = Run::open(disk, &directory.join(file_name(*id)), *id, names)?;
        Ok((Arc::new(run), *level))
    };
    let runs = generation.runs.iter().map(open).collect::<Result<Vec<_>, Error>>()?;
    Ok((generation, runs))
}
