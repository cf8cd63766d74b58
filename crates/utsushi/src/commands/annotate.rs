//! `utsushi annotate`: the analysis of Japanese sentences on standard input.

use std::io::{self, BufRead, Read as _};

use anyhow::{Context as _, bail};
use japanese::{AnalysedText, Analyser, Bunsetsu, Morpheme, Parser, Style, Synonym};
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::output::Output;

/// The longest line, in bytes: no sentence is longer.
const LINE_BYTES_MAX: u64 = 1 << 20;
const EXAMPLES: &str = "\
Examples:
  utsushi annotate < sentences.txt
  echo 図書館は九時に開く。 | utsushi annotate --format knp";

/// Annotate Japanese sentences from standard input, one per line: words, bunsetsu, dependencies, synonyms
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Format of the annotation
    #[arg(long, value_enum, default_value_t = Format::Json)]
    format: Format,
    /// Treebank whose bunsetsu and dependencies to follow
    #[arg(long, value_enum, default_value_t = Treebank::Web)]
    style: Treebank,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Treebank {
    /// Web pages, blogs and news, by `UD_Japanese-GSD`
    Web,
    /// Wikipedia, by the `WikipediaAnnotatedCorpus`
    Encyclopedia,
}

impl Treebank {
    fn style(self) -> Style {
        match self {
            Self::Web => Style::Web,
            Self::Encyclopedia => Style::Encyclopedia,
        }
    }
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    /// One object per line
    Json,
    /// The line format of the parser KNP, on normalised text
    Knp,
}

/// Annotates all lines; a blank line has no annotation.
pub(crate) fn run(args: &Args, output: &Output) -> anyhow::Result<Exit> {
    let mut input = io::stdin().lock();
    let (mut analyser, parser) = (Analyser::new(), Parser::with_style(args.style.style()));
    let mut number = 0_u64;
    while let Some(line) =
        next_line(&mut input).with_context(|| format!("cannot read line {}", number + 1))?
    {
        number += 1;
        if line.trim().is_empty() {
            continue;
        }
        let analysis = analyser.analyse(&line);
        let bunsetsu = parser.bunsetsu(&analysis);
        let synonyms = japanese::synonyms(&analysis);
        match args.format {
            Format::Json => output.object(&annotation(&analysis, &bunsetsu, &synonyms)),
            Format::Knp => {
                output.own_text(&japanese::knp(&number.to_string(), &analysis, &bunsetsu, &synonyms));
            }
        }
        if output.is_closed() {
            break;
        }
    }
    Ok(Exit::Done)
}

/// The next line without its end; none at the end of the input.
fn next_line(input: &mut impl BufRead) -> anyhow::Result<Option<String>> {
    let mut bytes = Vec::new();
    input.by_ref().take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() as u64 > LINE_BYTES_MAX {
        bail!("the line is longer than {LINE_BYTES_MAX} bytes; write one sentence per line");
    }
    let text = str::from_utf8(line).context("the line is not UTF-8; convert the input, as with `iconv`")?;
    Ok(Some(text.to_owned()))
}

fn annotation(analysis: &AnalysedText<'_>, bunsetsu: &[Bunsetsu], synonyms: &[Synonym]) -> Value {
    let parts: Vec<Value> = bunsetsu.iter().map(|part| phrase(analysis, part)).collect();
    let synonyms: Vec<Value> = synonyms.iter().map(|word| synonym(analysis, word)).collect();
    json!({ "text": analysis.text().original(), "bunsetsu": parts, "synonyms": synonyms })
}

fn phrase(analysis: &AnalysedText<'_>, part: &Bunsetsu) -> Value {
    let morphemes: Vec<Value> = part.morphemes.clone().map(|at| morpheme(&analysis.morpheme(at))).collect();
    json!({
        "text": text_of(analysis, part.morphemes.clone()),
        "head": part.head,
        "label": part.label.letter().to_string(),
        "morphemes": morphemes,
    })
}

fn morpheme(morpheme: &Morpheme<'_>) -> Value {
    let part = morpheme.part().fields();
    let part: Vec<&str> = part[..4].iter().copied().filter(|field| *field != "*").collect();
    json!({
        "surface": morpheme.surface(),
        "base": morpheme.base(),
        "reading": morpheme.reading(),
        "pos": part.join(","),
    })
}

fn synonym(analysis: &AnalysedText<'_>, word: &Synonym) -> Value {
    let mut groups: Vec<String> = word.groups.iter().map(|group| format!("{:06}", group.number)).collect();
    groups.dedup();
    json!({ "text": text_of(analysis, word.morphemes.clone()), "groups": groups })
}

/// What the original text says at these morphemes.
fn text_of<'a>(analysis: &'a AnalysedText<'_>, morphemes: std::ops::Range<usize>) -> &'a str {
    let start = analysis.morpheme(morphemes.start).span().start;
    let end = analysis.morpheme(morphemes.end - 1).span().end;
    &analysis.text().original()[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_annotation_names_words_by_their_original_spelling() {
        let analysis = Analyser::new().analyse("ｶﾒﾗを買った");
        let bunsetsu = Parser::load().bunsetsu(&analysis);
        let value = annotation(&analysis, &bunsetsu, &japanese::synonyms(&analysis));
        assert_eq!(value["text"], "ｶﾒﾗを買った");
        assert_eq!(value["bunsetsu"][0]["text"], "ｶﾒﾗを");
        assert_eq!(value["bunsetsu"][0]["head"], 1);
        let camera = json!({ "surface": "ｶﾒﾗ", "base": "カメラ", "reading": "カメラ", "pos": "名詞,一般" });
        assert_eq!(value["bunsetsu"][0]["morphemes"][0], camera);
    }

    #[test]
    fn lines_that_cannot_be_read_are_refused_with_advice() {
        let long = "あ".repeat(400_000);
        assert!(next_line(&mut long.as_bytes()).unwrap_err().to_string().contains("one sentence per line"));
        let error = next_line(&mut &b"\x82\xa0\n"[..]).unwrap_err();
        assert!(error.to_string().contains("iconv"), "{error}");
        assert_eq!(next_line(&mut &b"a\r\nb"[..]).unwrap().as_deref(), Some("a"));
        assert_eq!(next_line(&mut &b""[..]).unwrap(), None);
    }
}
