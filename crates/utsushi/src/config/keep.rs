//! A setting that was given once and is kept: the contact (D18).
//!
//! **Invariant:** of the file nothing changes but the contact; what cannot be changed in place is left, with a sentence
//! that says what to write. The new file is whole and durable before it takes the place of the old one.

use super::{Config, FILE_NAME};
use anyhow::Context as _;
use base::disk::{Disk as _, Open, RealDisk};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// Writes the contact into the configuration: the file that was named, else the one in the data directory. The file; or
/// nothing if it says so already.
pub(crate) fn keep_contact(
    named: Option<&Path>,
    data: &Path,
    contact: &str,
) -> anyhow::Result<Option<PathBuf>> {
    let path = named.map_or_else(|| data.join(FILE_NAME), Path::to_owned);
    let before = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("cannot read `{}`", path.display())),
    };
    let after = with_contact(&before, contact).filter(|after| says(after, contact));
    let after = after.with_context(|| {
        format!("cannot change `{}`: write `contact = \"{contact}\"` under `[fetch]` there", path.display())
    })?;
    if after == before {
        return Ok(None);
    }
    replace(&path, &after).with_context(|| format!("cannot write `{}`", path.display()))?;
    Ok(Some(path))
}

/// Whether the text is a configuration with this contact.
fn says(text: &str, contact: &str) -> bool {
    let mut config = Config::compiled_in();
    config.apply(text, |_| super::Origin::Default).is_ok() && config.fetch.contact.as_deref() == Some(contact)
}

/// The text with the contact in it; nothing if there is no TOML to put it into.
fn with_contact(text: &str, contact: &str) -> Option<String> {
    let value = toml::Value::String(contact.to_owned()).to_string();
    let table = DeTable::parse(text).ok()?.into_inner();
    let Some(section) = table.get("fetch") else {
        let gap = if text.is_empty() || text.ends_with("\n\n") { "" } else { "\n" };
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        return Some(format!("{text}{end}{gap}[fetch]\ncontact = {value}\n"));
    };
    let DeValue::Table(entries) = section.get_ref() else { return None };
    if let Some(old) = entries.get("contact") {
        let span = old.span();
        return Some([text.get(..span.start)?, &value, text.get(span.end..)?].concat());
    }
    let Some(header_end) = header_end(text) else { return Some(format!("fetch.contact = {value}\n{text}")) };
    let (head, rest) = text.split_at_checked(header_end)?;
    let gap = if head.ends_with('\n') { "" } else { "\n" };
    Some(format!("{head}{gap}contact = {value}\n{rest}"))
}

/// Where the line `[fetch]` ends.
fn header_end(text: &str) -> Option<usize> {
    let mut end = 0;
    text.split_inclusive('\n').find_map(|line| {
        end += line.len();
        let bare = line.split('#').next().unwrap_or_default().trim();
        let name = bare.strip_prefix('[').and_then(|bare| bare.strip_suffix(']'))?;
        (name.trim() == "fetch").then_some(end)
    })
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".tmp");
    let unfinished = PathBuf::from(unfinished);
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = RealDisk.open(&unfinished, Open::CreateNew)?;
    file.write_at(0, text.as_bytes())?;
    file.sync()?;
    if let Ok(before) = fs::metadata(path) {
        fs::set_permissions(&unfinished, before.permissions())?;
    }
    RealDisk.rename(&unfinished, path)?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    RealDisk.sync_directory(parent.unwrap_or(Path::new(".")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "https://example.net/crawl";

    #[track_caller]
    fn check(before: &str, expected: &str) {
        let after = with_contact(before, PAGE).unwrap();
        assert_eq!(after, expected);
        assert!(says(&after, PAGE), "{after}");
    }

    #[test]
    fn nothing_changes_but_the_contact() {
        check("", "[fetch]\ncontact = \"https://example.net/crawl\"\n");
        check(
            "# mine\n[crawl]\npause = \"20s\"",
            "# mine\n[crawl]\npause = \"20s\"\n\n[fetch]\ncontact = \"https://example.net/crawl\"\n",
        );
        check(
            "[fetch] # who we are\nagent = \"x\" # a name\n[crawl]\n",
            "[fetch] # who we are\ncontact = \"https://example.net/crawl\"\nagent = \"x\" # a name\n[crawl]\n",
        );
        check(
            "[fetch]\ncontact = 'old@example.net'   # until May\n",
            "[fetch]\ncontact = \"https://example.net/crawl\"   # until May\n",
        );
        check(
            "fetch.agent = \"x\"\n",
            "fetch.contact = \"https://example.net/crawl\"\nfetch.agent = \"x\"\n",
        );
        check("[fetch]", "[fetch]\ncontact = \"https://example.net/crawl\"\n");
        let said = "[fetch]\ncontact = \"https://example.net/crawl\"\n";
        check(said, said);
    }

    #[test]
    fn what_cannot_be_changed_in_place_is_left() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(FILE_NAME);
        for text in ["[fetch", "fetch = { agent = \"x\" }\n", "[nonsense]\nx = 1\n"] {
            fs::write(&path, text).unwrap();
            let error = keep_contact(None, place.path(), PAGE).unwrap_err();
            assert!(error.to_string().contains("under `[fetch]`"), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        fs::remove_file(&path).unwrap();
        assert_eq!(keep_contact(None, place.path(), PAGE).unwrap(), Some(path.clone()));
        assert_eq!(keep_contact(None, place.path(), PAGE).unwrap(), None, "it says so already");
        assert!(says(&fs::read_to_string(&path).unwrap(), PAGE));
    }
}
