//! Runs one target of the crate `fuzz` under libFuzzer.
//!
//! The environment variable `UTSUSHI_FUZZ_TARGET` names the target; without it the names of all targets are printed, each with
//! the longest input that is tried. The seeds of the target are first written to the directory `UTSUSHI_FUZZ_SEEDS`.
#![no_main]

use fuzz::{FuzzTarget, TARGETS};
use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;
use std::sync::LazyLock;

static TARGET: LazyLock<&'static FuzzTarget> = LazyLock::new(|| {
    let Some(name) = std::env::var_os("UTSUSHI_FUZZ_TARGET") else {
        TARGETS.iter().for_each(|target| println!("{} {}", target.name, target.bytes_max));
        std::process::exit(0);
    };
    let found = name.to_str().and_then(fuzz::find);
    found.unwrap_or_else(|| panic!("there is no target `{}`", name.display()))
});

fn write_seeds() {
    let Some(directory) = std::env::var_os("UTSUSHI_FUZZ_SEEDS").map(PathBuf::from) else { return };
    for (number, seed) in (TARGET.seeds)().iter().enumerate() {
        std::fs::write(directory.join(format!("seed-{number}")), seed).expect("seeds can be written");
    }
}

fuzz_target!(
    init: {
        LazyLock::force(&TARGET);
        write_seeds();
    },
    |data: &[u8]| (TARGET.run)(data)
);
