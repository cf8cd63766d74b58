//! Words, annotation and KNP's format: against MeCab and `rhoknp`.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use japanese::{Analyser, Normalised, Parser};
use workload::usage::Usage;

use super::{Bound, Row};

/// Where Debian's package `mecab-ipadic-utf8` puts the compiled dictionary.
const DICTIONARY: &str = "/var/lib/mecab/dic/ipadic-utf8";
/// How many sentences `rhoknp` reads.
const KNP_SENTENCES: usize = 10_000;
/// Reads KNP's format and prints the heads.
const SCRIPT: &str = "\
import sys
from rhoknp import Document
for block in sys.stdin.read().split('EOS\\n'):
    if block:
        (sentence,) = Document.from_knp(block + 'EOS\\n').sentences
        print(' '.join(str(phrase.parent_index) + phrase.dep_type.value for phrase in sentence.phrases))
";

/// Start, end and connection id of a word.
type Word = (usize, usize, u16);

/// All rows.
pub(super) fn rows(shared: &Path) -> Result<Vec<Row>> {
    let mut rows = vec![load()?];
    let sentences = sentences(shared)?;
    let texts: Vec<Normalised<'_>> = sentences.iter().map(|sentence| Normalised::new(sentence)).collect();
    let begin = Usage::now()?;
    let ours = words(&texts);
    let seconds = Usage::now()?.since(begin).cpu_seconds;
    let speed = count(texts.len()) / seconds;
    rows.push(row("words: one core", speed, "sentences/s", Bound::None));
    match mecab(&texts)? {
        None => eprintln!("NOT COMPARED: install Debian's packages `mecab` and `mecab-ipadic-utf8`"),
        Some(theirs) => {
            rows.push(row("words: equal to MeCab's", equal(&ours, &theirs), "%", Bound::AtLeast(99.9)));
        }
    }
    rows.push(annotation(&sentences)?);
    rows.extend(knp(&sentences)?);
    let megabytes = count(japanese::TABLE_BYTES) / 1e6;
    rows.push(row("words: dictionary and synonyms in the program", megabytes, "MB", Bound::AtMost(25.0)));
    Ok(rows)
}

fn row(name: &str, value: f64, unit: &'static str, bound: Bound) -> Row {
    Row { name: name.to_owned(), value, unit, bound }
}

/// CPU time of the first analysis of this process: there is no other loading.
fn load() -> Result<Row> {
    let begin = Usage::now()?;
    let words = Analyser::new().analyse("辞書を開く。").len();
    let seconds = Usage::now()?.since(begin).cpu_seconds;
    ensure!(words > 0, "nothing was found");
    Ok(row("words: dictionary load and first sentence", seconds * 1e3, "ms", Bound::AtMost(10.0)))
}

fn sentences(shared: &Path) -> Result<Vec<String>> {
    let path = shared.join("data/nlp/sentences.jsonl.gz");
    let file = File::open(&path).with_context(|| format!("cannot open `{}`", path.display()))?;
    let mut lines = String::new();
    flate2::read::MultiGzDecoder::new(file).read_to_string(&mut lines)?;
    let mut sentences = Vec::new();
    for line in lines.lines() {
        let document: serde_json::Value = serde_json::from_str(line)?;
        let texts = document["sentences"].as_array().into_iter().flatten();
        sentences.extend(texts.filter_map(|text| text.as_str()).map(str::to_owned));
    }
    Ok(sentences)
}

fn words(texts: &[Normalised<'_>]) -> Vec<Vec<Word>> {
    let mut analyser = Analyser::new();
    let each = texts.iter().map(|text| {
        let analysis = analyser.analyse_normalised(text.clone());
        let words = analysis.morphemes().map(|word| {
            let span = word.normal_span();
            (span.start, span.end, word.raw_part().connection_id())
        });
        words.collect()
    });
    each.collect()
}

/// What MeCab finds; none if it is not installed.
fn mecab(texts: &[Normalised<'_>]) -> Result<Option<Vec<Vec<Word>>>> {
    if !fs::exists(DICTIONARY)? {
        return Ok(None);
    }
    let file = std::env::temp_dir().join(format!("utsushi-mecab-{}", std::process::id()));
    fs::write(&file, texts.iter().flat_map(|text| [text.text(), "\n"]).collect::<String>())?;
    let format = "%ps %pe %phl\\n";
    let output = Command::new("mecab")
        .args(["-b", "1000000", "-d", DICTIONARY, "-F", format, "-U", format])
        .arg(&file)
        .output()
        .context("cannot run `mecab`");
    fs::remove_file(&file)?;
    let output = String::from_utf8(output?.stdout)?;
    let sentences = output.split_terminator("EOS\n").map(|sentence| sentence.lines().map(word).collect());
    Ok(Some(sentences.collect::<Result<_>>()?))
}

fn word(line: &str) -> Result<Word> {
    let mut fields = line.split(' ');
    let mut next = || fields.next().context("MeCab printed a strange line");
    Ok((next()?.parse()?, next()?.parse()?, next()?.parse()?))
}

/// The words that are the same, in percent of the more numerous.
fn equal(ours: &[Vec<Word>], theirs: &[Vec<Word>]) -> f64 {
    let same = ours.iter().zip(theirs).map(|(ours, theirs)| {
        let known: HashSet<&Word> = theirs.iter().collect();
        ours.iter().filter(|word| known.contains(word)).count()
    });
    let total = |all: &[Vec<Word>]| all.iter().map(Vec::len).sum::<usize>();
    100.0 * count(same.sum()) / count(total(ours).max(total(theirs)))
}

/// Words, bunsetsu, dependencies, synonyms and KNP's format.
fn annotation(sentences: &[String]) -> Result<Row> {
    let (mut analyser, parser) = (Analyser::new(), Parser::load());
    let begin = Usage::now()?;
    let mut bytes = 0;
    for sentence in sentences {
        let analysis = analyser.analyse(sentence);
        let bunsetsu = parser.bunsetsu(&analysis);
        bytes += japanese::knp("1", &analysis, &bunsetsu, &japanese::synonyms(&analysis)).len();
    }
    let seconds = Usage::now()?.since(begin).cpu_seconds;
    ensure!(bytes > 0, "nothing was annotated");
    Ok(row(
        "annotation: whole, in KNP's format, one core",
        count(sentences.len()) / seconds,
        "sentences/s",
        Bound::None,
    ))
}

/// The sentences that `rhoknp` reads with the same heads.
fn knp(sentences: &[String]) -> Result<Option<Row>> {
    let python = std::env::var("UTSUSHI_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_package = Command::new(&python).args(["-c", "import rhoknp"]).output();
    if !has_package.is_ok_and(|output| output.status.success()) {
        eprintln!(
            "NOT COMPARED: install the Python package `rhoknp`, and name its `python3` in UTSUSHI_PYTHON"
        );
        return Ok(None);
    }
    let (mut analyser, parser) = (Analyser::new(), Parser::load());
    let (mut input, mut expected) = (String::new(), Vec::new());
    for sentence in sentences.iter().cycle().take(KNP_SENTENCES) {
        let analysis = analyser.analyse(sentence);
        let bunsetsu = parser.bunsetsu(&analysis);
        let id = expected.len().to_string();
        input += &japanese::knp(&id, &analysis, &bunsetsu, &japanese::synonyms(&analysis));
        let heads = bunsetsu.iter().map(|part| {
            let head = part.head.map_or("-1".to_owned(), |head| head.to_string());
            format!("{head}{}", part.label.letter())
        });
        expected.push(heads.collect::<Vec<_>>().join(" "));
    }
    let found = read(&python, &input)?;
    let same = found.lines().zip(&expected).filter(|(found, expected)| found == expected).count();
    let percent = 100.0 * count(same) / count(expected.len());
    Ok(Some(row("annotation: read by rhoknp with the same heads", percent, "%", Bound::AtLeast(100.0))))
}

fn read(python: &str, input: &str) -> Result<String> {
    let mut child = Command::new(python)
        .args(["-X", "utf8", "-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot run Python")?;
    child.stdin.take().context("Python has no input")?.write_all(input.as_bytes())?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "`rhoknp` refuses an annotation");
    Ok(String::from_utf8(output.stdout)?)
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn count(number: usize) -> f64 {
    number as f64
}
