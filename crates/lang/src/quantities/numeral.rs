//! Numbers in digits of any width, in ideographs, or in both: `1,234.5`, `１２３`, `三千五百`, `2億3千万`.

/// No number has more characters.
const CHARACTERS_MAX: usize = 40;

/// The number at the start of a text, with its length in bytes.
pub(super) fn number(text: &str) -> Option<(usize, f64)> {
    let (mut at, mut total, mut section) = (0, 0.0, 0.0);
    let mut last_place = f64::INFINITY;
    let mut pending: Option<f64> = None;
    let mut any = false;
    while at < text.len() && text[..at].chars().count() < CHARACTERS_MAX {
        let rest = &text[at..];
        let Some(next) = rest.chars().next() else { break };
        if let Some((length, digits)) = digits(rest).filter(|_| pending.is_none()) {
            pending = Some(digits);
            at += length;
        } else if let Some(place) = small_place(next).filter(|_| any || pending.is_some() || next != '〇') {
            section += pending.take().unwrap_or(1.0) * place;
            at += next.len_utf8();
        } else if let Some(place) =
            large_place(next).filter(|place| (pending.is_some() || section > 0.0) && *place < last_place)
        {
            total += (section + pending.take().unwrap_or(0.0)) * place;
            (section, last_place) = (0.0, place);
            at += next.len_utf8();
        } else {
            break;
        }
        any = true;
    }
    any.then_some((at, total + section + pending.unwrap_or(0.0)))
}

/// Whether a number is one without a counter: digits always, ideographs from two on, because 一 alone is mostly a part of a
/// word.
pub(super) fn stands_alone(number: &str) -> bool {
    number.starts_with(|c: char| ascii(c).is_some()) || number.chars().count() > 1
}

/// Digits in a row: with commas between thousands and a point, or ideographs by position.
fn digits(text: &str) -> Option<(usize, f64)> {
    let first = text.chars().next()?;
    if ascii(first).is_none() {
        let row: String = text.chars().take(CHARACTERS_MAX).map_while(ideograph).collect();
        let bytes: usize = text.chars().take(row.len()).map(char::len_utf8).sum();
        return Some((bytes, row.parse().ok()?));
    }
    let characters: Vec<(usize, char)> = text.char_indices().take(CHARACTERS_MAX).collect();
    let (mut plain, mut end, mut at, mut pointed) = (String::new(), 0, 0, false);
    while let Some((byte, c)) = characters.get(at) {
        let digit_at = |at: usize| characters.get(at).is_some_and(|(_, c)| ascii(*c).is_some());
        let grouped = || (1..=3).all(|step| digit_at(at + step)) && !digit_at(at + 4);
        match c {
            _ if ascii(*c).is_some() => plain.extend(ascii(*c)),
            ',' | '，' if !pointed && grouped() => {}
            '.' | '．' if !pointed && digit_at(at + 1) => {
                pointed = true;
                plain.push('.');
            }
            _ => break,
        }
        end = byte + c.len_utf8();
        at += 1;
    }
    Some((end, plain.parse().ok()?))
}

/// A digit of ASCII or its full-width form.
pub(super) fn ascii(c: char) -> Option<char> {
    match c {
        '0'..='9' => Some(c),
        '０'..='９' => char::from_u32(u32::from(c) - 0xFEE0),
        _ => None,
    }
}

fn ideograph(c: char) -> Option<char> {
    "〇一二三四五六七八九".chars().zip('0'..='9').find(|(sign, _)| *sign == c).map(|(_, digit)| digit)
}

fn small_place(c: char) -> Option<f64> {
    match c {
        '十' => Some(10.0),
        '百' => Some(100.0),
        '千' => Some(1000.0),
        _ => None,
    }
}

fn large_place(c: char) -> Option<f64> {
    match c {
        '万' => Some(1e4),
        '億' => Some(1e8),
        '兆' => Some(1e12),
        '京' => Some(1e16),
        _ => None,
    }
}
