//! A store and its model side by side: every call is made on both, and every answer is compared.
//!
//! After a crash the store must be the model at one of the commits from the last acknowledged one on.

use crate::model::{Change, Dump, Entry, Model};
use crate::setup::DIRECTORY;
use base::disk::Disk;
use sat::{Batch, Error, Frame, Minute, Number, Options, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Why the run cannot continue.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The store says that it cannot.
    Store(Error),
    /// The store is not what it must be.
    Wrong(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

pub(crate) type Played<T = ()> = Result<T, Failure>;

/// What is wrong, if anything.
macro_rules! ensure {
    ($holds:expr, $($message:tt)+) => {
        if !$holds {
            return Err($crate::player::Failure::Wrong(format!($($message)+)));
        }
    };
}
pub(crate) use ensure;

/// A store and what must be in it.
pub(crate) struct Player {
    disk: Arc<dyn Disk>,
    directory: std::path::PathBuf,
    pub(crate) options: Options,
    store: Option<Store>,
    batch: Batch,
    /// The content as the store shows it.
    pub(crate) model: Model,
    /// The content at the last acknowledged commit.
    durable: Model,
    /// Commits that were started and not acknowledged.
    commits: Vec<(Option<Frame>, Vec<Change>)>,
    /// Changes since the last commit was started.
    changes: Vec<Change>,
    session: Session,
}

/// What was handed out since the store was opened.
#[derive(Default)]
struct Session {
    /// The minute at which it was opened.
    begin: u32,
    /// Handed out and not written back.
    handed: BTreeSet<u32>,
    /// Due minute and number of all others.
    waiting: BTreeSet<(u32, u32)>,
}

impl Player {
    /// A player whose store is not opened yet.
    pub(crate) fn new(disk: Arc<dyn Disk>, options: Options) -> Self {
        Self::at(disk, Path::new(DIRECTORY), options)
    }
    pub(crate) fn at(disk: Arc<dyn Disk>, directory: &Path, options: Options) -> Self {
        let model = Model { minute: options.begin.0, ..Model::default() };
        Self {
            disk,
            directory: directory.to_owned(),
            options,
            store: None,
            batch: Batch::new(),
            durable: model.clone(),
            model,
            commits: Vec::new(),
            changes: Vec::new(),
            session: Session::default(),
        }
    }
    /// The store, which must be open.
    pub(crate) fn store(&mut self) -> &mut Store {
        self.store.as_mut().expect("the store is open")
    }
    pub(crate) fn is_open(&self) -> bool {
        self.store.is_some()
    }
    /// Numbers that were handed out and not written back.
    pub(crate) fn handed(&self) -> &BTreeSet<u32> {
        &self.session.handed
    }

    // Opening and closing.

    /// Opens the store and finds out at which commit it is.
    pub(crate) fn open(&mut self) -> Played {
        self.store = None;
        let store = Store::open(Arc::clone(&self.disk), &self.directory, self.options.clone())?;
        self.store = Some(store);
        let found = self.dump()?;
        self.changes.clear();
        let mut candidate = self.durable.clone();
        let acknowledged = candidate.difference(&found);
        let mut last = acknowledged.clone();
        for (_, changes) in std::mem::take(&mut self.commits) {
            if last.is_none() {
                break;
            }
            changes.iter().for_each(|change| candidate.apply(change));
            last = candidate.difference(&found);
        }
        ensure!(
            last.is_none(),
            "the store is at no commit; the acknowledged: {}; the last: {}",
            acknowledged.unwrap_or_default(),
            last.unwrap_or_default()
        );
        self.durable = candidate.clone();
        self.model = candidate;
        let waiting = self.model.records.iter().map(|(number, entry)| (entry.due, *number)).collect();
        self.session = Session { begin: self.model.minute, handed: BTreeSet::new(), waiting };
        Ok(())
    }
    /// Drops the store without closing it.
    pub(crate) fn drop_store(&mut self) {
        self.store = None;
    }
    /// Closes the store and opens it with `options`: nothing may be left to replay.
    pub(crate) fn close_and_open(&mut self, options: Options) -> Played {
        self.note_commit();
        self.store.take().expect("the store is open").close()?;
        self.acknowledge_all();
        self.options = options;
        self.open()?;
        let recovery = self.store().recovery();
        ensure!(
            recovery == sat::StoreRecovery::default(),
            "a closed store had something to replay: {recovery:?}"
        );
        Ok(())
    }

    // Changes.

    pub(crate) fn offer(&mut self, entry: Entry) -> Played {
        loop {
            let Entry { key, due, value } = &entry;
            match self.store().offer(key, Minute(*due), value) {
                Err(Error::CommitFull { .. }) => self.commit_to_go_on()?,
                Err(Error::PendingFull { pending }) => {
                    let expected = self.model.pending.len();
                    ensure!(pending == expected, "{pending} offers wait, and {expected} should");
                    self.settle()?;
                }
                done => {
                    done?;
                    self.change(Change::Offer(entry));
                    return Ok(());
                }
            }
        }
    }
    pub(crate) fn update(&mut self, number: u32, due: u32, value: &[u8]) -> Played {
        let key = self.model.records[&number].key.clone();
        loop {
            match self.store().update(Number(number), &key, Minute(due), value) {
                Err(Error::CommitFull { .. }) => self.commit_to_go_on()?,
                done => {
                    done?;
                    break;
                }
            }
        }
        let due = due.max(self.store().minute().0 + 1);
        self.forget(number);
        self.session.waiting.insert((due, number));
        self.change(Change::Put(number, Entry { key, due, value: value.to_vec() }));
        Ok(())
    }
    pub(crate) fn delete(&mut self, number: u32) -> Played {
        loop {
            match self.store().delete(Number(number)) {
                Err(Error::CommitFull { .. }) => self.commit_to_go_on()?,
                done => {
                    done?;
                    break;
                }
            }
        }
        self.forget(number);
        self.change(Change::Delete(number));
        Ok(())
    }
    pub(crate) fn set(&mut self, name: &[u8], value: &[u8]) -> Played {
        match self.store().set(name, value) {
            Err(Error::CommitFull { .. }) => {
                self.commit_to_go_on()?;
                self.store().set(name, value)?;
            }
            done => done?,
        }
        self.change(Change::Set(name.to_vec(), value.to_vec()));
        Ok(())
    }
    pub(crate) fn unset(&mut self, name: &[u8]) -> Played {
        match self.store().unset(name) {
            Err(Error::CommitFull { .. }) => {
                self.commit_to_go_on()?;
                self.store().unset(name)?;
            }
            done => done?,
        }
        self.change(Change::Unset(name.to_vec()));
        Ok(())
    }
    fn change(&mut self, change: Change) {
        self.model.apply(&change);
        self.changes.push(change);
    }
    /// Removes a record from those delivered and those waiting.
    fn forget(&mut self, number: u32) {
        self.session.handed.remove(&number);
        self.session.waiting.remove(&(self.model.records[&number].due, number));
    }

    // Commits.

    fn commit_to_go_on(&mut self) -> Played {
        ensure!(!self.changes.is_empty(), "the commit is full, and nothing is in it");
        self.commit()
    }
    /// From here on the changes may be in the store after a crash.
    fn note_commit(&mut self) {
        let minute = self.store().minute().0;
        if minute != self.model.minute {
            self.change(Change::Minute(minute));
        }
        if !self.changes.is_empty() {
            self.commits.push((None, std::mem::take(&mut self.changes)));
        }
    }
    pub(crate) fn commit(&mut self) -> Played {
        self.note_commit();
        self.store().commit()?;
        self.acknowledge_all();
        Ok(())
    }
    pub(crate) fn begin_commit(&mut self) -> Played {
        self.note_commit();
        let frame = self.store().begin_commit()?;
        if let Some((begun, _)) = self.commits.last_mut() {
            *begun = Some(frame);
        }
        Ok(())
    }
    /// Asks which commits are durable.
    pub(crate) fn ask_durable(&mut self) -> Played {
        let durable = self.store().durable()?;
        let is_durable = |(frame, _): &(Option<Frame>, _)| frame.is_some_and(|frame| frame <= durable);
        let count = self.commits.iter().take_while(|commit| is_durable(commit)).count();
        for (_, changes) in self.commits.drain(..count) {
            changes.iter().for_each(|change| self.durable.apply(change));
        }
        Ok(())
    }
    fn acknowledge_all(&mut self) {
        for (_, changes) in self.commits.drain(..) {
            changes.iter().for_each(|change| self.durable.apply(change));
        }
    }
    pub(crate) fn checkpoint(&mut self) -> Played {
        self.note_commit();
        self.store().checkpoint()?;
        self.acknowledge_all();
        Ok(())
    }
    pub(crate) fn settle(&mut self) -> Played {
        self.note_commit();
        let expected = self.model.settle();
        if !expected.is_empty() {
            self.commits.push((None, vec![Change::Settle]));
        }
        let answers = self.store().settle()?;
        self.acknowledge_all();
        let answers: Vec<(u32, bool)> =
            answers.iter().map(|answer| (answer.number.0, answer.is_new)).collect();
        ensure!(answers == expected, "offers were judged {answers:?} and not {expected:?}");
        for (number, _) in expected.iter().filter(|(_, is_new)| *is_new) {
            self.session.waiting.insert((self.model.records[number].due, *number));
        }
        Ok(())
    }

    // Time.

    pub(crate) fn advance(&mut self, minute: u32) {
        self.store().advance(Minute(minute));
    }
    /// The numbers of the next records that are due; none if there are no more up to minute `now`.
    pub(crate) fn next_due(&mut self, now: u32) -> Played<Vec<u32>> {
        let store = self.store.as_mut().expect("the store is open");
        // A caller need not give the same batch every time.
        if store.minute().0.is_multiple_of(3) {
            self.batch = Batch::new();
        }
        let has_more = store.next_due(&mut self.batch)?;
        let minute = store.minute().0;
        ensure!(has_more != self.batch.is_empty(), "a batch of {} and {has_more}", self.batch.len());
        let mut numbers = Vec::new();
        for record in self.batch.records() {
            let number = record.number.0;
            let found = Entry { key: record.key.to_vec(), due: record.due.0, value: record.value.to_vec() };
            let expected = self.model.records.get(&number);
            ensure!(
                Some(&found) == expected,
                "{number} was handed out at {minute} as {found:?}: {expected:?}"
            );
            let is_first = self.session.handed.insert(number);
            ensure!(is_first, "{number} was handed out twice, at {minute}: {found:?}");
            self.session.waiting.remove(&(found.due, number));
            let is_late = found.due < minute && found.due > self.session.begin;
            ensure!(!is_late, "{number} came late, at {minute}: {found:?}");
            let is_early = self.options.strict && found.due > minute;
            ensure!(!is_early, "{number} came early, at {minute}: {found:?}");
            numbers.push(number);
        }
        if !has_more {
            let left = self.session.waiting.first().filter(|(due, _)| *due <= now);
            ensure!(left.is_none(), "{left:?} was not handed out by {now}");
            ensure!(minute == now, "the minute is {minute} and not {now}");
        }
        Ok(numbers)
    }

    // Looking.

    pub(crate) fn look(&mut self, key: &[u8]) -> Played {
        let expected =
            self.model.numbers.get(key).filter(|number| self.model.records.contains_key(number)).copied();
        let found = self.store().find(key)?.map(|number| number.0);
        ensure!(found == expected, "{key:?} has the number {found:?} and not {expected:?}");
        let expected = expected.map(|number| (number, self.model.records[&number].clone()));
        let found = self.store().get(key)?;
        let found = found.map(|one| (one.number.0, Entry { key: one.key, due: one.due.0, value: one.value }));
        ensure!(found == expected, "{key:?} is {found:?} instead of {expected:?}");
        Ok(())
    }
    /// Compares everything.
    pub(crate) fn check_all(&mut self) -> Played {
        let mut found = self.dump()?;
        // The minute of the model is that of the last commit.
        found.minute = self.model.minute;
        let wrong = self.model.difference(&found);
        ensure!(wrong.is_none(), "{}", wrong.unwrap_or_default());
        self.store().verify()?.into_iter().next().map_or(Ok(()), |damage| Err(damage.into()))
    }
    /// Everything that the store shows; offers as their number only.
    fn dump(&mut self) -> Played<Dump> {
        let store = self.store.as_mut().expect("the store is open");
        let mut records = BTreeMap::new();
        store.for_each(|record| {
            let entry = Entry { key: record.key.to_vec(), due: record.due.0, value: record.value.to_vec() };
            let before = records.insert(record.number.0, entry);
            ensure!(before.is_none(), "{} is there twice: {before:?} and {record:?}", record.number.0);
            Ok(())
        })?;
        let (table, minute) = (store.table().clone(), store.minute().0);
        Ok(Dump { records, table, minute, pending: store.pending(), count: store.count() })
    }
}
