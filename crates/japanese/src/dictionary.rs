//! IPADIC as the build script laid it out, used in place.
//!
//! **Invariant:** numbers in the tables are little-endian and in range, because the build script wrote them; a position
//! out of range ends the program.

use std::borrow::Cow;

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// By character of the basic plane: its code in the trie (u16).
static CODES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/codes.bin"));
/// Nodes of the trie: base and owner (u32 each).
static TRIE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/trie.bin"));
/// Connection id, with [`LAST`], and cost (u16, i16) of every entry.
static ENTRIES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/entries.bin"));
/// By right word × number of ids + left word: the cost (i16).
static MATRIX: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/matrix.bin"));
/// By entry: the start of its details (u32).
static DETAIL_STARTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/detail_starts.bin"));
/// Base form (u24: 0 the surface, else 1 + place in `BASES`), reading, [`END`], pronunciation, [`END`].
static DETAILS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/details.bin"));
/// Length (u8) and text of every base form.
static BASES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/bases.bin"));
/// By character of the basic plane: its class.
static CHARACTER_CLASSES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/classes.bin"));

/// The size of all tables.
pub(crate) const BYTES: usize = CODES.len()
    + TRIE.len()
    + ENTRIES.len()
    + MATRIX.len()
    + DETAIL_STARTS.len()
    + DETAILS.len()
    + BASES.len()
    + CHARACTER_CLASSES.len();

/// Marks the last entry of a surface in its id.
const LAST: u16 = 1 << 15;
/// Marks a leaf in a node's base.
const LEAF: u32 = 1 << 31;
/// Ends a text in `DETAILS`.
const END: u8 = 0xFF;
/// Around a text that is not katakana alone.
const PLAIN: u8 = 0xFE;
/// Katakana are one byte: the code less this.
const KATAKANA: u32 = 0x30A0;

/// How unknown words are formed from a class of characters.
pub(crate) struct Class {
    /// A bit for each plain class the character belongs to.
    pub(crate) kinds: u32,
    /// Unknown words are tried even where the dictionary has words.
    pub(crate) invoke: bool,
    /// All characters of the same kind together are tried as one word.
    pub(crate) group: bool,
    /// Words of up to so many characters are tried.
    pub(crate) length: u8,
    /// Symbols.
    pub(crate) symbol: bool,
    /// Connection id and cost of the words tried.
    pub(crate) unknown: &'static [(u16, i16)],
}

/// A word of the dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(pub(crate) u32);

/// The class of a character; those outside the basic plane have none of their own.
pub(crate) fn class_of(character: char) -> &'static Class {
    &CLASSES[CHARACTER_CLASSES.get(place(u32::from(character))).map_or(0, |class| usize::from(*class))]
}

/// Calls `found` with the length in bytes and the first entry of every surface that `text` begins with, shortest first.
pub(crate) fn prefixes(text: &str, mut found: impl FnMut(usize, Entry)) {
    let (mut node, mut base) = (0, u32_at(TRIE, 0));
    for (start, character) in text.char_indices() {
        if start > 0
            && let Some(end) = child(node, base, 0)
        {
            found(start, Entry(u32_at(TRIE, place(end) * 2) & !LEAF));
        }
        let code = code_of(character);
        let Some(next) = (code > 0).then(|| child(node, base, code)).flatten() else { return };
        (node, base) = (next, u32_at(TRIE, place(next) * 2));
        if base & LEAF != 0 {
            return found(start + character.len_utf8(), Entry(base & !LEAF));
        }
    }
    if let Some(end) = child(node, base, 0).filter(|_| node > 0) {
        found(text.len(), Entry(u32_at(TRIE, place(end) * 2) & !LEAF));
    }
}

fn code_of(character: char) -> u32 {
    let at = place(u32::from(character)) * 2;
    CODES.get(at..at + 2).map_or(0, |code| u32::from(u16::from_le_bytes([code[0], code[1]])))
}

fn child(node: u32, base: u32, code: u32) -> Option<u32> {
    let at = base + code;
    let owner = TRIE.get(place(at) * 8 + 4..place(at) * 8 + 8)?;
    (u32::from_le_bytes([owner[0], owner[1], owner[2], owner[3]]) == node).then_some(at)
}

/// The entries of one surface with their connection ids and costs.
pub(crate) fn entries(first: Entry) -> impl Iterator<Item = (Entry, u16, i16)> {
    let mut next = Some(first.0);
    std::iter::from_fn(move || {
        let at = next?;
        let id = u16_at(ENTRIES, place(at) * 2);
        let cost = u16_at(ENTRIES, place(at) * 2 + 1).cast_signed();
        next = (id & LAST == 0).then_some(at + 1);
        Some((Entry(at), id & !LAST, cost))
    })
}

/// The costs of a word of this id after each other one: two bytes by the id of the word before.
pub(crate) fn connections(right: u16) -> &'static [u8] {
    let row = PARTS.len() * 2;
    &MATRIX[usize::from(right) * row..][..row]
}

impl Entry {
    /// The base form, if it is not the surface.
    pub(crate) fn base(self) -> Option<&'static str> {
        let record = self.details();
        let at = u32::from_le_bytes([record[0], record[1], record[2], 0]).checked_sub(1)?;
        let (length, texts) = BASES[place(at)..].split_first().expect("a base form has a length");
        Some(str::from_utf8(&texts[..usize::from(*length)]).expect("base forms are UTF-8"))
    }

    /// The reading, in katakana where it has one.
    pub(crate) fn reading(self) -> Cow<'static, str> {
        kana(self.kana().0)
    }

    /// The pronunciation.
    pub(crate) fn pronunciation(self) -> Cow<'static, str> {
        let (reading, pronunciation) = self.kana();
        kana(if pronunciation.is_empty() { reading } else { pronunciation })
    }

    fn kana(self) -> (&'static [u8], &'static [u8]) {
        let mut texts = self.details()[3..].split(|byte| *byte == END);
        (texts.next().unwrap_or_default(), texts.next().unwrap_or_default())
    }

    fn details(self) -> &'static [u8] {
        &DETAILS[place(u32_at(DETAIL_STARTS, place(self.0)))..]
    }
}

fn kana(bytes: &'static [u8]) -> Cow<'static, str> {
    match bytes {
        [PLAIN, text @ .., PLAIN] => Cow::Borrowed(str::from_utf8(text).expect("readings are UTF-8")),
        _ => bytes.iter().filter_map(|byte| char::from_u32(KATAKANA + u32::from(*byte))).collect(),
    }
}

/// The number at this position of a table of u32.
pub(crate) fn u32_at(table: &[u8], at: usize) -> u32 {
    let bytes = &table[at * 4..at * 4 + 4];
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// The number at this position of a table of u16.
pub(crate) fn u16_at(table: &[u8], at: usize) -> u16 {
    let bytes = &table[at * 2..at * 2 + 2];
    u16::from_le_bytes([bytes[0], bytes[1]])
}

fn place(number: u32) -> usize {
    number as usize
}
