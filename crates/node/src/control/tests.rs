use super::*;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::path::Path;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;

/// A process that answers every question with itself.
fn parrot(directory: &Path) -> ControlServer {
    let answer = |request: ControlRequest, lines: ControlLines| async move {
        match request {
            ControlRequest::Pause {} => Err("it is tired".to_owned()),
            ControlRequest::Resume {} => std::future::pending().await,
            ControlRequest::Takedown { target, .. } => {
                for count in 0..100 {
                    lines.send(serde_json::json!({ "count": count })).await.unwrap();
                }
                Ok(vec![serde_json::json!({ "target": target })])
            }
            other => Ok(vec![serde_json::to_value(&other).unwrap(); 2]),
        }
    };
    ControlServer::serve(directory, answer).unwrap()
}

async fn say(directory: &Path, bytes: &[u8]) -> String {
    let mut stream = UnixStream::connect(directory.join(FILE_NAME)).await.unwrap();
    // The other side may have heard enough before the end.
    let _ = stream.write_all(bytes).await;
    let _ = stream.shutdown().await;
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer).await;
    answer
}

#[tokio::test]
async fn a_question_is_answered_and_the_socket_is_its_owners() {
    let place = tempfile::tempdir().unwrap();
    let control = parrot(place.path());
    let metadata = std::fs::metadata(place.path().join(FILE_NAME)).unwrap();
    assert!(metadata.file_type().is_socket());
    assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
    let request = ControlRequest::Explain { url: "http://a.example/\u{1b}".to_owned() };
    let answer = ask(place.path(), &request).await.unwrap();
    assert_eq!(answer, vec![serde_json::to_value(&request).unwrap(); 2]);
    let refused = ask(place.path(), &ControlRequest::Pause {}).await.unwrap_err();
    assert_eq!(refused.to_string(), "it is tired");
    drop(control);
    assert!(!place.path().join(FILE_NAME).exists());
    assert!(matches!(ask(place.path(), &request).await, Err(ControlError::Deaf(_))));
}

#[tokio::test]
async fn a_directory_may_lie_deeper_than_a_socket_can_be_named() {
    let place = tempfile::tempdir().unwrap();
    let deep = place.path().join("d".repeat(120)).join("e".repeat(120));
    std::fs::create_dir_all(&deep).unwrap();
    let _control = parrot(&deep);
    assert_eq!(ask(&deep, &ControlRequest::Status {}).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_socket_that_was_left_behind_is_replaced() {
    let place = tempfile::tempdir().unwrap();
    drop(UnixListener::bind(place.path().join(FILE_NAME)).unwrap());
    drop(UnixListener::bind(place.path().join("control.tmp")).unwrap());
    assert!(matches!(ask(place.path(), &ControlRequest::Status {}).await, Err(ControlError::Deaf(_))));
    let _control = parrot(place.path());
    assert!(ask(place.path(), &ControlRequest::Status {}).await.is_ok());
}

#[tokio::test]
async fn nonsense_is_told_so() {
    let place = tempfile::tempdir().unwrap();
    let _control = parrot(place.path());
    for question in ["{}\n", "explain\n", "{\"do\":\"dance\"}\n", "{\"do\":\"explain\"}\n", "\u{0}\n"] {
        let answer = say(place.path(), question.as_bytes()).await;
        assert!(
            answer.starts_with("{\"end\":\"could not\",\"why\":\"the request is not valid: "),
            "{answer}"
        );
    }
    let long = [b"{\"do\":\"explain\",\"url\":\"".as_slice(), &vec![b'x'; 1 << 20]].concat();
    let answer = say(place.path(), &long).await;
    assert!(answer.is_empty() || answer.contains("longer than 1048576 bytes"), "{answer}");
    assert_eq!(say(place.path(), b"{\"do\":\"status\"}").await, "", "the line has no end");
    assert_eq!(say(place.path(), b"{\"do\":\"status\"}\n").await.lines().count(), 3);
}

#[tokio::test]
async fn so_many_clients_and_no_more() {
    let place = tempfile::tempdir().unwrap();
    let _control = parrot(place.path());
    let mut clients = Vec::new();
    for _ in 0..CLIENTS_MAX {
        let mut client = UnixStream::connect(place.path().join(FILE_NAME)).await.unwrap();
        client.write_all(b"{\"do\":\"resume\"}\n").await.unwrap();
        clients.push(client);
    }
    let answer = say(place.path(), b"").await;
    assert!(answer.contains("16 clients are connected"), "{answer}");
    drop(clients.pop());
}

#[tokio::test]
async fn a_long_answer_comes_line_by_line() {
    let place = tempfile::tempdir().unwrap();
    let _control = parrot(place.path());
    let request = ControlRequest::Takedown { target: "url http://a.example/".into(), reason: String::new() };
    let mut heard = Vec::new();
    ask_long(place.path(), &request, &mut |object| heard.push(object)).await.unwrap();
    assert_eq!(heard.len(), 101);
    assert_eq!(heard[99]["count"], 99);
    assert_eq!(heard[100]["target"], "url http://a.example/");
}

#[tokio::test]
async fn an_older_version_is_told_from_a_refusal() {
    let place = tempfile::tempdir().unwrap();
    let listener = tokio::net::UnixListener::bind(place.path().join(FILE_NAME)).unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut question = [0; 16];
        stream.read_exact(&mut question).await.unwrap();
        let why = "the request is not valid: unknown variant `import`, expected one of `add`";
        let end = serde_json::json!({ "end": "could not", "why": why });
        stream.write_all(format!("{end}\n").as_bytes()).await.unwrap();
    });
    let request = ControlRequest::Import { files: vec!["/a.warc.gz".into()] };
    let refused = ask_long(place.path(), &request, &mut |_| {}).await.unwrap_err();
    assert!(matches!(refused, ControlError::Unsupported), "{refused}");
}
