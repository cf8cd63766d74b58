//! Results of scans: every value is read back from every format, and none leaves its cell.

use crate::tools::{run, tool};
use ::parquet::file::reader::{FileReader as _, SerializedFileReader};
use ::parquet::record::Field;
use base::{Chance, Timestamp};
use formats::parquet::ROWS_MAX;
use formats::results::{Form, ResultRow, ResultValue, ResultWriter};
use std::io::Write as _;
use std::path::PathBuf;

fn at() -> Timestamp {
    "2026-03-31T09:00:00.000007Z".parse().unwrap()
}

fn written<'a>(form: Form, rows: impl IntoIterator<Item = ResultRow<'a>>) -> Vec<u8> {
    let mut writer = ResultWriter::new(form, Vec::new(), "utsushi/0.1.0").unwrap();
    rows.into_iter().for_each(|row| writer.push(&row).unwrap());
    writer.finish().unwrap()
}

/// Texts that break programs, from the public list too, if it is there.
fn strings() -> Vec<String> {
    let mut strings: Vec<String> = [
        "",
        " ",
        "\n",
        "\r\n",
        "\r",
        "\0",
        "\u{7f}",
        "\u{85}\u{2028}\u{2029}",
        "\"",
        "\"\"",
        ",",
        "a,\"b\"\r\nc",
        "\t",
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "a;=1+1",
        "a\t=1+1",
        "\0=1",
        "'=1",
        "＝1",
        "=cmd|' /C calc'!A0",
        "日本𠮷",
        "\\u0041",
        "\u{feff}x",
        "null",
    ]
    .map(str::to_owned)
    .to_vec();
    match std::env::var_os("UTSUSHI_SHARED").map(PathBuf::from) {
        Some(shared) => {
            let list = std::fs::read(shared.join("data/suites/blns.json")).unwrap();
            strings.extend(serde_json::from_slice::<Vec<String>>(&list).unwrap());
        }
        // Not by `eprintln!`, whose output is shown only for failed tests.
        None => std::io::stderr()
            .write_all(
                b"NOT TESTED: results on the list of naughty strings, because `UTSUSHI_SHARED` is not set\n",
            )
            .unwrap(),
    }
    strings
}

/// What a row says: its number, URL, kind and result.
type Said = (u64, String, String, String);

/// What the rows of a file say.
fn read(form: Form, bytes: &[u8]) -> Vec<Said> {
    match form {
        Form::Jsonl => read_lines(bytes),
        Form::Csv => read_csv(bytes),
        Form::Parquet => read_table(bytes),
    }
}

/// A text as a form gives it back.
fn given_back(form: Form, text: &str) -> String {
    let is_marked = form == Form::Csv
        && text.starts_with(['=', '+', '-', '@', '\0', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    format!("{}{text}", if is_marked { "'" } else { "" })
}

/// Writes every text as a URL, and as an answer in every way, and reads it back.
fn check(form: Form) {
    let strings = strings();
    let quoted: Vec<String> = strings.iter().map(|text| serde_json::json!([text]).to_string()).collect();
    let broken: Vec<Vec<u8>> = strings.iter().map(|text| [text.as_bytes(), b"\xff"].concat()).collect();
    let (mut rows, mut said) = (Vec::new(), Vec::new());
    for (place, text) in strings.iter().enumerate() {
        let answers = [
            (ResultValue::Text(text), "text", text.clone()),
            (ResultValue::Bytes(text.as_bytes()), "text", text.clone()),
            (ResultValue::Json(&quoted[place]), "json", quoted[place].clone()),
            (ResultValue::Bytes(&broken[place]), "base64", base64(&broken[place])),
        ];
        for (result, kind, shown) in answers {
            let document = rows.len() as u64;
            rows.push(ResultRow { document, url: text, at: at(), result });
            said.push((document, given_back(form, text), kind.to_owned(), given_back(form, &shown)));
        }
    }
    let found = read(form, &written(form, rows));
    assert_eq!(found.len(), said.len());
    for (found, said) in found.iter().zip(&said) {
        assert_eq!(found, said);
    }
}

/// Base 64 by another way: bit by bit.
fn base64(bytes: &[u8]) -> String {
    let bits: Vec<u8> = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).collect();
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let value =
        |six: &[u8]| (0..6).fold(0, |value, bit| value << 1 | usize::from(*six.get(bit).unwrap_or(&0)));
    let mut text: String = bits.chunks(6).map(|six| char::from(letters[value(six)])).collect();
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

#[test]
fn json_lines_give_every_value_back_and_none_ends_a_line() {
    check(Form::Jsonl);
}

fn read_lines(bytes: &[u8]) -> Vec<Said> {
    let text = std::str::from_utf8(bytes).unwrap();
    let breaks = |sign: char| sign.is_control() || matches!(sign, '\u{2028}' | '\u{2029}');
    assert!(text.split_terminator('\n').all(|line| !line.contains(breaks)));
    let row = |line: &str| -> Said {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["at"], "2026-03-31T09:00:00.000007Z");
        let (document, url) =
            (value["document"].as_u64().unwrap(), value["url"].as_str().unwrap().to_owned());
        match (&value["result"], &value["base64"]) {
            (serde_json::Value::String(text), _) => (document, url, "text".to_owned(), text.clone()),
            (serde_json::Value::Null, code) => {
                (document, url, "base64".to_owned(), code.as_str().unwrap().to_owned())
            }
            (json, _) => (document, url, "json".to_owned(), json.to_string()),
        }
    };
    text.split_terminator('\n').map(row).collect()
}

#[test]
fn json_with_line_feeds_stays_on_its_line() {
    let row = ResultRow {
        document: 1,
        url: "u",
        at: at(),
        result: ResultValue::Json("{\"a\":\r\n [1,\t\"\u{2028}\u{7f}\"]}"),
    };
    let bytes = written(Form::Jsonl, [row]);
    assert_eq!(bytes.iter().filter(|byte| byte.is_ascii_control()).count(), 1);
    let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(value["result"], serde_json::json!({"a": [1, "\u{2028}\u{7f}"]}));
}

#[test]
fn csv_gives_every_value_back_and_has_no_formula() {
    check(Form::Csv);
}

fn read_csv(bytes: &[u8]) -> Vec<Said> {
    let records = records(std::str::from_utf8(bytes).unwrap());
    assert_eq!(records[0], ["document", "url", "at", "kind", "result"]);
    let row = |cells: &Vec<String>| -> Said {
        assert!(
            cells.iter().all(|cell| !cell.starts_with(['=', '+', '-', '@', '\0', '\t', '\r', '＝'])),
            "{cells:?}"
        );
        let [document, url, at, kind, result] = &cells[..] else { panic!("{cells:?}") };
        assert_eq!(at, "2026-03-31T09:00:00.000007Z");
        (document.parse().unwrap(), url.clone(), kind.clone(), result.clone())
    };
    records[1..].iter().map(row).collect()
}

#[test]
fn numbers_in_csv_stay_numbers() {
    let cell = |result| {
        let bytes = written(Form::Csv, [ResultRow { document: 1, url: "u", at: at(), result }]);
        records(std::str::from_utf8(&bytes).unwrap())[1][4].clone()
    };
    assert_eq!(cell(ResultValue::Json("-1.5e-3")), "-1.5e-3");
    assert_eq!(cell(ResultValue::Json("-1+1")), "'-1+1", "an analysis may return invalid JSON");
    assert_eq!(cell(ResultValue::Text("-1")), "'-1");
}

#[test]
fn a_json_string_in_csv_is_its_text() {
    #[track_caller]
    fn check(json: &str, kind: &str, cell: &str) {
        let row = ResultRow { document: 1, url: "u", at: at(), result: ResultValue::Json(json) };
        let found = records(std::str::from_utf8(&written(Form::Csv, [row])).unwrap())[1].clone();
        assert_eq!((found[3].as_str(), found[4].as_str()), (kind, cell), "{json}");
    }
    check(r#""写し, \"a copy\"""#, "text", "写し, \"a copy\"");
    check(r#" "\u5199\n" "#, "json", r#" "\u5199\n" "#);
    check(r#""=1+1""#, "text", "'=1+1");
    check(r#""-1""#, "text", "'-1");
    check(r#"["a"]"#, "json", r#"["a"]"#);
    check("null", "json", "null");
    check("\"no end", "json", "\"no end");
}

/// Reads CSV as RFC 4180 says, and no other way. What others split at stands in quotes.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        let mut cells = Vec::new();
        loop {
            let cell;
            (cell, rest) = match rest.strip_prefix('"') {
                Some(quoted) => unquoted(quoted),
                None => {
                    let end = rest.find([',', '\r', '\n', '"', ';', '\t']).unwrap();
                    (rest[..end].to_owned(), &rest[end..])
                }
            };
            cells.push(cell);
            match rest.strip_prefix(',') {
                Some(next) => rest = next,
                None => break,
            }
        }
        rest = rest.strip_prefix("\r\n").expect("a record ends in CR LF");
        records.push(cells);
    }
    records
}

fn unquoted(text: &str) -> (String, &str) {
    let (mut cell, mut rest) = (String::new(), text);
    loop {
        let (before, behind) = rest.split_once('"').unwrap();
        cell.push_str(before);
        match behind.strip_prefix('"') {
            Some(next) => (cell, rest) = (format!("{cell}\""), next),
            None => return (cell, behind),
        }
    }
}

#[test]
fn parquet_gives_every_value_back() {
    check(Form::Parquet);
}

fn read_table(bytes: &[u8]) -> Vec<Said> {
    let reader = SerializedFileReader::new(bytes::Bytes::copy_from_slice(bytes)).unwrap();
    let file = reader.metadata().file_metadata();
    assert_eq!(file.created_by(), Some("utsushi/0.1.0"));
    let row = |row: ::parquet::record::Row| -> Said {
        let fields: Vec<(&str, &Field)> =
            row.get_column_iter().map(|(name, field)| (name.as_str(), field)).collect();
        let [
            ("document", Field::Long(document)),
            ("url", Field::Str(url)),
            ("fetch_time", Field::TimestampMicros(time)),
            ("kind", Field::Str(kind)),
            ("result", Field::Str(result)),
        ] = fields[..]
        else {
            panic!("{fields:?}")
        };
        assert_eq!(*time, at().as_micros());
        (u64::try_from(*document).unwrap(), url.clone(), kind.clone(), result.clone())
    };
    reader.get_row_iter(None).unwrap().map(|found| row(found.unwrap())).collect()
}

#[test]
fn groups_are_bounded_in_rows_and_bytes() {
    let groups = |count: usize, result: &str| -> Vec<i64> {
        let row = |document| ResultRow { document, url: "u", at: at(), result: ResultValue::Text(result) };
        let bytes = written(Form::Parquet, (0..count as u64).map(row));
        let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).unwrap();
        reader
            .metadata()
            .row_groups()
            .iter()
            .map(::parquet::file::metadata::RowGroupMetaData::num_rows)
            .collect()
    };
    assert_eq!(groups(ROWS_MAX + 1, "x"), [100_000, 1]);
    let long = groups(200, &"漢字".repeat(100_000));
    assert!(long.len() > 1 && long.iter().sum::<i64>() == 200, "{long:?}");
    assert!(groups(0, "").is_empty());
}

#[test]
fn any_bytes_come_back_from_every_form() {
    let mut chance = Chance::new(9);
    // Short ones are often UTF-8, long ones never.
    let mut answer = || -> Vec<u8> { (0..chance.index(50)).map(|_| (chance.bits() >> 56) as u8).collect() };
    let answers: Vec<Vec<u8>> = (0..300).map(|_| answer()).collect();
    for form in Form::ALL {
        let row = |bytes| ResultRow {
            document: i64::MAX as u64,
            url: "u",
            at: at(),
            result: ResultValue::Bytes(bytes),
        };
        let said = |bytes: &Vec<u8>| -> Said {
            let (kind, shown) = match std::str::from_utf8(bytes) {
                Ok(text) => ("text", text.to_owned()),
                Err(_) => ("base64", base64(bytes)),
            };
            (i64::MAX as u64, "u".to_owned(), kind.to_owned(), given_back(form, &shown))
        };
        let found = read(form, &written(form, answers.iter().map(|bytes| row(bytes))));
        assert_eq!(found, answers.iter().map(said).collect::<Vec<Said>>(), "{form}");
        assert!(["text", "base64"].iter().all(|kind| found.iter().any(|said| said.2 == *kind)), "{form}");
    }
}

#[test]
fn python_and_duckdb_read_what_is_written() {
    let Some(mut python) = tool("python", "DuckDB and Python on results") else { return };
    let directory = tempfile::tempdir().unwrap();
    let texts = ["plain", "a,\"b\"\r\nc", "日本"];
    for form in Form::ALL {
        let row =
            |(n, text)| ResultRow { document: n as u64, url: "u", at: at(), result: ResultValue::Text(text) };
        let path = directory.path().join(format!("results.{form}"));
        std::fs::write(path, written(form, texts.into_iter().enumerate().map(row))).unwrap();
    }
    let script = r#"
import sys, csv, json, duckdb
base = sys.argv[1]
print([json.loads(line)["result"] for line in open(base + "/results.jsonl", encoding="utf-8")])
print([row["result"] for row in csv.DictReader(open(base + "/results.csv", encoding="utf-8", newline=""))])
print([row[0] for row in duckdb.sql(f"select result from '{base}/results.parquet' order by document").fetchall()])
"#;
    let said = run(python.args(["-c", script]).arg(directory.path()));
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 3, "{said}");
    assert!(lines.iter().all(|line| *line == r#"['plain', 'a,"b"\r\nc', '日本']"#), "{said}");
}
