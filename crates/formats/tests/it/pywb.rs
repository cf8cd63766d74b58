//! pywb loads what is written and serves it over loopback: the very bytes that were stored.

use crate::files::{
    CHUNKED, CHUNKED_BODY, CHUNKED_COPY, COPY, Files, LOGO, LOGO_BODY, PACKED, PACKED_BODY, PAGE, PAGE_BODY,
    gzip,
};
use crate::tools::{run, tool};
use formats::{Row, cdxj};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

/// The longest that anything is waited for: pywb takes seconds to load, more on a busy machine.
const WAIT_MAX: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(100);

/// A running pywb.
struct Pywb {
    process: Child,
    port: u16,
    said: Receiver<String>,
}

impl Pywb {
    /// Serves the collections in `directory`.
    fn start(mut program: Command, directory: &Path) -> Self {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let arguments = ["--bind", "127.0.0.1", "--port", &port.to_string(), "--directory"];
        program.args(arguments).arg(directory).current_dir(directory);
        let mut process = program.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let errors = BufReader::new(process.stderr.take().unwrap());
        let (sender, said) = mpsc::channel();
        std::thread::spawn(move || {
            errors.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let mut server = Self { process, port, said };
        server.wait_until_ready();
        server
    }

    fn wait_until_ready(&mut self) {
        let mut said = String::new();
        for _ in 0..WAIT_MAX.as_millis() / PAUSE.as_millis() {
            if TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok() {
                return;
            }
            assert!(self.process.try_wait().unwrap().is_none(), "pywb ended: {said}");
            if let Ok(line) = self.said.recv_timeout(PAUSE) {
                said.extend([&line, "\n"]);
            }
        }
        panic!("pywb does not listen: {said}");
    }

    /// The status, head and body of what is archived under `url` at `stamp`.
    fn get(&self, stamp: &str, url: &str) -> (u16, String, Vec<u8>) {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.set_read_timeout(Some(WAIT_MAX)).unwrap();
        write!(
            stream,
            "GET /snapshot/{stamp}id_/{url} HTTP/1.0\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n"
        )
        .unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
        let head = String::from_utf8_lossy(&answer[..end]).into_owned();
        (base::http::status(&answer).unwrap(), head, answer[end + 4..].to_vec())
    }

    #[track_caller]
    fn check(&self, stamp: &str, url: &str, expected: &[u8]) {
        let (status, head, body) = self.get(stamp, url);
        assert_eq!(status, 200, "{stamp} {url}: {head}\n{}", String::from_utf8_lossy(&body));
        assert_eq!(
            body.escape_ascii().to_string(),
            expected.escape_ascii().to_string(),
            "{stamp} {url}: {head}"
        );
    }

    /// Everything in [`Files`] that can be shown.
    #[track_caller]
    fn check_everything(&self) {
        self.check("20260301090000", PAGE, PAGE_BODY);
        self.check("20260301090000", CHUNKED, CHUNKED_BODY);
        self.check("20260302090000", PACKED, &gzip(PACKED_BODY));
        self.check("20260302090000", LOGO, LOGO_BODY);
        self.check_revisits();
        // Keys are one for both schemes, any case, any order, with `www.` and without.
        self.check("20260301090000", "https://EXAMPLE.com/page/?b=2&A=1", PAGE_BODY);
        let (status, ..) = self.get("20260301090000", "http://example.com/never-stored");
        assert_eq!(status, 404);
    }

    #[track_caller]
    fn check_revisits(&self) {
        self.check("20260303090000", PAGE, PAGE_BODY);
        self.check("20260304090000", COPY, PAGE_BODY);
        self.check("20260305090000", PAGE, PAGE_BODY);
        self.check("20260306090000", CHUNKED, CHUNKED_BODY);
        self.check("20260306090000", CHUNKED_COPY, CHUNKED_BODY);
        let (_, head, _) = self.get("20260303090000", PAGE);
        assert!(head.contains("2026-03-03"), "the head is the revisit's own: {head}");
    }
}

impl Drop for Pywb {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A directory with one empty collection.
fn collection() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let collection = directory.path().join("collections/snapshot");
    for room in ["archive", "indexes"] {
        std::fs::create_dir_all(collection.join(room)).unwrap();
    }
    (directory, collection)
}

/// A collection of our files and the CDXJ of what is chosen.
fn with_cdxj(files: &Files, choose: impl Fn(&Row) -> bool) -> tempfile::TempDir {
    let (directory, collection) = collection();
    for file in ["originals.warc.gz", "later.warc.gz"] {
        std::fs::copy(files.path().join(file), collection.join("archive").join(file)).unwrap();
    }
    let mut index = std::fs::File::create(collection.join("indexes/index.cdxj")).unwrap();
    cdxj::write(files.pick(choose), &files.source(), files.path(), &mut index).unwrap();
    directory
}

#[test]
fn it_serves_our_files_by_our_cdxj() {
    let Some(wayback) = tool("wayback", "pywb on our CDXJ") else { return };
    let directory = with_cdxj(&Files::new(), |_| true);
    Pywb::start(wayback, directory.path()).check_everything();
}

#[test]
fn it_serves_revisits_whose_originals_were_not_chosen() {
    let Some(wayback) = tool("wayback", "pywb on revisits") else { return };
    let directory = with_cdxj(&Files::new(), Row::is_revisit);
    Pywb::start(wayback, directory.path()).check_revisits();
}

#[test]
fn it_serves_our_wacz() {
    let Some(wayback) = tool("wayback", "pywb on our WACZ") else { return };
    let files = Files::new();
    let (directory, _) = collection();
    let package = directory.path().join("ours.wacz");
    std::fs::write(&package, crate::wacz::written(&files, |_| true)).unwrap();
    let mut manager = tool("wb-manager", "").unwrap();
    run(manager.args(["add", "--unpack-wacz", "snapshot"]).arg(&package).current_dir(directory.path()));
    Pywb::start(wayback, directory.path()).check_everything();
}

/// A WARC file, indexed by pywb itself.
fn with_warc(files: &Files, picks: formats::Picks) -> tempfile::TempDir {
    let (directory, _) = collection();
    let mut out = Vec::new();
    let (source, about) = (files.source(), crate::warc_file::about());
    formats::warc_file::write(picks, &source, "ours.warc.gz", formats::Coding::Gzip, &about, &mut out)
        .unwrap();
    let path = directory.path().join("ours.warc.gz");
    std::fs::write(&path, out).unwrap();
    let mut manager = tool("wb-manager", "").unwrap();
    run(manager.args(["add", "snapshot"]).arg(&path).current_dir(directory.path()));
    directory
}

/// pywb finds the original of a revisit by the payload digest, which it computes itself, with the chunks, where a record
/// states none.
#[test]
fn it_serves_our_warc_by_an_index_of_its_own() {
    let Some(wayback) = tool("wayback", "pywb on our WARC") else { return };
    let files = Files::new();
    let directory = with_warc(&files, files.pick(|_| true));
    let pywb = Pywb::start(wayback, directory.path());
    pywb.check("20260301090000", PAGE, PAGE_BODY);
    pywb.check("20260303090000", PAGE, PAGE_BODY);
    pywb.check("20260304090000", COPY, PAGE_BODY);
    pywb.check("20260301090000", CHUNKED, CHUNKED_BODY);
    pywb.check("20260306090000", CHUNKED, CHUNKED_BODY);
    // Nothing else is stored under this URL that could be shown instead.
    pywb.check("20260306090000", CHUNKED_COPY, CHUNKED_BODY);
}

#[test]
fn it_serves_our_warc_with_resolved_revisits_whole() {
    let Some(wayback) = tool("wayback", "pywb on resolved revisits") else { return };
    let files = Files::new();
    let directory = with_warc(&files, files.resolve(|_| true));
    Pywb::start(wayback, directory.path()).check_everything();
}

#[test]
fn its_keys_are_ours() {
    let Some(mut python) = tool("python", "pywb's keys") else { return };
    let mut urls: Vec<String> = URLS.iter().map(|url| (*url).to_owned()).collect();
    urls.extend(naughty_strings().iter().map(|text| format!("http://www.example.com/{text}?q={text}")));
    let script = "
import sys, json
from pywb.utils.canonicalize import canonicalize
def key(url):
    try: return canonicalize(url)
    except Exception: return None
print(json.dumps([key(url) for url in json.loads(sys.argv[1])]))
";
    let said = run(python.args(["-c", script]).arg(serde_json::to_string(&urls).unwrap()));
    let keys: Vec<Option<String>> = serde_json::from_str(&said).unwrap();
    let mut compared = 0;
    for (url, theirs) in urls.iter().zip(keys) {
        // It never looks up what it refuses.
        let Some(theirs) = theirs else { continue };
        assert_eq!(cdxj::surt(url), theirs, "{url:?}");
        compared += 1;
    }
    assert!(compared > URLS.len() * 9 / 10, "{compared}");
}

/// Strings that break programs; without the list, a few of our own.
fn naughty_strings() -> Vec<String> {
    let Some(shared) = std::env::var_os("UTSUSHI_SHARED") else {
        let what = "the list of naughty strings, because `UTSUSHI_SHARED` does not say where it is";
        let _ = writeln!(std::io::stderr(), "NOT TESTED: {what}");
        return ["\r\n\r\n", "\u{1}", "%0A", "\u{85}\u{2028}", "日本", "a b"].map(str::to_owned).to_vec();
    };
    let path = PathBuf::from(shared).join("data/suites/blns.json");
    let all: Vec<String> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    // An argument of a program holds no zero byte.
    all.into_iter().filter(|text| !text.contains('\0')).collect()
}

const URLS: &[&str] = &[
    "http://example.com",
    "http://example.com/",
    "http://example.com//",
    "http://example.com/a/",
    "http://EXAMPLE.com/A/B/C.html",
    "https://www.example.com:443/",
    "https://www.example.com:80/",
    "http://www3.example.com:8080/x",
    "http://www.www.example.com/",
    "http://www./",
    "http://wwwexample.com/",
    "http://example.com./x",
    "http://..example..com../x",
    "http://user:pass@example.com/x",
    "http://user@pass@example.com:81/x",
    "http://example.com:/x",
    "http://example.com:0/x",
    "http://127.0.0.1/",
    "http://127.0.0.1:8080/x?y",
    "http://127.1/",
    "http://1.2.3/",
    "http://0x7f.1/",
    "http://017.0.0.1/",
    "http://4294967297/",
    "http://[2001:db8::1]:8080/x",
    "http://[::1]/",
    "http://日本語.jp/パス?ク=エ",
    "http://xn--wgv71a119e.jp/%e3%83%91%E3%82%B9",
    "http://example.com/%7Euser/%2F/%252F/%25252f",
    "http://example.com/a%20b/c d",
    "http://example.com/100%/%zz/%",
    "http://example.com/a/./b/../c/../../d/e/..",
    "http://example.com/../../a",
    "http://example.com/a//b///c",
    "http://example.com/a;b=c;d",
    "http://example.com/#fragment",
    "http://example.com#fragment",
    "http://example.com/%23not-fragment",
    "http://example.com?query",
    "http://example.com/?",
    "http://example.com/?&&",
    "http://example.com/?=",
    "http://example.com/?b&a=&a&A=1&a=0",
    "http://example.com/?b=2&a=1&c=3&a=%20%41",
    "http://example.com/?q=a+b%2Bc&r=a%26b",
    "http://example.com/?q=http://other.example.com/?a=b&c",
    "http://example.com/?a?b",
    "http://example.com/x?PHPSESSID=0123456789abcdef0123456789ABCDEF",
    "http://example.com/x?a=1&PHPSESSID=0123456789abcdef0123456789ABCDEF&b=2",
    "http://example.com/x?a=1&sid=0123456789abcdef0123456789abcdef",
    "http://example.com/x?sid=0123456789abcdef0123456789abcdef0",
    "http://example.com/x?jsessionid=0123456789abcdef0123456789abcdef&jsessionid=0123456789abcdef0123456789abcdef",
    "http://example.com/x;jsessionid=0123456789abcdef0123456789abcdef?q",
    "http://example.com/x?ASPSESSIONIDAABBCCDD=ABCDEFGHIJKLMNOPQRSTUVWX&a",
    "http://example.com/x?CFID=1&CFTOKEN=2",
    "http://example.com/x?b=0&cfid=1&cftoken=2&a=0",
    "http://example.com/(S(lit3py55t21z5v55vlm25s55))/x.aspx?a",
    "http://example.com/a/(a(lit3py55t21z5v55vlm25s55)b(lit3py55t21z5v55vlm25s55))/b/x.ASPX",
    "http://example.com/(lit3py55t21z5v55vlm25s55)/x.aspx",
    "http://example.com/(lit3py55t21z5v55vlm25s55)/x.html",
    "HTTP://Example.Com/X",
    "http://http://example.com/x",
    "http://https://example.com/x",
    "http:////example.com//x",
    "http:///x",
    "  http://example.com/a\tb\n ",
    "example.com/x",
    "www.example.com",
    "urn:uuid:1234-ABCD",
    "dns:www.Example.com",
    "ftp://www.example.com/X/",
    "mailto:someone@Example.com",
    "data:text/html,<b>X</b>",
    "http://example.com/\u{0}x",
    "http://example.com/<script>alert(\"1\")</script>?'`{|}[]^\\",
    "http://a_b.example.com/",
    "http://exa mple.com/",
    "http://example.com/%C3%28/\u{fffd}",
];
