//! Documents against a reading of the archived pages.

use crate::links;
use crate::web::{SECONDS, START, any_url, import, moment, open_archive, reader, runner, visits};
use archive::{Group, Key, Target};
use base::disk::{Disk, Open, SimulatedDisk};
use base::{Chance, Timestamp};
use document::documents::{DOCUMENTS, DocumentStage, Documents};
use document::links::LinkGraph;
use document::standard::{Library, XML_END, XML_START, to_json, to_text, to_xml};
use document::{Moment, StoredDocument};
use stage::Stage as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

pub(crate) fn directory() -> PathBuf {
    Path::new("/data").join(DOCUMENTS)
}
pub(crate) fn open(disk: &SimulatedDisk) -> DocumentStage {
    let (stage, damage) = DocumentStage::open(Arc::new(disk.clone()), &directory()).unwrap();
    assert!(damage.is_none(), "{damage:?}");
    stage
}
fn catch_up(disk: &SimulatedDisk) {
    runner(disk).catch_up(&mut [&mut links::open(disk), &mut open(disk)], |_| {}).unwrap();
}
fn documents(disk: &SimulatedDisk) -> Documents {
    Documents::open(disk, &directory()).unwrap()
}
fn library(disk: &SimulatedDisk) -> Library {
    Library::new(documents(disk), LinkGraph::open(disk, &links::directory()).unwrap(), reader(disk))
}

/// What the page said then, read from the archive; `None` if it was no page.
fn read(disk: &SimulatedDisk, page: &Key, at: Timestamp) -> Option<(String, StoredDocument, Vec<u8>)> {
    let reader = reader(disk);
    let valid = Moment::new(at).unwrap().document(&reader, page).unwrap()?;
    let found = reader.document(&valid.entry).unwrap();
    let (content, kind) = (found.payload().into_owned(), base::http::field(&found.head, "content-type"));
    if html::kind::sniff(kind, &content) != html::kind::BodyKind::Page {
        return None;
    }
    let url = base::PageUrl::parse(&valid.entry.url).unwrap();
    let (parsed, outline) = html::read_with_outline(&url, kind, &content, "utsushi");
    let language = stage::language_of(&parsed).map(|language| language.as_str().to_owned());
    let bytes = content.len() as u64;
    let document = StoredDocument::of(url.as_str(), bytes, &parsed, language.as_deref(), &outline);
    Some((valid.id.to_string(), document, content))
}

#[test]
fn model_a_document_is_what_its_page_said_at_any_moment() {
    let (disk, mut chance, mut found) = (SimulatedDisk::new(1), Chance::new(1), 0);
    for part in visits(1, 400).chunks(80) {
        import(&disk, part);
        catch_up(&disk);
    }
    let library = library(&disk);
    for _ in 0..300 {
        let (page, at) = (Key::of(&any_url(&mut chance)), moment(chance.below(SECONDS)));
        let at_moment = Moment::new(at).unwrap();
        let valid = at_moment.document(library.archive(), &page).unwrap();
        let form = valid.and_then(|valid| library.form(&valid, &at_moment, START).unwrap());
        let expected = read(&disk, &page, at);
        assert_eq!(form.is_some(), expected.is_some(), "{page} at {at}");
        let (Some(form), Some((id, document, _))) = (form, expected) else { continue };
        // The URL is that of the first capture with this content.
        assert_eq!(form.content, StoredDocument { url: form.content.url.clone(), ..document });
        assert_eq!((form.id.to_string(), form.validity.from() <= at), (id, true));
        let last = library.last(form.id).unwrap().unwrap();
        assert!(
            (last.id, &last.entry.key) == (form.id, &page) && last.validity.from() >= form.validity.from()
        );
        found += 1;
    }
    assert!(found > 150, "{found} documents were compared");
}

/// Pages in several encodings, with what is hard in XML.
fn hard_pages() -> Vec<Group> {
    let text = "<title>表題 &amp; ]]> \u{1}</title><h1>見出し</h1><p>これは<b>一つ目</b>の &lt;文&gt;。「二つ。目」の文！<p>Third &lt;one&gt;. <a href='/x?a=1&b=\"'>リンク\u{202e}]]></a>";
    let encode = |encoding: &'static encoding_rs::Encoding| encoding.encode(text).0.into_owned();
    let charsets =
        [encoding_rs::UTF_8, encoding_rs::SHIFT_JIS, encoding_rs::EUC_JP, encoding_rs::ISO_2022_JP];
    let page = |(number, encoding): (usize, &'static encoding_rs::Encoding)| {
        let body = encode(encoding);
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset={}\r\nContent-Length: {}\r\n\r\n",
            encoding.name(),
            body.len()
        );
        let url = format!("http://a.example/{number}");
        Group::of_answer(&url, None, START, [head.into_bytes(), body].concat())
    };
    charsets.into_iter().enumerate().map(page).collect()
}

#[test]
fn sentences_are_where_they_are_said_to_be() {
    let disk = SimulatedDisk::new(1);
    import(&disk, &hard_pages());
    catch_up(&disk);
    // UTF-8 only: places in other encodings are tested where they are made, in `html`.
    let (_, document, content) = read(&disk, &Key::of("http://a.example/0"), moment(1)).unwrap();
    for sentence in &document.sentences {
        let from = usize::try_from(sentence.offset).unwrap();
        let bytes = &content[from..from + usize::try_from(sentence.length).unwrap()];
        let source = std::str::from_utf8(bytes).unwrap().replace("<b>", "").replace("</b>", "");
        let plain = source.replace("&lt;", "<").replace("&gt;", ">");
        let plain = plain.split("<a ").next().unwrap_or_default().trim().to_owned();
        assert!(document.text_of(sentence).starts_with(&plain), "{plain}");
    }
    assert!(document.sentences.len() >= 3, "{document:?}");
    assert_eq!(document.language.as_deref(), Some("ja"));
}

#[test]
fn the_xml_is_valid_by_its_schema() {
    let disk = SimulatedDisk::new(2);
    import(&disk, &visits(2, 120));
    import(&disk, &hard_pages());
    catch_up(&disk);
    let (library, at) = (library(&disk), Moment::new(moment(SECONDS)).unwrap());
    let mut xml = XML_START.to_owned();
    let keys: std::collections::BTreeSet<Key> =
        library.archive().all().unwrap().map(|entry| entry.unwrap().key).collect();
    let mut count = 0;
    for key in keys {
        let Some(valid) = at.document(library.archive(), &key).unwrap() else { continue };
        let Some(form) = library.form(&valid, &at, START).unwrap() else { continue };
        xml += &to_xml(&form);
        assert!(to_json(&form)["sentences"].as_array().is_some_and(|sentences| !sentences.is_empty()));
        assert!(to_text(&form).contains(&form.url));
        count += 1;
    }
    xml += XML_END;
    assert!(count > 20);
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats/standard-format.xsd");
    let script = "import sys, lxml.etree as e; e.XMLSchema(e.parse(sys.argv[1])).assertValid(e.fromstring(sys.stdin.buffer.read()))";
    let python = std::env::var("UTSUSHI_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has_lxml = Command::new(&python).args(["-c", "import lxml"]).stderr(Stdio::null()).status();
    if !has_lxml.is_ok_and(|status| status.success()) {
        eprintln!("NOT CHECKED: the XML against its schema, because Python has no `lxml`");
        return;
    }
    let mut validator =
        Command::new(&python).args(["-c", script, schema]).stdin(Stdio::piped()).spawn().unwrap();
    validator.stdin.take().unwrap().write_all(xml.as_bytes()).unwrap();
    assert!(validator.wait().unwrap().success(), "{}", xml.get(..2_000).unwrap_or(&xml));
}

#[test]
fn a_takedown_removes_documents_and_counts_them() {
    let disk = SimulatedDisk::new(3);
    import(&disk, &visits(3, 300));
    catch_up(&disk);
    let held = |disk: &SimulatedDisk, server: &str| {
        let (documents, reader) = (documents(disk), reader(disk));
        let entries = reader.all().unwrap().map(|entry| entry.unwrap());
        let ids = entries
            .filter(|entry| entry.url.contains(server))
            .filter_map(|entry| Some((entry.key.clone(), document::DocumentId::of_entry(&entry)?)));
        let known: std::collections::BTreeSet<_> =
            ids.filter(|(key, id)| documents.get(key, *id).unwrap().is_some()).collect();
        known
    };
    let (gone, kept) = (held(&disk, "s1.example"), held(&disk, "s2.example"));
    assert!(!gone.is_empty() && !kept.is_empty());
    let target = Target::server("s1.example").unwrap();
    let mut archive = open_archive(&disk);
    archive.takedown(&target, "asked for", START, &mut |_, _| {}).unwrap();
    archive.close().unwrap();
    assert_eq!(open(&disk).remove(&target).unwrap(), gone.len() as u64);
    for (key, id) in gone {
        assert_eq!(documents(&disk).get(&key, id).unwrap(), None);
        assert_eq!(documents(&disk).page_of(id).unwrap(), None);
    }
    assert_eq!(held(&disk, "s2.example"), kept);
    // A rebuild does not bring anything back.
    runner(&disk).rebuild(&mut [&mut open(&disk)], |_| {}).unwrap();
    assert!(held(&disk, "s1.example").is_empty() && held(&disk, "s2.example") == kept);
}

#[test]
fn a_flipped_bit_is_reported_or_rebuilt_and_never_served() {
    let disk = SimulatedDisk::new(4);
    import(&disk, &visits(4, 150));
    catch_up(&disk);
    let mut chance = Chance::new(4);
    for path in disk.list(&directory()).unwrap() {
        let length = disk.open(&path, Open::Read).unwrap().length().unwrap();
        for _ in 0..60 {
            let bit = chance.below(length * 8);
            disk.flip_bit(&path, bit).unwrap();
            let sound = Documents::open(&disk, &directory()).and_then(|documents| documents.verify());
            let error = sound.expect_err("the flipped bit is seen");
            assert!(error.is_damage() && error.to_string().contains("utsushi rebuild documents"), "{error}");
            disk.flip_bit(&path, bit).unwrap();
        }
    }
    disk.flip_bit(&directory().join("CURRENT"), 300).unwrap();
    let (stage, damage) = DocumentStage::open(Arc::new(disk.clone()), &directory()).unwrap();
    assert!(damage.is_some_and(|damage| damage.is_damage()));
    assert_eq!(stage.checkpoint().unwrap(), None, "it begins again");
}
