//! The dictionary as its authors publish it: CSV and definition files in EUC-JP.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

/// How many fields a line of the CSV has.
const FIELDS: usize = 13;

/// All of the dictionary.
pub(super) struct Source {
    /// Sorted by surface; entries of one surface in the order of the files.
    pub(super) entries: Vec<Entry>,
    /// `char.def`: classes of characters.
    pub(super) characters: String,
    /// `unk.def`: entries for words that the dictionary lacks.
    pub(super) unknown: String,
    /// Connection costs by right id of the left word × number of ids + left id of the right word.
    pub(super) matrix: Vec<i16>,
    /// How many connection ids there are.
    pub(super) ids: usize,
}

/// One word.
pub(super) struct Entry {
    pub(super) surface: String,
    pub(super) id: u16,
    pub(super) cost: i16,
    pub(super) part: String,
    pub(super) base: String,
    pub(super) reading: String,
    pub(super) pronunciation: String,
}

/// Reads the directory.
pub(super) fn read(directory: &Path) -> Result<Source> {
    let mut entries = Vec::new();
    for path in csv_files(directory)? {
        for (at, line) in text(&path)?.lines().enumerate() {
            entries.push(entry(line).with_context(|| format!("`{}`, line {}", path.display(), at + 1))?);
        }
    }
    entries.sort_by(|a: &Entry, b| a.surface.as_bytes().cmp(b.surface.as_bytes()));
    let (ids, matrix) = matrix(&text(&directory.join("matrix.def"))?)?;
    let (characters, unknown) = (text(&directory.join("char.def"))?, text(&directory.join("unk.def"))?);
    Ok(Source { entries, characters, unknown, matrix, ids })
}

fn csv_files(directory: &Path) -> Result<Vec<PathBuf>> {
    let read = fs::read_dir(directory).with_context(|| format!("cannot read `{}`", directory.display()))?;
    let mut paths = read.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|end| end == "csv"));
    paths.sort();
    ensure!(!paths.is_empty(), "`{}` has no `.csv` file", directory.display());
    Ok(paths)
}

fn text(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    let (text, _, damaged) = encoding_rs::EUC_JP.decode(&bytes);
    ensure!(!damaged, "`{}` is not EUC-JP", path.display());
    Ok(text.chars().map(as_debian_decodes).collect())
}

/// The decoder of web browsers maps some symbols of JIS X 0208 to other characters than the one that MeCab was built with.
fn as_debian_decodes(c: char) -> char {
    match c {
        '\u{FF5E}' => '\u{301C}',
        '\u{2225}' => '\u{2016}',
        '\u{FF0D}' => '\u{2212}',
        '\u{FFE0}' => '\u{A2}',
        '\u{FFE1}' => '\u{A3}',
        '\u{FFE2}' => '\u{AC}',
        _ => c,
    }
}

fn entry(line: &str) -> Result<Entry> {
    let fields: Vec<&str> = line.split(',').collect();
    let [surface, left, right, cost, rest @ ..] = fields.as_slice() else { bail!("too few fields") };
    ensure!(fields.len() == FIELDS, "{} fields, not {FIELDS}", fields.len());
    ensure!(left == right, "the connection ids differ: {left} and {right}");
    let [base, reading, pronunciation] = [6, 7, 8].map(|at| rest[at].to_owned());
    Ok(Entry {
        surface: (*surface).to_owned(),
        id: left.parse()?,
        cost: cost.parse()?,
        part: rest[..6].join(","),
        base,
        reading,
        pronunciation,
    })
}

fn matrix(text: &str) -> Result<(usize, Vec<i16>)> {
    let mut lines = text.lines();
    let (right, left) =
        lines.next().and_then(|line| line.split_once(' ')).context("`matrix.def` is empty")?;
    let (right, left) = (right.parse::<usize>()?, left.parse::<usize>()?);
    ensure!(right == left, "`matrix.def` is not square");
    let mut costs = vec![0; right * left];
    for line in lines {
        let mut fields = line.split(' ');
        let mut next = || fields.next().with_context(|| format!("`matrix.def`: short line `{line}`"));
        let (from, to, cost) = (next()?.parse::<usize>()?, next()?.parse::<usize>()?, next()?.parse()?);
        ensure!(from < right && to < left, "`matrix.def`: ids out of range in `{line}`");
        costs[from * left + to] = cost;
    }
    Ok((left, costs))
}
