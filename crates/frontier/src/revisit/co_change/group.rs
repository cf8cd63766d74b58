//! Which pages belong together: the groups of a server, and what is noted of each page to choose among them.
//!
//! **Invariant:** memory is bounded: a page is in at most five groups, and a group has at most [`MEMBERS_MAX`] members.

use base::chance::{hash, hash_bytes};
use std::collections::HashMap;

/// A group has no more members than this: pages that come later do not join.
const MEMBERS_MAX: usize = 20_000;

/// What the pages of a group have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupKind {
    /// Their directory.
    Directory,
    /// Their name, in any directory: `/en/faq.html`, `/ja/faq.html`.
    Name,
    /// The directory above their directory, with everything one level below it.
    Parent,
    /// Their directory and the first word of their name: `/man/ssl_read.html`, `/man/ssl_write.html`.
    Family,
    /// Their last change was found in the same burst.
    Cohort,
}

impl GroupKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Directory, Self::Name, Self::Parent, Self::Family, Self::Cohort];

    /// What the pages of such a group are, for people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Directory => "pages of its directory",
            Self::Name => "pages of the same name elsewhere",
            Self::Parent => "pages of the directory above",
            Self::Family => "pages of its directory whose names begin alike",
            Self::Cohort => "pages that last changed when it did",
        }
    }
    pub(super) const fn index(self) -> usize {
        self as usize
    }
}

/// A group by a hash of what its pages have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct GroupId(pub u32);

#[expect(clippy::cast_possible_truncation, reason = "a few that are taken for one do no harm")]
fn id(kind: GroupKind, text: &str) -> GroupId {
    GroupId(hash_bytes(kind as u64 + 1, text.as_bytes()) as u32)
}

/// The groups of a page by the part of its URL after the server.
pub(super) fn groups_of(target: &str) -> [Option<(GroupKind, GroupId)>; 4] {
    let path = target.split(['?', '#']).next().unwrap_or(target);
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    // A directory's own page has no name that would say anything.
    let name = if name.starts_with("index.") { "" } else { name };
    let word = name.split(['-', '_', '.', '~']).next().unwrap_or_default();
    let above = directory.rsplit_once('/').map(|(above, _)| above);
    let of = |kind: GroupKind, text: &str| Some((kind, id(kind, text)));
    [
        of(GroupKind::Directory, directory),
        of(GroupKind::Name, name).filter(|_| !name.is_empty()),
        above.and_then(|above| of(GroupKind::Parent, above)),
        of(GroupKind::Family, &format!("{directory}/{word}")).filter(|_| !word.is_empty() && word != name),
    ]
}
/// The group of the pages whose last change was found in the same burst.
pub(super) fn cohort(event: u32) -> Option<(GroupKind, GroupId)> {
    #[expect(clippy::cast_possible_truncation, reason = "a few that are taken for one do no harm")]
    let id = GroupId(hash(&[GroupKind::Cohort as u64 + 1, event.into()]) as u32);
    (event != 0).then_some((GroupKind::Cohort, id))
}

/// Most names belong to one page: that must not cost much.
#[derive(Debug)]
enum Members {
    One(u32),
    #[expect(clippy::box_collection, reason = "half the size for those that are alone")]
    Many(Box<Vec<u32>>),
}

impl Members {
    fn all(&self) -> &[u32] {
        match self {
            Self::One(place) => std::slice::from_ref(place),
            Self::Many(places) => places,
        }
    }
    fn add(&mut self, place: u32) {
        match self {
            Self::One(first) => *self = Self::Many(Box::new(vec![*first, place])),
            Self::Many(places) if places.len() < MEMBERS_MAX => places.push(place),
            Self::Many(_) => {}
        }
    }
}

/// What is noted of a page.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Note {
    pub page: u32,
    /// Its last visit, in seconds.
    pub last: u32,
    /// For how long a visit keeps it fresh, in seconds; 0 when it is not visited early.
    pub keeps: f32,
    /// The burst in which its last change was found; 0 if none was.
    pub event: u32,
}

/// The groups of a server's pages.
#[derive(Debug, Default)]
pub(super) struct Groups {
    groups: HashMap<GroupId, Members>,
    notes: Vec<Note>,
    places: HashMap<u32, u32>,
}

impl Groups {
    pub(super) fn join(&mut self, note: Note, target: &str) {
        if self.places.contains_key(&note.page) {
            return;
        }
        let Ok(place) = u32::try_from(self.notes.len()) else { return };
        self.notes.push(note);
        self.places.insert(note.page, place);
        for (_, group) in groups_of(target).into_iter().chain([cohort(note.event)]).flatten() {
            self.add(group, place);
        }
    }
    fn add(&mut self, group: GroupId, place: u32) {
        self.groups.entry(group).and_modify(|members| members.add(place)).or_insert(Members::One(place));
    }
    pub(super) fn note(&self, page: u32) -> Option<&Note> {
        self.places.get(&page).map(|place| &self.notes[*place as usize])
    }
    pub(super) fn note_mut(&mut self, page: u32) -> Option<&mut Note> {
        self.places.get(&page).map(|place| &mut self.notes[*place as usize])
    }
    pub(super) fn at(&self, place: u32) -> &Note {
        &self.notes[place as usize]
    }
    /// How many pages a group has.
    pub(super) fn members(&self, group: GroupId) -> usize {
        self.groups.get(&group).map_or(0, |members| members.all().len())
    }
    /// A page leaves the cohort of its last change for that of another.
    pub(super) fn regroup(&mut self, page: u32, event: u32) {
        let Some(place) = self.places.get(&page).copied() else { return };
        let before = std::mem::replace(&mut self.notes[place as usize].event, event);
        if before == event {
            return;
        }
        if let Some((_, group)) = cohort(before) {
            match self.groups.get_mut(&group) {
                Some(Members::Many(places)) => places.retain(|member| *member != place),
                Some(Members::One(member)) if *member == place => drop(self.groups.remove(&group)),
                _ => {}
            }
        }
        if let Some((_, group)) = cohort(event) {
            self.add(group, place);
        }
    }
    /// The members that were visited longest ago, the first of them last: those after `after`, and before the moment `begun`.
    pub(super) fn oldest(&self, group: GroupId, begun: u32, after: Option<(u32, u32)>) -> Vec<u32> {
        /// So many are looked for at a time.
        const BATCH: usize = 64;
        let members = self.groups.get(&group).map_or(&[][..], Members::all);
        let keys = members.iter().filter_map(|place| {
            let note = &self.notes[*place as usize];
            let key = (note.last, *place);
            (note.last < begun && note.keeps > 0.0 && after.is_none_or(|after| key > after)).then_some(key)
        });
        let mut keys: Vec<(u32, u32)> = keys.collect();
        if keys.len() > BATCH {
            keys.select_nth_unstable(BATCH);
            keys.truncate(BATCH);
        }
        keys.sort_unstable_by(|a, b| b.cmp(a));
        keys.into_iter().map(|(_, place)| place).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_names_and_families_are_told_apart() {
        let [directory, name, parent, family] = groups_of("/en/faq-1.html?x=1");
        assert_eq!(groups_of("/en/other.html")[0], directory);
        assert_eq!(groups_of("/ja/faq-1.html")[1], name);
        assert_eq!(groups_of("/ja/other.html")[2], parent);
        assert_eq!(groups_of("/en/faq_2.html")[3], family);
        assert_ne!(groups_of("/ja/faq-2.html")[3], family);
        assert_eq!(groups_of("/en/"), [directory, None, parent, None]);
        assert_eq!(groups_of("/en/index.html"), [directory, None, parent, None]);
        assert_eq!(cohort(0), None);
    }

    #[test]
    fn the_longest_unvisited_come_first_and_a_page_is_in_one_cohort() {
        let mut groups = Groups::default();
        for page in 0..200 {
            let note = Note { page, last: 1_000 - page, keeps: 1.0, event: 7 };
            groups.join(note, "/x");
        }
        let (_, group) = cohort(7).unwrap();
        let mut found = groups.oldest(group, 1_000, None);
        assert_eq!((found.len(), found.pop()), (64, Some(199)));
        let rest = groups.oldest(group, 900, Some((802, 198)));
        assert_eq!((rest.len(), groups.at(rest[0]).page), (64, 134));
        groups.regroup(199, 8);
        assert_eq!(groups.oldest(group, 1_000, None).pop(), Some(198));
        assert_eq!(groups.members(cohort(8).unwrap().1), 1);
    }
}
