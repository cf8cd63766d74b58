//! Pairs of brackets and quotation marks.

/// Opening and closing signs.
const PAIRS: [(char, char); 14] = [
    ('「', '」'),
    ('『', '』'),
    ('（', '）'),
    ('(', ')'),
    ('【', '】'),
    ('［', '］'),
    ('[', ']'),
    ('〔', '〕'),
    ('〈', '〉'),
    ('《', '》'),
    ('“', '”'),
    ('｛', '｝'),
    ('{', '}'),
    ('｢', '｣'),
];
/// A bracket that is not closed within so many characters is a sign like any other.
const CHARACTERS_MAX: usize = 600;
/// Deeper ones are signs like any other.
const DEPTH_MAX: usize = 16;

/// For every character the place of the closing bracket, if it opens a pair.
pub(super) fn pairs(characters: &[(usize, char)]) -> Vec<Option<usize>> {
    let mut pairs = vec![None; characters.len()];
    let mut open: Vec<(usize, char)> = Vec::new();
    for (at, (_, character)) in characters.iter().enumerate() {
        if let Some(close) = closing(*character) {
            if open.len() == DEPTH_MAX {
                open.remove(0);
            }
            open.push((at, close));
        } else if let Some(depth) = open.iter().rposition(|(_, close)| close == character) {
            let (start, _) = open[depth];
            open.truncate(depth);
            if at - start <= CHARACTERS_MAX {
                pairs[start] = Some(at);
            }
        }
    }
    pairs
}

/// The sign that closes what this one opens.
pub(super) fn closing(character: char) -> Option<char> {
    PAIRS.iter().find(|pair| pair.0 == character).map(|pair| pair.1)
}

/// Whether the sign closes anything.
pub(super) fn is_closing(character: char) -> bool {
    PAIRS.iter().any(|pair| pair.1 == character)
}

/// How many quotations are open after a line, if so many were before.
pub(super) fn open_after(line: &str, open: usize) -> usize {
    line.chars().fold(open, |open, character| match character {
        '「' | '『' | '（' => open + 1,
        '」' | '』' | '）' => open.saturating_sub(1),
        _ => open,
    })
}

/// Whether the sign opens or closes a quotation or a remark.
pub(super) fn is_quote(character: char) -> bool {
    matches!(character, '「' | '『' | '（') || is_closing_quote(character)
}

/// Whether the sign closes one.
pub(super) fn is_closing_quote(character: char) -> bool {
    matches!(character, '」' | '』' | '）')
}
