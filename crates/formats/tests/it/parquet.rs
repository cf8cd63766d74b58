//! Parquet: exact values, groups of bounded size, read by common programs.

use crate::files::{Files, day};
use crate::tools::{run, tool};
use ::parquet::file::reader::{FileReader as _, SerializedFileReader};
use ::parquet::record::Field;
use formats::Row;
use formats::parquet::{ROWS_MAX, Table};
use std::collections::BTreeMap;

fn written(rows: impl IntoIterator<Item = Row>) -> Vec<u8> {
    let mut table = Table::new(Vec::new(), "utsushi/0.1.0").unwrap();
    for row in rows {
        table.push(&row).unwrap();
    }
    table.finish().unwrap()
}

/// Rows with values that break spreadsheets and parsers.
fn nasty(files: &Files) -> Vec<Row> {
    let mut rows = files.rows.clone();
    let mut row = rows[0].clone();
    row.url = "http://[::1]:8080/=1+1?\"'\u{2028}日本".to_owned();
    (row.is_truncated, row.valid_to, row.place.offset) = (true, day(9), 1 << 40);
    (row.detected_type, row.language) = (Some("text/html".into()), Some("ja".into()));
    rows.push(row);
    let mut urn = rows[0].clone();
    urn.url = "urn:uuid:1".to_owned();
    rows.push(urn);
    rows
}

#[test]
fn every_value_is_read_back() {
    let files = Files::new();
    let rows = nasty(&files);
    let reader = SerializedFileReader::new(bytes::Bytes::from(written(rows.clone()))).unwrap();
    for (row, found) in rows.iter().zip(reader.get_row_iter(None).unwrap()) {
        let found = found.unwrap();
        let found: BTreeMap<&str, &Field> =
            found.get_column_iter().map(|(name, field)| (name.as_str(), field)).collect();
        let text = |name: &str| if let Field::Str(text) = found[name] { Some(text.clone()) } else { None };
        let time =
            |name: &str| if let Field::TimestampMicros(time) = found[name] { Some(*time) } else { None };
        assert_eq!(text("url"), Some(row.url.clone()));
        assert_eq!(text("url_surtkey"), Some(formats::cdxj::surt(&row.url)));
        assert_eq!(
            found["fetch_status"],
            &row.status.map_or(Field::Null, |status| Field::Int(status.into()))
        );
        assert_eq!(
            text("content_digest").map(|digest| format!("sha1:{digest}")),
            row.payload.map(|p| p.to_string())
        );
        assert_eq!(text("warc_filename").as_deref(), Some(&*row.place.file));
        assert_eq!(found["warc_record_offset"], &Field::Long(row.place.offset.try_into().unwrap()));
        assert_eq!(
            (time("fetch_time"), time("valid_from")),
            (Some(row.at.as_micros()), Some(row.at.as_micros()))
        );
        assert_eq!(time("valid_to"), row.is_truncated.then(|| day(9).as_micros()));
        assert_eq!(text("content_truncated"), row.is_truncated.then(|| "unspecified".to_owned()));
        assert_eq!(
            (text("flag").as_deref(), text("kind").as_deref()),
            (Some(row.flag), Some(row.kind.as_str()))
        );
        assert_eq!(text("content_languages").as_deref(), row.language.as_deref());
        assert_eq!(text("content_mime_detected").as_deref(), row.detected_type.as_deref());
    }
    assert_eq!(reader.metadata().file_metadata().num_rows(), i64::try_from(rows.len()).unwrap());
}

#[test]
fn groups_are_bounded_and_no_rows_are_a_table_too() {
    let files = Files::new();
    let groups = |rows: &mut dyn Iterator<Item = Row>| -> Vec<i64> {
        let reader = SerializedFileReader::new(bytes::Bytes::from(written(rows))).unwrap();
        reader
            .metadata()
            .row_groups()
            .iter()
            .map(::parquet::file::metadata::RowGroupMetaData::num_rows)
            .collect()
    };
    let rows = files.rows.iter().cycle().cloned();
    assert_eq!(groups(&mut rows.take(2 * ROWS_MAX + 1)), [100_000, 100_000, 1]);
    let mut long = files.rows[0].clone();
    long.url = format!("http://a.jp/{}", "x".repeat(100_000));
    let long = groups(&mut std::iter::repeat_n(long, 1_000));
    assert!(long.len() > 3 && long.iter().sum::<i64>() == 1_000, "{long:?}");
    assert!(groups(&mut std::iter::empty()).is_empty());
}

#[test]
fn duckdb_and_pyarrow_read_it() {
    let files = Files::new();
    let path = files.path().join("snapshot.parquet");
    std::fs::write(&path, written(nasty(&files))).unwrap();
    let Some(mut python) = tool("python", "DuckDB and pyarrow on a table") else { return };
    let script = r#"
import sys, duckdb, pyarrow.parquet as pq
path = sys.argv[1]
rows = duckdb.sql(f"""select url, url_host_name, url_host_registered_domain, url_protocol, url_port, url_path, url_query,
    epoch_us(fetch_time), fetch_status, warc_record_offset, valid_to is null, flag, kind
    from '{path}' where url_surtkey = '::1:8080)/=1+1?"''%e2%80%a8%e6%97%a5%e6%9c%ac'""").fetchall()
print(rows)
print(duckdb.sql(f"select kind, count(*) from '{path}' group by kind order by kind").fetchall())
schema = pq.read_schema(path)
print([str(schema.field(name).type) for name in ("url", "fetch_time", "fetch_status", "warc_record_offset", "flag")])
table = pq.read_table(path)
print(table.num_rows, table.column("url").null_count, table.column("valid_to").null_count)
"#;
    let said = run(python.args(["-c", script]).arg(&path));
    let lines: Vec<&str> = said.lines().collect();
    let micros = day(1).as_micros();
    assert_eq!(
        lines[0],
        format!(
            "[('http://[::1]:8080/=1+1?\"\\'\\u2028日本', '[::1]', None, 'http', 8080, '/=1+1', \
             '%22%27%E2%80%A8%E6%97%A5%E6%9C%AC', {micros}, 200, 1099511627776, False, 'changed', 'response')]"
        )
    );
    assert_eq!(lines[1], "[('metadata', 1), ('resource', 1), ('response', 5), ('revisit', 5)]");
    assert_eq!(lines[2], "['string', 'timestamp[us, tz=UTC]', 'int32', 'int64', 'string']");
    assert_eq!(lines[3], "12 0 11");
}
