//! MeCab with the same dictionary and the same normalised text finds the same words.

use std::collections::HashSet;
use std::fs;
use std::process::Command;

use japanese::{Analyser, Normalised};

use crate::shared;

/// Where Debian's package `mecab-ipadic-utf8` puts the compiled dictionary.
const DICTIONARY: &str = "/var/lib/mecab/dic/ipadic-utf8";

/// Start, end and connection id of every word, by text.
type Words = Vec<Vec<(usize, usize, u16)>>;

#[test]
fn words_of_edited_text_are_mecabs() {
    let Some(sentences) = shared::sentences() else { return };
    compare(&sentences);
}

#[test]
fn words_of_odd_text_are_mecabs() {
    let odd = [
        " 前の空白",
        "後の空白 ",
        "間  の\t空白",
        "(笑)",
        "ｗｗｗ",
        "!!!???",
        "http://example.org/a?b=c&d=%E3%81%82",
        "あああああああああああああああああああああああああああああああああああああああああああああ",
        "アアアアアアアアアアアアアアアアアアアアアアアアアアアアアアアアアアアアアアアアアアアア",
        "1234567890123456789012345678901234567890",
        "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
        "一二三四五六七八九十百千万億兆京",
        "𠮷野家で𩸽を食べた",
        "😀😀絵文字😀",
        "ヴァイオリンとカメラ",
        "①②③㍿㌔",
        "Ðð Łódź Ελλάδα Москва",
        "한국어 단어",
        "ﾊﾝｶｸｶﾞｷﾞ",
        "が\u{3099}か\u{3099}",
        "々〆〇ヶ",
        "- - -",
        "。。。。",
        "\u{200b}零幅\u{feff}",
    ];
    compare(&odd.map(str::to_owned));
}

/// Fails if fewer than 99.99 % of the words are the same, in either direction.
fn compare(texts: &[String]) {
    let texts: Vec<Normalised<'_>> = texts.iter().map(|text| Normalised::new(text)).collect();
    let Some(theirs) = mecab(&texts) else {
        eprintln!("NOT TESTED: install Debian's packages `mecab` and `mecab-ipadic-utf8`");
        return;
    };
    let ours = ours(&texts);
    assert_eq!(ours.len(), theirs.len());
    let (mut same, mut own, mut other) = (0, 0, 0);
    for ((text, ours), theirs) in texts.iter().zip(&ours).zip(&theirs) {
        let known: HashSet<_> = theirs.iter().collect();
        let common = ours.iter().filter(|word| known.contains(word)).count();
        if common != theirs.len() || ours.len() != theirs.len() {
            eprintln!("differs: {}\n  ours   {ours:?}\n  theirs {theirs:?}", text.text());
        }
        (same, own, other) = (same + common, own + ours.len(), other + theirs.len());
    }
    eprintln!("{same} words are the same, of {own} ours and {other} MeCab's");
    assert!(same * 10_000 >= own.max(other) * 9_999, "{same} of {own} and {other}");
}

fn ours(texts: &[Normalised<'_>]) -> Words {
    let mut analyser = Analyser::new();
    let each = texts.iter().map(|text| {
        let analysis = analyser.analyse_normalised(text.clone());
        let words = analysis
            .morphemes()
            .map(|word| (word.normal_span().start, word.normal_span().end, word.raw_part().connection_id()));
        words.collect()
    });
    each.collect()
}

/// What MeCab finds; none if it is not installed.
fn mecab(texts: &[Normalised<'_>]) -> Option<Words> {
    if !fs::exists(DICTIONARY).unwrap() {
        return None;
    }
    let input: String = texts.iter().flat_map(|text| [text.text(), "\n"]).collect();
    let file = std::env::temp_dir().join(format!("utsushi-mecab-{}-{}", std::process::id(), texts.len()));
    fs::write(&file, input).unwrap();
    let format = "%ps %pe %phl\\n";
    let output = Command::new("mecab")
        .args(["-b", "1000000", "-d", DICTIONARY, "-F", format, "-U", format])
        .arg(&file)
        .output();
    fs::remove_file(&file).unwrap();
    let output = String::from_utf8(output.ok()?.stdout).unwrap();
    Some(output.split_terminator("EOS\n").map(|sentence| sentence.lines().map(word).collect()).collect())
}

fn word(line: &str) -> (usize, usize, u16) {
    let numbers: Vec<usize> = line.split(' ').map(|number| number.parse().unwrap()).collect();
    (numbers[0], numbers[1], u16::try_from(numbers[2]).unwrap())
}
