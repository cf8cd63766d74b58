//! How many letters of each script a text has.

/// A group of letters that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Script {
    Kana,
    Han,
    Hangul,
    Latin,
    Cyrillic,
    Arabic,
    Devanagari,
    Greek,
    Hebrew,
    Thai,
    Armenian,
    Georgian,
    Bengali,
    Gurmukhi,
    Gujarati,
    Tamil,
    Telugu,
    Kannada,
    Malayalam,
    Sinhala,
    Lao,
    Tibetan,
    Burmese,
    Ethiopic,
    Khmer,
    Mongolian,
}

const SCRIPTS: usize = Script::Mongolian as usize + 1;

/// The letters of a text by script.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count([usize; SCRIPTS]);

impl Count {
    pub(crate) fn of(text: &str) -> Self {
        let mut count = Self::default();
        if text.is_ascii() {
            // The common case of English pages: many bytes are counted in one step.
            let letters = text.bytes().map(|byte| usize::from(byte.is_ascii_alphabetic())).sum();
            count.0.iter_mut().skip(Script::Latin as usize).take(1).for_each(|slot| *slot = letters);
            return count;
        }
        for script in text.chars().filter_map(script) {
            if let Some(slot) = count.0.get_mut(script as usize) {
                *slot += 1;
            }
        }
        count
    }
    pub(crate) fn get(&self, script: Script) -> usize {
        self.0.get(script as usize).copied().unwrap_or(0)
    }
    /// Kana, han and hangul, each of which carries as much information as two letters of an alphabet.
    pub(crate) fn east_asian(&self) -> usize {
        self.get(Script::Kana) + self.get(Script::Han) + self.get(Script::Hangul)
    }
    /// All letters, East Asian ones doubled.
    pub(crate) fn weight(&self) -> usize {
        self.0.iter().sum::<usize>() + self.east_asian()
    }
}

/// The script of a letter; `None` for signs, digits, and letters of scripts that are not distinguished.
pub(crate) fn script(c: char) -> Option<Script> {
    Some(match c {
        'A'..='Z' | 'a'..='z' | 'À'..='Ö' | 'Ø'..='ö' | 'ø'..='ʯ' | 'Ḁ'..='ỿ' => Script::Latin,
        '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}' | '\u{FF66}'..='\u{FF9D}' => Script::Kana,
        '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '々'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFF}' => Script::Han,
        '\u{AC00}'..='\u{D7A3}' | '\u{1100}'..='\u{11FF}' | '\u{3131}'..='\u{318E}' => Script::Hangul,
        '\u{0370}'..='\u{03FF}' | '\u{1F00}'..='\u{1FFF}' => Script::Greek,
        '\u{0400}'..='\u{052F}' => Script::Cyrillic,
        '\u{0531}'..='\u{0587}' => Script::Armenian,
        '\u{05D0}'..='\u{05EA}' => Script::Hebrew,
        '\u{0620}'..='\u{06D3}' | '\u{FB50}'..='\u{FEFC}' => Script::Arabic,
        _ => return indic(c),
    })
}

fn indic(c: char) -> Option<Script> {
    Some(match c {
        '\u{0900}'..='\u{097F}' => Script::Devanagari,
        '\u{0980}'..='\u{09FF}' => Script::Bengali,
        '\u{0A00}'..='\u{0A7F}' => Script::Gurmukhi,
        '\u{0A80}'..='\u{0AFF}' => Script::Gujarati,
        '\u{0B80}'..='\u{0BFF}' => Script::Tamil,
        '\u{0C00}'..='\u{0C7F}' => Script::Telugu,
        '\u{0C80}'..='\u{0CFF}' => Script::Kannada,
        '\u{0D00}'..='\u{0D7F}' => Script::Malayalam,
        '\u{0D80}'..='\u{0DFF}' => Script::Sinhala,
        '\u{0E01}'..='\u{0E4E}' => Script::Thai,
        '\u{0E81}'..='\u{0EDF}' => Script::Lao,
        '\u{0F40}'..='\u{0FBC}' => Script::Tibetan,
        '\u{1000}'..='\u{109F}' => Script::Burmese,
        '\u{10A0}'..='\u{10FF}' => Script::Georgian,
        '\u{1200}'..='\u{139F}' => Script::Ethiopic,
        '\u{1780}'..='\u{17D3}' => Script::Khmer,
        '\u{1820}'..='\u{18AA}' => Script::Mongolian,
        _ => return None,
    })
}

/// The language of a script that is used by one language only, or nearly so.
pub(crate) const SINGLE: [(Script, [u8; 2]); 19] = [
    (Script::Greek, *b"el"),
    (Script::Hebrew, *b"he"),
    (Script::Thai, *b"th"),
    (Script::Armenian, *b"hy"),
    (Script::Georgian, *b"ka"),
    (Script::Bengali, *b"bn"),
    (Script::Gurmukhi, *b"pa"),
    (Script::Gujarati, *b"gu"),
    (Script::Tamil, *b"ta"),
    (Script::Telugu, *b"te"),
    (Script::Kannada, *b"kn"),
    (Script::Malayalam, *b"ml"),
    (Script::Sinhala, *b"si"),
    (Script::Lao, *b"lo"),
    (Script::Tibetan, *b"bo"),
    (Script::Burmese, *b"my"),
    (Script::Ethiopic, *b"am"),
    (Script::Khmer, *b"km"),
    (Script::Mongolian, *b"mn"),
];
