//! Which line breaks end a sentence.

use std::ops::Range;

use super::bracket;

/// How many lines are looked at to find the end of a sentence that was broken.
const RUN_LINES_MAX: usize = 8;
/// Shorter lines were not broken for their width, in columns.
const WRAPPED_WIDTH_MIN: usize = 36;
/// Lines broken for their width are at least so much of the longest, in percent.
const WRAPPED_PERCENT_MIN: usize = 80;
/// Signs that begin an item of a list.
const BULLETS: &str = "・●○◎■□◆◇▼▽▲△★☆※*•‣◦–—→⇒▶►➤✓✔☑◉◯＊－＞>|｜#＃【［≪《〔";
/// Particles after which a line does not end a sentence.
const OPEN_ENDS: [char; 10] = ['は', 'が', 'を', 'に', 'の', 'で', 'と', 'も', 'や', 'て'];
/// Headings that end like that.
const HEADINGS: [&str; 7] = ["はじめに", "始めに", "おわりに", "終わりに", "最後に", "さいごに", "まえに"];
/// After these every line goes on.
const COMMAS: [char; 6] = ['、', '，', ',', '「', '『', '（'];
/// Signs that end a sentence.
const TERMINALS: &str = "。｡．.！？!?‼⁇⁈⁉…♪☆★:：;；";
/// Signs that follow the end of a sentence.
const CLOSERS: &str = "」』）)】］]》〉”’\"'";

/// A line without its white space.
struct Line<'t> {
    range: Range<usize>,
    text: &'t str,
}

/// The parts of a text that no sentence crosses.
pub(super) fn pieces(text: &str, wide: bool) -> Vec<Range<usize>> {
    let lines = lines(text);
    let mut pieces: Vec<Range<usize>> = Vec::new();
    let mut joins = false;
    let mut open = 0;
    for (at, line) in lines.iter().enumerate() {
        match pieces.last_mut() {
            Some(piece) if joins => piece.end = line.range.end,
            _ => pieces.push(line.range.clone()),
        }
        open = if joins { open } else { 0 };
        open = bracket::open_after(line.text, open);
        joins = continues(&lines[at..lines.len().min(at + RUN_LINES_MAX)], wide, open);
    }
    pieces
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let mut start = 0;
    let mut lines = Vec::new();
    for part in text.split_inclusive(['\n', '\r', '\t', '\u{85}', '\u{2028}', '\u{2029}', '\u{B}', '\u{C}']) {
        let end = start + part.len();
        // The break between `\r` and `\n` is one.
        if !(part == "\n" && text[..start].ends_with('\r')) {
            lines.push(Line { range: start..end, text: part.trim() });
        }
        start = end;
    }
    lines
}

/// Whether the sentence goes on after the first of these lines; `open` is the depth of brackets there.
fn continues(lines: &[Line<'_>], wide: bool, open: usize) -> bool {
    let [first, second, ..] = lines else { return false };
    if first.text.is_empty() || second.text.is_empty() || begins_item(second.text) {
        return false;
    }
    if open > 0 && closes(&lines[1..]) {
        return true;
    }
    if ends_sentence(first.text) {
        return false;
    }
    if first.text.ends_with(COMMAS) && !first.text.ends_with(',') {
        return true;
    }
    if second.text.starts_with(['、', '。', '，', '」', '』', '）', ')']) {
        return true;
    }
    let Some(run) = run(lines) else { return !wide && is_wrapped(&lines[..2]) && begins_small(second.text) };
    if wide {
        let is_heading = HEADINGS.iter().any(|end| first.text.ends_with(end));
        is_wrapped(run) || (first.text.ends_with(OPEN_ENDS) && !is_heading)
    } else {
        is_wrapped(run) || begins_small(second.text)
    }
}

/// The lines up to the first that has the end of a sentence; none if no near line has.
fn run<'l, 't>(lines: &'l [Line<'t>]) -> Option<&'l [Line<'t>]> {
    for (at, line) in lines.iter().enumerate().skip(1) {
        if line.text.is_empty() || begins_item(line.text) {
            return None;
        }
        if ends_sentence(line.text) || line.text.contains(['。', '！', '？']) || line.text.contains(". ") {
            return Some(&lines[..=at]);
        }
    }
    None
}

/// Whether all lines but the last are about as wide as the widest.
fn is_wrapped(run: &[Line<'_>]) -> bool {
    let widths: Vec<usize> = run.iter().map(|line| width(line.text)).collect();
    let widest = widths.iter().copied().max().unwrap_or(0);
    let full = |width: &usize| width * 100 >= widest * WRAPPED_PERCENT_MIN;
    widest >= WRAPPED_WIDTH_MIN && widths[..widths.len() - 1].iter().all(full)
}

/// The columns of a line, as far as it matters.
fn width(line: &str) -> usize {
    line.chars().take(400).map(|c| if u32::from(c) < 0x1100 { 1 } else { 2 }).sum()
}

fn closes(lines: &[Line<'_>]) -> bool {
    for line in lines {
        if line.text.is_empty() || begins_item(line.text) {
            return false;
        }
        let sign = line.text.chars().find(|c| bracket::is_quote(*c));
        if let Some(sign) = sign {
            return bracket::is_closing_quote(sign);
        }
    }
    false
}

fn ends_sentence(line: &str) -> bool {
    line.trim_end_matches(|c| CLOSERS.contains(c)).ends_with(|c| TERMINALS.contains(c))
}

fn begins_small(line: &str) -> bool {
    line.starts_with(char::is_lowercase)
}

/// Whether a line begins with a bullet or a number.
pub(super) fn begins_item(line: &str) -> bool {
    let Some(first) = line.chars().next() else { return false };
    let second = line.chars().nth(1).unwrap_or(' ');
    if BULLETS.contains(first) && !(first == '・' && second == '・') {
        return true;
    }
    if matches!(first, '-' | '+' | '−') {
        return second.is_whitespace();
    }
    if matches!(first, '①'..='⓿' | '❶'..='➓' | '㈠'..='㊿') {
        return true;
    }
    let bracketed = first == '(' || first == '（';
    let rest = if bracketed { &line[first.len_utf8()..] } else { line };
    let number = rest.trim_start_matches(|c: char| c.is_ascii_digit() || ('０'..='９').contains(&c));
    let digits = rest.chars().count() - number.chars().count();
    let after = number.chars().next().unwrap_or(' ');
    let next = number.chars().nth(1).unwrap_or(' ');
    let is_mark = if bracketed {
        matches!(after, ')' | '）')
    } else {
        matches!(after, ')' | '）' | '．') || (after == '.' && !next.is_ascii_digit())
    };
    (1..=3).contains(&digits) && is_mark
}
