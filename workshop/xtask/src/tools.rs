//! What the tasks need on the machine, and how it is installed.
//!
//! Invariant: the system is changed only by `apt-get install`, only for packages named in a [`Need`], and only for
//! root on a Debian-like system. Everything else goes into the `tools` directory beside the builds.

pub(crate) mod debian;
pub(crate) mod python;
pub(crate) mod samples;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fmt::Write as _};

use anyhow::{Result, bail};

use crate::process;

/// Something that must be installed.
pub(crate) struct Need {
    /// Its name in messages.
    pub(crate) name: &'static str,
    /// The Debian packages that provide it.
    packages: &'static [&'static str],
    /// Where it is, if the machine has it.
    pub(crate) find: fn() -> Option<PathBuf>,
}

/// A C compiler: some dependencies are written in C in part.
pub(crate) const C_COMPILER: Need = Need {
    name: "C compiler",
    packages: &["gcc", "libc6-dev"],
    find: || env::var("CC").ok().and_then(|name| process::find(&name)).or_else(|| process::find("cc")),
};

/// A C++ compiler: a store that ours is compared with is written in C++.
pub(crate) const CXX_COMPILER: Need = Need {
    name: "C++ compiler",
    packages: &["g++"],
    find: || env::var("CXX").ok().and_then(|name| process::find(&name)).or_else(|| process::find("c++")),
};

/// The `mount` program: tests of a full disk make a small one.
pub(crate) const MOUNT: Need =
    Need { name: "mount", packages: &["mount", "util-linux"], find: || process::find("mount") };

/// The analyser whose words ours are compared with, and its dictionary.
pub(crate) const MECAB: Need = Need {
    name: "mecab",
    packages: &["mecab", "mecab-ipadic-utf8"],
    find: || process::find("mecab").filter(|_| Path::new("/var/lib/mecab/dic/ipadic-utf8").is_dir()),
};

/// A Python that can make virtual environments. Debian ships the module `venv` without the installer it needs.
pub(crate) const PYTHON: Need = Need {
    name: "Python with venv",
    packages: &["python3", "python3-venv"],
    find: || {
        let candidates = [process::find("python3"), Some(PathBuf::from("/usr/bin/python3"))];
        candidates
            .into_iter()
            .flatten()
            .find(|python| process::answers(Command::new(python).args(["-c", "import venv, ensurepip"])))
    },
};

/// Ensures that `needs` are installed; installs missing ones if that is allowed.
pub(crate) fn ensure(needs: &[&Need]) -> Result<()> {
    let missing = missing(needs);
    if missing.is_empty() {
        return Ok(());
    }
    if debian::may_install() {
        let packages: Vec<&str> = missing.iter().flat_map(|need| need.packages).copied().collect();
        debian::install(&packages)?;
    }
    refuse_missing(&self::missing(needs))
}

fn missing<'a>(needs: &[&'a Need]) -> Vec<&'a Need> {
    needs.iter().copied().filter(|need| (need.find)().is_none()).collect()
}

/// An error that says what to install, unless nothing is missing.
fn refuse_missing(missing: &[&Need]) -> Result<()> {
    if missing.is_empty() {
        return Ok(());
    }
    let mut text = String::from("this machine lacks:");
    for need in missing {
        write!(text, "\n  {} (Debian: `apt-get install {}`)", need.name, need.packages.join(" "))?;
    }
    bail!(text)
}

#[cfg(test)]
mod tests {
    use super::{Need, missing, refuse_missing};

    const PRESENT: Need = Need { name: "a thing", packages: &["thing"], find: || Some("/bin/thing".into()) };
    const ABSENT: Need = Need { name: "a wonder", packages: &["wonder", "wonder-dev"], find: || None };

    #[test]
    fn what_is_missing_is_named_with_its_packages() {
        let missing = missing(&[&PRESENT, &ABSENT]);
        assert_eq!(
            refuse_missing(&missing).unwrap_err().to_string(),
            "this machine lacks:\n  a wonder (Debian: `apt-get install wonder wonder-dev`)"
        );
    }

    #[test]
    fn nothing_is_refused_when_nothing_is_missing() {
        assert!(refuse_missing(&missing(&[&PRESENT])).is_ok());
    }
}
