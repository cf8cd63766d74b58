//! Pages that somebody names, on the command line or in a file.

use crate::exit::Advised;
use anyhow::Context as _;
use base::PageUrl;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// The longest file of seeds.
const FILE_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// The pages that are named, in their order and each once.
pub(crate) fn read(named: &[String], file: Option<&Path>) -> anyhow::Result<Vec<PageUrl>> {
    let mut pages = Vec::new();
    for text in named {
        let page = parse(text).map_err(|error| {
            let advice = "give the whole URL, such as `https://example.org/`";
            Advised::new(format!("cannot visit `{}`", base::printable(text)), advice, anyhow::anyhow!(error))
        })?;
        pages.push(page);
    }
    if let Some(path) = file {
        pages.extend(read_file(path)?);
    }
    let mut known = std::collections::HashSet::new();
    pages.retain(|page| known.insert(page.key()));
    Ok(pages)
}

/// One URL a line; what stands behind `#` at the beginning of a word is a comment. `-` is standard input.
fn read_file(path: &Path) -> anyhow::Result<Vec<PageUrl>> {
    let source: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path).with_context(|| format!("cannot read the seeds in `{}`", path.display()))?)
    };
    let lines = BufReader::new(source.take(FILE_BYTES_MAX + 1)).split(b'\n');
    let (mut pages, mut bytes) = (Vec::new(), 0);
    for (number, line) in (1..).zip(lines) {
        let line = line.with_context(|| format!("cannot read the seeds in `{}`", path.display()))?;
        bytes += line.len() as u64 + 1;
        anyhow::ensure!(
            bytes <= FILE_BYTES_MAX,
            "cannot use `{}`: it is longer than 128 MiB",
            path.display()
        );
        let line = String::from_utf8_lossy(&line);
        let text = line.trim_start_matches('\u{feff}').trim();
        let text =
            if text.starts_with('#') { "" } else { text.split(" #").next().unwrap_or_default().trim() };
        if text.is_empty() {
            continue;
        }
        pages.push(parse(text).map_err(|error| {
            let what = format!("cannot use the seeds in `{}`: line {number}", path.display());
            Advised::new(what, "write one whole URL a line, or take the line out", anyhow::anyhow!(error))
        })?);
    }
    Ok(pages)
}

/// Reads a URL; a missing `http://` is added.
fn parse(text: &str) -> Result<PageUrl, String> {
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
        let pages = read(&["a.example".to_owned()], Some(&file)).unwrap();
        let pages: Vec<&str> = pages.iter().map(PageUrl::as_str).collect();
        assert_eq!(pages, ["http://a.example/", "http://b.example/", "http://c.example/x"]);
    }

    #[test]
    fn what_is_no_url_is_told_with_its_line() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("seeds.txt");
        std::fs::write(&file, "http://b.example/\nftp://c.example/\n").unwrap();
        let error = format!("{:#}", read(&[], Some(&file)).unwrap_err());
        assert!(error.contains("line 2"), "{error}");
        assert!(read(&["http://".to_owned()], None).is_err());
        assert!(read(&[], Some(Path::new("/nowhere/seeds"))).is_err());
    }
}
