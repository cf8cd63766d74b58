//! Stores the settings that define a crawl in its data directory, so that later runs need not repeat them (D18).
//!
//! The file `crawl.toml` in the data directory contains the settings that were given to `utsushi crawl`, by flags or by a
//! file named with `--config`. They apply to every later command on the directory and override `utsushi.toml`; settings of
//! the current run override them, and a crawl then stores those instead.
//!
//! **Invariant:** the new file is complete and durable before it replaces the old one.

use super::{Config, Error, SETTINGS, SettingOrigin, is_absent, read};
use base::disk::{Disk as _, Open, RealDisk};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The name of the file in a data directory.
pub(super) const FILE_NAME: &str = "crawl.toml";
/// The settings that define a crawl.
const KEPT: [&str; 13] = [
    "crawl.pause",
    "crawl.opt_out",
    "crawl.scope",
    "crawl.rules",
    "crawl.agreed",
    "crawl.aliases",
    "crawl.requisites",
    "crawl.policy",
    "crawl.every",
    "fetch.contact",
    "fetch.allow_addresses",
    "fetch.proxy",
    "filter.languages",
];

const HEAD: &str = "\
# What this crawl was told, kept by `utsushi crawl` for later runs. Give a setting again to change it; to let
# utsushi.toml or the default count again: utsushi config --forget SETTING
";

impl Config {
    /// Applies the settings that an earlier crawl stored in the data directory.
    pub(super) fn apply_kept(&mut self, data: &Path) -> Result<(), Error> {
        let path = data.join(FILE_NAME);
        let text = match read(&path) {
            Ok(text) => text,
            Err(error) if is_absent(&error) => return Ok(()),
            Err(source) => return Err(Error::Read { path, source }),
        };
        let before = self.clone();
        self.apply(&text, |line| SettingOrigin::Kept { path: path.clone(), line })
            .map_err(|problems| Error::Invalid { path, problems })?;
        for setting in SETTINGS {
            let is_from_file = matches!(before.origin(setting.key), SettingOrigin::File { .. });
            if is_from_file && (setting.show)(&before) != (setting.show)(self) {
                self.overridden.push((setting.key, before.origin(setting.key).clone()));
            }
        }
        Ok(())
    }
    /// Settings of `utsushi.toml` that are overridden by stored ones, and their origin.
    pub fn overridden(&self) -> &[(&'static str, SettingOrigin)] {
        &self.overridden
    }

    /// Stores the settings that define the crawl in its data directory: those of this run, of a file that was `named`, or of
    /// an earlier crawl. Returns the file if it changed.
    pub fn keep(&self, data: &Path, named: Option<&Path>) -> io::Result<Option<PathBuf>> {
        let is_said = |key: &str| match self.origin(key) {
            SettingOrigin::Flag(_) | SettingOrigin::Kept { .. } => true,
            SettingOrigin::File { path, .. } => Some(path.as_path()) == named,
            SettingOrigin::Default | SettingOrigin::Environment(_) => false,
        };
        self.write_kept(data, is_said)
    }
    /// Removes stored settings. Returns the file if it changed.
    pub fn forget(&self, data: &Path, keys: &[String]) -> io::Result<Option<PathBuf>> {
        let stays = |key: &str| {
            matches!(self.origin(key), SettingOrigin::Kept { .. })
                && !keys.iter().any(|forgotten| forgotten == key)
        };
        self.write_kept(data, stays)
    }
    /// The lines that a crawl would store if the file that set them were named.
    pub(crate) fn stored_lines(&self) -> String {
        let is_set = |key| !matches!(self.origin(key), SettingOrigin::Default);
        let stored = SETTINGS.iter().filter(|setting| KEPT.contains(&setting.key) && is_set(setting.key));
        stored.map(|setting| format!("{} = {}\n", setting.key, (setting.show)(self))).collect()
    }

    fn write_kept(&self, data: &Path, is_kept: impl Fn(&str) -> bool) -> io::Result<Option<PathBuf>> {
        let is_kept = |key: &str| KEPT.contains(&key) && is_kept(key);
        let kept = SETTINGS.iter().filter(|setting| is_kept(setting.key));
        let lines: String =
            kept.map(|setting| format!("{} = {}\n", setting.key, (setting.show)(self))).collect();
        let (path, text) = (data.join(FILE_NAME), format!("{HEAD}{lines}"));
        let before = fs::read_to_string(&path).ok();
        if before.as_deref() == Some(text.as_str()) || (before.is_none() && lines.is_empty()) {
            return Ok(None);
        }
        replace(&path, &text)?;
        Ok(Some(path))
    }
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
    RealDisk.rename(&unfinished, path)?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    RealDisk.sync_directory(parent.unwrap_or(Path::new(".")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(data: &Path) -> Config {
        Config::load(None, data).unwrap()
    }
    fn shown(config: &Config, key: &str) -> String {
        let setting = SETTINGS.iter().find(|setting| setting.key == key).unwrap();
        (setting.show)(config)
    }

    #[test]
    fn what_flags_say_is_kept_over_the_file_until_it_is_forgotten() {
        let place = tempfile::tempdir().unwrap();
        let data = place.path();
        fs::write(data.join("utsushi.toml"), "[crawl]\npause = \"20s\"\nevery = \"9d\"\n").unwrap();
        let mut config = load(data);
        assert_eq!(config.keep(data, None).unwrap(), None, "nothing was said");
        config.crawl.pause = base::Interval::from_seconds(1);
        config.say("crawl.pause", "--pause");
        assert_eq!(config.keep(data, None).unwrap(), Some(data.join(FILE_NAME)));
        let later = load(data);
        assert_eq!(
            (shown(&later, "crawl.pause"), shown(&later, "crawl.every")),
            ("\"1s\"".into(), "\"9d\"".into())
        );
        assert!(matches!(later.origin("crawl.pause"), SettingOrigin::Kept { .. }));
        assert_eq!(later.overridden().len(), 1, "{:?}", later.overridden());
        assert_eq!(later.keep(data, None).unwrap(), None, "it is kept already");
        assert!(later.forget(data, &["crawl.pause".to_owned()]).unwrap().is_some());
        assert_eq!(shown(&load(data), "crawl.pause"), "\"20s\"");
    }

    #[test]
    fn what_a_named_file_says_is_kept_and_counts_over_what_was_kept() {
        let place = tempfile::tempdir().unwrap();
        let (data, named) = (place.path(), place.path().join("named.toml"));
        let text = "[crawl]\nagreed = [\"a.example pause=1s\"]\n[sim]\npages = 7\n";
        fs::write(&named, text).unwrap();
        let config = Config::load(Some(&named), data).unwrap();
        config.keep(data, Some(&named)).unwrap();
        let later = load(data);
        assert_eq!(shown(&later, "crawl.agreed"), "[\"a.example pause=1s\"]");
        assert_eq!(*later.origin("sim.pages"), SettingOrigin::Default, "it does not define a crawl");
        fs::write(&named, text.replace("1s", "2s")).unwrap();
        let again = Config::load(Some(&named), data).unwrap();
        assert_eq!(shown(&again, "crawl.agreed"), "[\"a.example pause=2s\"]");
    }

    #[test]
    fn a_kept_file_that_is_wrong_is_told_with_its_line() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join(FILE_NAME), "crawl.pause = \"soon\"\n").unwrap();
        let error = Config::load(None, place.path()).unwrap_err().to_string();
        assert!(error.contains("crawl.toml") && error.contains("line 1"), "{error}");
    }

    #[test]
    fn every_kept_setting_exists() {
        for key in KEPT {
            assert!(SETTINGS.iter().any(|setting| setting.key == key), "{key}");
        }
    }
}
