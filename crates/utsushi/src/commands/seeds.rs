//! Pages given on the command line or in a file.

use crate::exit::{Advised, Exit};
use crate::output::Output;
use crate::words::count_of;
use anyhow::Context as _;
use base::PageUrl;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// The maximum length of a file of seeds.
const FILE_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// The maximum number of bad lines that are shown, and of characters of each.
const BAD_SHOWN_MAX: usize = 5;
const SHOWN_CHARS_MAX: usize = 80;

/// The pages given.
#[derive(Debug, Default)]
pub(crate) struct Seeds {
    /// The pages, in order, without duplicates.
    pub(crate) pages: Vec<PageUrl>,
    /// Lines of the file that are not URLs: their number, and the first few with line numbers.
    bad_count: u64,
    bad: Vec<String>,
}

impl Seeds {
    /// Reports the lines that are skipped.
    pub(crate) fn tell_bad(&self, output: &Output) {
        if self.bad_count == 0 {
            return;
        }
        let more = self.bad_count - self.bad.len() as u64;
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        let lines = count_of(self.bad_count, "line");
        output.complaint(format!("{lines} of the seeds skipped: {}{more}", self.bad.join("; ")));
    }
    /// The exit code of a command that ended with `exit` for the good lines.
    pub(crate) fn exit(&self, exit: Exit) -> Exit {
        if exit == Exit::Done && self.bad_count > 0 { Exit::Found } else { exit }
    }
}

/// The pages given. Lines of the file that are not URLs are skipped, unless there are no others.
pub(crate) fn read(named: &[String], file: Option<&Path>) -> anyhow::Result<Seeds> {
    let mut seeds = Seeds::default();
    for text in named {
        let page = parse(text).map_err(|error| {
            let advice = "give the full URL, such as `https://example.org/`";
            Advised::new(format!("cannot visit `{}`", base::printable(text)), advice, anyhow::anyhow!(error))
        })?;
        seeds.pages.push(page);
    }
    if let Some(path) = file {
        read_file(path, &mut seeds)?;
        if seeds.pages.is_empty() && seeds.bad_count > 0 {
            let what = format!("cannot use the seeds in `{}`: it contains no URL", path.display());
            let why = anyhow::anyhow!("{}", seeds.bad.join("; "));
            return Err(Advised::new(what, "write one full URL per line", why).into());
        }
    }
    let mut known = std::collections::HashSet::new();
    seeds.pages.retain(|page| known.insert(page.key()));
    Ok(seeds)
}

/// One URL per line; a `#` at the start of a word begins a comment. `-` is standard input.
fn read_file(path: &Path, seeds: &mut Seeds) -> anyhow::Result<()> {
    let source: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path).with_context(|| format!("cannot read the seeds in `{}`", path.display()))?)
    };
    let lines = BufReader::new(source.take(FILE_BYTES_MAX + 1)).split(b'\n');
    let mut bytes = 0;
    for (number, line) in (1..).zip(lines) {
        let line = line.with_context(|| format!("cannot read the seeds in `{}`", path.display()))?;
        bytes += line.len() as u64 + 1;
        anyhow::ensure!(
            bytes <= FILE_BYTES_MAX,
            "cannot use `{}`: it is longer than 128 MiB",
            path.display()
        );
        read_line(number, &String::from_utf8_lossy(&line), seeds);
    }
    Ok(())
}

fn read_line(number: u64, line: &str, seeds: &mut Seeds) {
    let text = line.trim_start_matches('\u{feff}').trim();
    let text = if text.starts_with('#') { "" } else { text.split(" #").next().unwrap_or_default().trim() };
    if text.is_empty() {
        return;
    }
    match parse(text) {
        Ok(page) => seeds.pages.push(page),
        Err(why) => {
            seeds.bad_count += 1;
            if seeds.bad.len() < BAD_SHOWN_MAX {
                let shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
                seeds.bad.push(format!("line {number} (`{}`): {why}", base::printable(&shown)));
            }
        }
    }
}

/// Parses a URL; a missing `http://` is added to what looks like a host: a word without a dot is more likely a mistake.
fn parse(text: &str) -> Result<PageUrl, String> {
    let host = text.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let is_host = host.contains('.') || host.starts_with('[') || host.eq_ignore_ascii_case("localhost");
    if !text.contains("://") && !is_host {
        return Err(format!(
            "`{}` does not look like a host; if it is one, write `http://` before it",
            base::printable(host)
        ));
    }
    let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    PageUrl::parse(&whole).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_read_in_order_and_once() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("seeds.txt");
        std::fs::write(
            &file,
            "\u{feff}# mine\nhttp://b.example/ # a note\r\n\nc.example/x#y\nhttps://a.example/\n",
        )
        .unwrap();
        let pages = read(&["a.example".to_owned()], Some(&file)).unwrap().pages;
        let pages: Vec<&str> = pages.iter().map(PageUrl::as_str).collect();
        assert_eq!(pages, ["http://a.example/", "http://b.example/", "http://c.example/x"]);
    }

    #[test]
    fn a_bare_word_is_no_host() {
        for text in ["nonsense", "nonsense/x", "ht!tp", "-", "news:8080"] {
            let error = format!("{:#}", read(&[text.to_owned()], None).unwrap_err());
            assert!(error.contains("write `http://` before it"), "{text}: {error}");
        }
        for text in ["localhost:8080/x", "a.example", "127.0.0.1:80", "http://nonsense/", "[::1]:80"] {
            assert!(read(&[text.to_owned()], None).is_ok(), "{text}");
        }
    }

    #[test]
    fn bad_lines_are_counted_and_the_first_are_named() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("seeds.txt");
        std::fs::write(&file, "http://b.example/\nftp://c.example/\nhttp://\nd.example\n").unwrap();
        let seeds = read(&[], Some(&file)).unwrap();
        let pages: Vec<&str> = seeds.pages.iter().map(PageUrl::as_str).collect();
        assert_eq!((pages, seeds.bad_count), (vec!["http://b.example/", "http://d.example/"], 2));
        assert!(seeds.bad[0].starts_with("line 2 (`ftp://c.example/`): "), "{:?}", seeds.bad);
        std::fs::write(&file, "http://\n".repeat(9)).unwrap();
        let error = format!("{:#}", read(&[], Some(&file)).unwrap_err());
        assert!(error.contains("it contains no URL") && error.contains("line 5"), "{error}");
        assert!(!error.contains("line 6"), "{error}");
        // A page that was named is enough.
        assert_eq!(read(&["a.example".to_owned()], Some(&file)).unwrap().bad_count, 9);
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        assert!(read(&["http://".to_owned()], None).is_err());
        assert!(read(&[], Some(Path::new("/nowhere/seeds"))).is_err());
    }
}
