//! The head of a record, byte by byte (clause 4): version line, named fields, line ends.

use super::clause::{Clause, Edition, Field};
use super::report::{Report, shown};

/// A head, as far as it could be parsed.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) edition: Edition,
    pub(super) is_draft: bool,
    fields: Vec<Line>,
}

#[derive(Debug)]
struct Line {
    field: Option<Field>,
    value: String,
}

impl Head {
    /// Reads the lines of a head, the empty one at its end included.
    pub(super) fn read(raw: &[u8], report: &mut Report) -> Self {
        let mut lines = Lines(raw);
        let first = lines.next().unwrap_or_default();
        let is_draft = DRAFTS.contains(&first);
        let mut head = Self { edition: read_version(first, report), is_draft, fields: Vec::new() };
        check_line_ends(raw, report);
        let mut current: Option<(Vec<u8>, Vec<u8>)> = None;
        for line in lines.take_while(|line| !line.is_empty()) {
            match (line.first(), &mut current) {
                (Some(b' ' | b'\t'), Some((_, value))) => {
                    value.push(b' ');
                    value.extend_from_slice(line.trim_ascii());
                }
                (Some(b' ' | b'\t'), None) => {
                    report.error(Clause::Model, "a line that continues a field comes before the first field");
                }
                _ => {
                    head.close(current.take(), report);
                    current = split_field(line, report);
                }
            }
        }
        head.close(current.take(), report);
        head
    }

    fn close(&mut self, line: Option<(Vec<u8>, Vec<u8>)>, report: &mut Report) {
        let Some((name, value)) = line else { return };
        let name = String::from_utf8_lossy(&name).into_owned();
        let value = read_value(&name, value.trim_ascii(), report);
        self.fields.push(Line { field: Field::called(&name), value });
    }

    /// The first value of a field.
    pub(super) fn get(&self, field: Field) -> Option<&str> {
        self.all(field).next()
    }
    /// All values of a field.
    pub(super) fn all(&self, field: Field) -> impl Iterator<Item = &str> {
        self.fields.iter().filter(move |line| line.field == Some(field)).map(|line| line.value.as_str())
    }
    /// Every defined field that is there, with its value, in its order.
    pub(super) fn defined(&self) -> impl Iterator<Item = (Field, &str)> {
        self.fields.iter().filter_map(|line| Some((line.field?, line.value.as_str())))
    }
}

/// Lines without their ends, be those CR LF or LF.
struct Lines<'a>(&'a [u8]);

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.0.is_empty() {
            return None;
        }
        let end = self.0.iter().position(|b| *b == b'\n').unwrap_or(self.0.len());
        let (line, rest) = self.0.split_at_checked(end)?;
        self.0 = rest.get(1..).unwrap_or_default();
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// The versions of the drafts before the standard, which crawlers wrote for years.
const DRAFTS: [&[u8]; 3] = [b"WARC/0.16", b"WARC/0.17", b"WARC/0.18"];

fn read_version(line: &[u8], report: &mut Report) -> Edition {
    let text = shown(&String::from_utf8_lossy(line));
    let is_spelled_otherwise = line.iter().any(u8::is_ascii_lowercase);
    match line.to_ascii_uppercase().as_slice() {
        standard @ (b"WARC/1.0" | b"WARC/1.1") => {
            if is_spelled_otherwise {
                // The grammar is that of RFC 2616, section 2.1, where literals are case-insensitive.
                let what = format!(
                    "the record begins with `{text}`; many readers know only `WARC/` in capital letters"
                );
                report.advice(Clause::Model, what);
            }
            if standard.ends_with(b"0") { Edition::V1_0 } else { Edition::V1_1 }
        }
        _ if DRAFTS.contains(&line) => Edition::V1_0,
        _ => {
            let what = format!(
                "the record begins with `{text}`; expected `WARC/1.0` or `WARC/1.1` and nothing else"
            );
            report.error(Clause::Model, what);
            Edition::V1_1
        }
    }
}

fn check_line_ends(raw: &[u8], report: &mut Report) {
    let bare = raw.split_inclusive(|b| *b == b'\n').filter(|line| !line.ends_with(b"\r\n")).count();
    if bare > 0 {
        let what = format!("`{bare}` lines of the head do not end in CR LF");
        report.error(Clause::Model, what);
    }
}

/// The name and value of a line; both as bytes, because neither need be text.
fn split_field(line: &[u8], report: &mut Report) -> Option<(Vec<u8>, Vec<u8>)> {
    let text = || shown(&String::from_utf8_lossy(line));
    let Some(colon) = line.iter().position(|b| *b == b':') else {
        report.error(Clause::Model, format!("the line `{}` has no colon; expected `name: value`", text()));
        return None;
    };
    let (name, value) = line.split_at_checked(colon)?;
    let token = name.trim_ascii_end();
    if token.is_empty() {
        report.error(Clause::Model, format!("the line `{}` has no name before its colon", text()));
        return None;
    }
    if token.len() != name.len() {
        report.error(Clause::Model, format!("there is white space before the colon in `{}`", text()));
    }
    if !token.iter().all(|b| is_token(*b)) {
        let name = shown(&String::from_utf8_lossy(token));
        report
            .error(Clause::Model, format!("the field name `{name}` has characters that names must not have"));
    }
    Some((token.to_vec(), value.get(1..).unwrap_or_default().trim_ascii().to_vec()))
}

/// Whether a name may contain the byte.
pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?={}".contains(&byte)
}

fn read_value(name: &str, value: &[u8], report: &mut Report) -> String {
    let is_control = |b: &u8| b.is_ascii_control() && *b != b'\t';
    if let Some(byte) = value.iter().find(|b| is_control(b)) {
        report.error(
            Clause::Model,
            format!("the value of `{}` has the control character `{byte:#04x}`", shown(name)),
        );
    }
    match std::str::from_utf8(value) {
        Ok(text) => text.to_owned(),
        Err(_) => {
            report.error(Clause::Model, format!("the value of `{}` is not UTF-8", shown(name)));
            String::from_utf8_lossy(value).into_owned()
        }
    }
}
