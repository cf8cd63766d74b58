//! Writes the notes of takedowns.

use crate::error::Error;
use crate::tombstone::notes::{DONE, FIRST_LINE, URN};
use crate::tombstone::{Gone, Target};
use crate::writing::append::Archive;
use base::Timestamp;

/// The maximum number of groups that one record lists.
const GROUPS_A_PART: usize = 100_000;

impl Archive {
    /// An id that no takedown has yet.
    pub(super) fn next_id(&self, at: Timestamp) -> String {
        let stamp = at.as_micros();
        let is_taken = |id: &String| self.tombstones.iter().any(|tombstone| tombstone.id == *id);
        let ids = (0..u32::MAX).map(|count| format!("{stamp}-{count}"));
        ids.into_iter().find(|id| !is_taken(id)).expect("there are fewer takedowns in one microsecond")
    }

    /// Notes what is taken down, and every group to remove. The last part decides.
    pub(super) fn write_tombstone(
        &mut self,
        id: &str,
        target: &Target,
        reason: &str,
        (at, gone): (Timestamp, &[Gone]),
    ) -> Result<(), Error> {
        let parts = gone.len().div_ceil(GROUPS_A_PART).max(1);
        for part in 0..parts {
            let groups = gone.iter().skip(part * GROUPS_A_PART).take(GROUPS_A_PART);
            let mut text = format!(
                "{FIRST_LINE}\nwhat {}\nscope {}\nreason {}\npart {} of {parts}\n",
                target.what(),
                one_line(target.text()),
                one_line(reason),
                part + 1
            );
            groups.for_each(|gone| {
                text.push_str(&format!("group {} {} {}\n", gone.file, gone.offset, gone.length));
            });
            self.put_note(&format!("{URN}{id}:{part}"), at, text.as_bytes())?;
        }
        Ok(())
    }

    /// Notes that a takedown is done, and again what it was.
    pub(super) fn note_done(&mut self, id: &str, target: &Target, at: Timestamp) -> Result<(), Error> {
        let (what, scope) = (target.what(), one_line(target.text()));
        let note = format!("{FIRST_LINE}\nwhat {what}\nscope {scope}\ndone {id}\n");
        self.put_note(&format!("{URN}{id}{DONE}"), at, note.as_bytes()).map(drop)
    }
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
