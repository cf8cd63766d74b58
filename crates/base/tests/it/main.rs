//! What `base` promises, tried from outside.

#![expect(
    clippy::unwrap_used,
    reason = "clippy knows test functions by their mark; here the functions they call are tests too"
)]

mod disk;
mod naughty;
mod psl;
mod urls;

use std::io::Write;
use std::path::PathBuf;

/// A file of the public test suites. They are not part of the project: without them a test says so and passes.
fn suite(name: &str) -> Option<String> {
    let Some(shared) = std::env::var_os("UTSUSHI_SHARED") else {
        // Not by `eprintln!`, whose output is shown only for failed tests.
        let notice = format!("NOT TESTED: `{name}`, because `UTSUSHI_SHARED` does not say where it is\n");
        std::io::stderr().write_all(notice.as_bytes()).unwrap();
        return None;
    };
    let path = PathBuf::from(shared).join("data/suites").join(name);
    Some(
        std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("cannot read `{}`: {error}", path.display())),
    )
}

/// A number from the environment, for `cargo xtask torture`.
fn number(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable)
        .map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("`{variable}` is not a number")))
}
