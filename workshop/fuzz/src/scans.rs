//! What workers and programs of a scan say, and what a scan keeps.

use crate::{choice, joined, pieces, texts};
use base::Timestamp;
use scan::{AnalysisAnswer, AnalysisFailure, DocumentResult, FailureCause, ScanRow};

/// Reads messages between the dispatcher and a worker.
pub(crate) fn messages(data: &[u8]) {
    scan::fuzzing::read_messages(data);
}

/// Reads the answers of a program: the same whatever pieces they come in.
pub(crate) fn answers(data: &[u8]) {
    let (piece_bytes, said) = choice(data);
    let whole = scan::fuzzing::read_answers(said, usize::MAX);
    assert_eq!(scan::fuzzing::read_answers(said, piece_bytes), whole);
}

/// Reads the documents that a program is given.
pub(crate) fn documents(data: &[u8]) {
    let mut said = Vec::new();
    let _ = scan::protocol::serve(data, &mut said, |head, body| {
        assert!(body.len() <= data.len());
        head.get("url").map_or(0, |url| url.len()).to_string()
    });
}

/// Opens the journal and the list of documents of a scan.
pub(crate) fn journal(data: &[u8]) {
    for piece in pieces(data) {
        if let Some(row) = ScanRow::from_bytes(piece) {
            assert_eq!(ScanRow::from_bytes(&row.to_bytes()), Some(row));
        }
    }
    scan::fuzzing::open_frames(pieces(data));
}

pub(crate) fn messages_seeds() -> Vec<Vec<u8>> {
    let message = |content: &[u8]| {
        [&u32::try_from(content.len()).expect("it is short").to_le_bytes(), content].concat()
    };
    let number = 7_u64.to_le_bytes();
    let text = |text: &str| message(text.as_bytes());
    let died = [&[2, 1][..], &text("what"), &text("words"), &number, &number].concat();
    let front =
        [&[0x1f, 0, 0, 0, 0, 3, 0, 0, 0][..], &number, &number, &text("http://a.example/"), &text("")]
            .concat();
    let front = [&front[..], &text("HTTP/1.1 200\r\n\r\n"), &[9; 20], &[1, 2, 3, 4]].concat();
    vec![
        message(&[&[0][..], &number, b"\0{}"].concat()),
        message(&[&[1][..], &number, b"why"].concat()),
        message(&died),
        message(&[&[3][..], &number].concat()),
        message(b"\x04broken"),
        message(&[&message(&front)[..], b"abc"].concat()),
    ]
}

pub(crate) fn answers_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "\u{1}{\"a\":1}\n[2]\n",
        "\u{4}=5\nhello=3 1\nabc{\"document\":2}\n",
        "\u{2}null\n=0\n=x\n",
        "\u{7}\"é\"\n",
    ])
}

pub(crate) fn documents_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "{\"document\":1,\"url\":\"http://a.example/\",\"length\":2}\nhi{\"document\":2,\"length\":0}\n",
        "{\"document\":1,\"length\":18446744073709551615}\n",
    ])
}

pub(crate) fn journal_seeds() -> Vec<Vec<u8>> {
    let at = Timestamp::from_seconds(1_800_000_000).expect("that is a date");
    let fault = AnalysisFailure {
        cause: FailureCause::Crashed,
        what: "signal 11".to_owned(),
        words: "no".to_owned(),
    };
    let settled = [
        DocumentResult::Answered(AnalysisAnswer::Json("{}".to_owned())),
        DocumentResult::Answered(AnalysisAnswer::Bytes(vec![0xff])),
        DocumentResult::Quarantined(fault),
        DocumentResult::Removed,
    ];
    let rows = (0..).zip(settled).map(|(number, result)| {
        ScanRow { number, url: "http://a.example/".to_owned(), at, result }.to_bytes()
    });
    let mut list = crate::stores::version_seeds();
    list.push(b"end".to_vec());
    vec![joined(rows), joined(list), joined([b"gone", &b"end"[..]])]
}
