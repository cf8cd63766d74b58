//! Words that mean the same: the groups of SudachiDict.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use crate::analysis::{AnalysedText, Morpheme};
use crate::dictionary::u32_at as number;

/// All headwords, sorted, one after the other.
static KEYS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/synonym_keys.bin"));
/// For every headword where it ends in `KEYS`, and its groups in `GROUPS` (u32 each).
static ENDS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/synonym_ends.bin"));
/// Numbers of groups with marks (u32).
static GROUPS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/synonym_groups.bin"));

/// The size of all tables.
pub(crate) const BYTES: usize = KEYS.len() + ENDS.len() + GROUPS.len();

/// Marks a headword that is only found from others.
const TARGET: u32 = 1 << 31;
/// Marks verbs and adjectives.
const VERB: u32 = 1 << 30;
/// No headword has more morphemes.
const MORPHEMES_MAX: usize = 12;

/// A group that a headword belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SynonymGroup {
    /// The number of the group in SudachiDict, which it keeps from one edition to the next.
    pub number: u32,
    /// A verb or adjective, by its base form.
    pub is_verb: bool,
    /// The headword is found from others of the group, but others are not found from it (expansion class 1). Headwords
    /// of class 2, which must not be used, are not in the table.
    pub is_target_only: bool,
}

/// A word of a text with its groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synonym {
    /// The morphemes of the word.
    pub morphemes: Range<usize>,
    /// Sorted by kind and number; never empty.
    pub groups: Vec<SynonymGroup>,
}

/// The words of a text that have synonyms: from left to right the longest, without overlap.
///
/// ```
/// let analysis = japanese::Analyser::new().analyse("曖昧な宛先を尋ねた。");
/// let found = japanese::synonyms(&analysis);
/// assert_eq!(found[0].groups[0].number, 1);
/// assert!(japanese::synonyms_of("不明確").iter().any(|group| group.number == 1));
/// ```
#[must_use]
pub fn synonyms(analysis: &AnalysedText<'_>) -> Vec<Synonym> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < analysis.len() {
        let longest = if may_begin(&analysis.morpheme(at)) { longest(analysis, at) } else { None };
        at = longest.as_ref().map_or(at + 1, |synonym| synonym.morphemes.end);
        found.extend(longest);
    }
    found
}

/// The groups of a headword in form NFKC; letters of any case.
#[must_use]
pub fn synonyms_of(headword: &str) -> Vec<SynonymGroup> {
    look_up(&lower(headword)).map_or_else(Vec::new, |at| groups(at).collect())
}

/// Particles, endings and symbols begin no word.
fn may_begin(morpheme: &Morpheme<'_>) -> bool {
    !matches!(morpheme.part().name(), "助詞" | "助動詞" | "記号" | "フィラー" | "その他")
}

fn longest(analysis: &AnalysedText<'_>, first: usize) -> Option<Synonym> {
    let text = analysis.text().text();
    let start = analysis.morpheme(first).normal_span().start;
    let mut longest = None;
    for last in first..analysis.len().min(first + MORPHEMES_MAX) {
        let morpheme = analysis.morpheme(last);
        let groups = groups_at(&text[start..morpheme.normal_span().start], &morpheme);
        if !groups.is_empty() {
            longest = Some(Synonym { morphemes: first..last + 1, groups });
        }
        if !begins_headword(&lower(&text[start..morpheme.normal_span().end])) {
            break;
        }
    }
    longest
}

/// The groups of the word that ends with this morpheme: verbs by their base form, others as they are written.
fn groups_at(before: &str, last: &Morpheme<'_>) -> Vec<SynonymGroup> {
    let is_verb = matches!(last.part().name(), "動詞" | "形容詞");
    let end = if is_verb { last.base() } else { last.normal() };
    let Some(at) = look_up(&lower(&format!("{before}{end}"))) else { return Vec::new() };
    groups(at)
        .filter(|group| group.is_verb == is_verb || (group.is_verb && last.base() == last.normal()))
        .collect()
}

fn lower(text: &str) -> Cow<'_, str> {
    if text.chars().any(char::is_uppercase) { Cow::Owned(text.to_lowercase()) } else { Cow::Borrowed(text) }
}

/// The place of a headword.
fn look_up(headword: &str) -> Option<usize> {
    let at = first_not_before(headword);
    (at < count() && key(at) == headword.as_bytes()).then_some(at)
}

fn begins_headword(text: &str) -> bool {
    let at = first_not_before(text);
    at < count() && key(at).starts_with(text.as_bytes())
}

fn first_not_before(headword: &str) -> usize {
    let (mut low, mut high) = (0, count());
    while low < high {
        let middle = low.midpoint(high);
        match key(middle).cmp(headword.as_bytes()) {
            Ordering::Less => low = middle + 1,
            Ordering::Equal | Ordering::Greater => high = middle,
        }
    }
    low
}

fn count() -> usize {
    ENDS.len() / 8
}

fn key(at: usize) -> &'static [u8] {
    let start = at.checked_sub(1).map_or(0, |before| number(ENDS, before * 2));
    &KEYS[start as usize..number(ENDS, at * 2) as usize]
}

fn groups(at: usize) -> impl Iterator<Item = SynonymGroup> {
    let start = at.checked_sub(1).map_or(0, |before| number(ENDS, before * 2 + 1));
    (start..number(ENDS, at * 2 + 1)).map(|at| {
        let code = number(GROUPS, at as usize);
        SynonymGroup {
            number: code & !(TARGET | VERB),
            is_verb: code & VERB != 0,
            is_target_only: code & TARGET != 0,
        }
    })
}
