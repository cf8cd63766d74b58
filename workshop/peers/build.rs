//! Builds the Berkeley DB part, if that is available.
//!
//! `UTSUSHI_BERKELEY_DB` names a directory with `include/db.h` and `lib/**/libdb-5.3.a`; without it `bdb` is left out.

use std::env;
use std::path::{Path, PathBuf};

const PLACE: &str = "UTSUSHI_BERKELEY_DB";
const SHIM: &str = "src/systems/berkeley.c";
const LIBRARY: &str = "libdb-5.3.a";

fn main() {
    println!("cargo::rerun-if-env-changed={PLACE}");
    println!("cargo::rerun-if-changed={SHIM}");
    println!("cargo::rustc-check-cfg=cfg(berkeley_db)");
    let Some(place) = env::var_os(PLACE).map(PathBuf::from) else { return };
    let Some(library) = directory_of_library(&place.join("lib")) else {
        println!("cargo::warning=no `{LIBRARY}` below `{}`: built without Berkeley DB", place.display());
        return;
    };
    cc::Build::new().file(SHIM).include(place.join("include")).warnings(true).compile("berkeley");
    println!("cargo::rustc-link-search=native={}", library.display());
    println!("cargo::rustc-link-lib=static=db-5.3");
    println!("cargo::rustc-cfg=berkeley_db");
}

/// `lib`, or the directory just below it, that holds the library.
fn directory_of_library(lib: &Path) -> Option<PathBuf> {
    let below = std::fs::read_dir(lib).ok()?.flatten().map(|entry| entry.path());
    std::iter::once(lib.to_owned()).chain(below).find(|directory| directory.join(LIBRARY).is_file())
}
