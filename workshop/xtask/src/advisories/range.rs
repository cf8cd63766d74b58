//! Which versions satisfy a requirement such as `>=1.2.4, <2`.
//!
//! Cargo's own rule, by which `1.3.0-beta.1` does not satisfy `>=1.2.4`, is made for choosing versions. Here all
//! versions are in one order. If the end of a range is ambiguous for a pre-release (`<2.0.0` and `2.0.0-alpha`), the
//! pre-release does not match: a false alarm is better than an overlooked fault.

use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::str::FromStr;

use semver::{BuildMetadata, Comparator, Op, Prerelease, Version, VersionReq};

/// The versions that satisfy a requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Range(VersionReq);

impl Range {
    /// Whether `version` is among them.
    pub(super) fn holds(&self, version: &Version) -> bool {
        // Build metadata does not distinguish versions.
        let version = Version { build: BuildMetadata::EMPTY, ..version.clone() };
        self.0.comparators.iter().all(|comparator| bounds(comparator).contains(&version))
    }
}

impl FromStr for Range {
    type Err = semver::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn bounds(comparator: &Comparator) -> (Bound<Version>, Bound<Version>) {
    use Bound::{Excluded, Included, Unbounded};
    let first = first(comparator);
    let is_whole = comparator.patch.is_some();
    match comparator.op {
        Op::Greater if is_whole => (Excluded(first), Unbounded),
        Op::Greater => (Included(after_named(comparator)), Unbounded),
        Op::GreaterEq => (Included(first), Unbounded),
        Op::Less => (Unbounded, before(first)),
        Op::LessEq if is_whole => (Unbounded, Included(first)),
        Op::LessEq => (Unbounded, before(after_named(comparator))),
        Op::Exact if is_whole => (Included(first.clone()), Included(first)),
        Op::Tilde => (Included(first), before(after_minor(comparator))),
        Op::Caret => (Included(first), before(after_compatible(comparator))),
        // `=1.2`, `1.2.*`; and a kind of comparison not known yet holds little rather than much.
        _ => (Included(first), before(after_named(comparator))),
    }
}

/// The end of a range before `version`; its pre-releases lie outside too unless it is one itself.
fn before(mut version: Version) -> Bound<Version> {
    if version.pre.is_empty() {
        version.pre = Prerelease::new("0").unwrap_or_default();
    }
    Bound::Excluded(version)
}

/// The version that is named, with zeros where nothing is said.
fn first(named: &Comparator) -> Version {
    let mut version = Version::new(named.major, named.minor.unwrap_or(0), named.patch.unwrap_or(0));
    version.pre = named.pre.clone();
    version
}

/// The first version after all those whose numbers begin as named: 1.3.0 for `1.2`.
fn after_named(named: &Comparator) -> Version {
    match (named.minor, named.patch) {
        (None, _) => Version::new(named.major + 1, 0, 0),
        (Some(minor), None) => Version::new(named.major, minor + 1, 0),
        (Some(minor), Some(patch)) => Version::new(named.major, minor, patch + 1),
    }
}

/// The first version after those of the same minor number, or of the same major where only that is named.
fn after_minor(named: &Comparator) -> Version {
    after_named(&Comparator { patch: None, ..named.clone() })
}

/// The first version that may break what worked with the named one.
fn after_compatible(named: &Comparator) -> Version {
    match (named.major, named.minor, named.patch) {
        (0, Some(0), _) => after_named(named),
        (0, Some(minor), _) => Version::new(0, minor + 1, 0),
        (major, _, _) => Version::new(major + 1, 0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::Range;

    /// Checks which of the versions, smallest first, `requirement` holds.
    #[track_caller]
    fn check(requirement: &str, held: &str, not_held: &str) {
        let range: Range = requirement.parse().unwrap();
        for (versions, expected) in [(held, true), (not_held, false)] {
            for version in versions.split_whitespace() {
                assert_eq!(range.holds(&version.parse().unwrap()), expected, "`{requirement}` and {version}");
            }
        }
    }

    #[test]
    fn comparisons() {
        check(">=1.2.3", "1.2.3 1.3.0-beta 2.0.0", "1.2.2 1.2.3-rc.1");
        check(">1.2.3", "1.2.4-alpha 1.2.4", "1.2.3");
        check("<1.2.3", "0.0.1 1.2.2 1.2.2-alpha", "1.2.3-alpha 1.2.3 1.3.0");
        check("<=1.2.3", "1.2.3-alpha 1.2.3", "1.2.4-alpha 1.2.4");
        check("=1.2.3", "1.2.3", "1.2.2 1.2.3-alpha 1.2.4");
    }

    #[test]
    fn numbers_left_out() {
        check(">=1.2", "1.2.0 1.3.0", "1.1.9");
        check(">1.2", "1.3.0", "1.2.9");
        check("<1.2", "1.1.9", "1.2.0");
        check("<=1.2", "1.2.9", "1.3.0-alpha 1.3.0");
        check("=1.2", "1.2.0 1.2.9", "1.1.9 1.3.0");
        check("1.2.*", "1.2.0 1.2.9", "1.1.9 1.3.0");
        check("*", "0.0.1 9.9.9", "");
    }

    #[test]
    fn compatible_versions() {
        check("^1.2.3", "1.2.3 1.9.0 1.9.0-alpha", "1.2.2 2.0.0-alpha 2.0.0");
        check("^ 1.2", "1.2.0 1.9.0", "1.1.9 2.0.0");
        check("1.2", "1.2.0 1.9.0", "1.1.9 2.0.0");
        check("^0.2.3", "0.2.3 0.2.9", "0.2.2 0.3.0");
        check("^0.2", "0.2.0 0.2.9", "0.3.0");
        check("^0.0.3", "0.0.3", "0.0.2 0.0.4");
        check("^0.0", "0.0.0 0.0.9", "0.1.0");
        check("^0", "0.0.0 0.9.9", "1.0.0");
        check("~1.2.3", "1.2.3 1.2.9", "1.2.2 1.3.0-alpha 1.3.0");
        check("~1", "1.0.0 1.9.9", "2.0.0");
    }

    #[test]
    fn several_comparisons_hold_together() {
        check(">= 1.2.3, < 2.0.0", "1.2.3 1.9.9", "1.2.2 2.0.0");
        check(">=1.0.0-alpha.3, <2.0.0", "1.0.0-alpha.3 1.0.0", "1.0.0-alpha.2 2.0.0-alpha.3 2.0.0");
        check(">=0.5.0, <0.6.0-beta.2", "0.5.0 0.6.0-beta.1", "0.6.0-beta.2 0.6.0");
    }

    #[test]
    fn build_metadata_makes_no_difference() {
        check("<=1.2.3", "1.2.3+linux", "");
        check(">1.2.3", "", "1.2.3+linux");
        check("=1.2.3", "1.2.3+linux", "");
    }
}
