//! What is read of pages, against other readers, real pages and the simulated web's truth.
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod announce;
mod charsets;
mod hostile;
mod kinds;
mod main_text;
mod noise;
mod oracle;
mod outline;
mod peer;
mod text;
mod title;

/// The directory of public data, or a loud word that something was not tested.
fn shared(what: &str) -> Option<std::path::PathBuf> {
    let found = std::env::var_os("UTSUSHI_SHARED").map(std::path::PathBuf::from);
    if found.is_none() {
        // Not by `eprintln!`, which is heard only from tests that fail.
        let notice = format!("NOT TESTED: {what}, for `UTSUSHI_SHARED` does not say where they are\n");
        std::io::Write::write_all(&mut std::io::stderr(), notice.as_bytes()).unwrap();
    }
    found
}
