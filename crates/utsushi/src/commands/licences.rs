//! `utsushi licences`: whose data the program contains.

use std::sync::LazyLock;

use japanese::DATA_NOTICES;

use crate::exit::Exit;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  utsushi licences | less";

/// Print the licences of the built-in dictionary, synonyms and models
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {}

/// Prints every notice in full.
pub(crate) fn run(output: &Output) -> Exit {
    for notice in DATA_NOTICES {
        let title = format!("{}: {}", notice.name, notice.licence);
        output.own_text(&format!(
            "{title}\n{}\n\n{}\n\n",
            "=".repeat(title.chars().count()),
            notice.text.trim()
        ));
    }
    Exit::Done
}

/// The version with a line for each work, for `--version`.
pub(crate) fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let lines = DATA_NOTICES.map(|notice| format!("  {}: {}", notice.name, notice.licence));
        let version = env!("CARGO_PKG_VERSION");
        format!("{version}\n\nContains data of others (in full: `utsushi licences`):\n{}", lines.join("\n"))
    });
    &VERSION
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn the_version_names_every_source_of_data() {
        let version = version();
        for name in [
            "IPADIC",
            "SudachiDict",
            "UD_Japanese-GSD",
            "WikipediaAnnotatedCorpus",
            "CC BY-SA 4.0",
            "Apache-2.0",
        ] {
            assert!(version.contains(name), "{name}: {version}");
        }
    }
}
