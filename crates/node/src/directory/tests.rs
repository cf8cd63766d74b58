use super::*;
use std::collections::BTreeMap;

fn opening(web: WebKind) -> OpenOptions<'static> {
    let now = "2026-03-31T09:00:00Z".parse().unwrap();
    OpenOptions { web, command: "demo", now, free_space_min: FreeSpaceMin::default() }
}

/// Every file under `path` with its bytes.
fn contents(path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(contents(&path));
            found.insert(path, Vec::new());
        } else {
            found.insert(path.clone(), fs::read(path).unwrap());
        }
    }
    found
}

/// A writer is refused, and the directory is as it was.
#[track_caller]
fn refused(path: &Path, opening: &OpenOptions<'_>) -> Error {
    let before = contents(path);
    let error = DataDirectory::open_writer(path, opening).unwrap_err();
    assert_eq!(contents(path), before, "{error}");
    assert!(!error.advice().is_empty());
    error
}

#[test]
fn a_writer_makes_the_directory_and_a_reader_reads_beside_it() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("some/where/data");
    let writer = DataDirectory::open_writer(&path, &opening(WebKind::Simulated)).unwrap();
    assert!(writer.archive_path().is_dir());

    let reader = DataDirectory::open_reader(&path).unwrap();
    assert_eq!(reader.format(), writer.directory().format());
    let owner = reader.owner().unwrap().unwrap();
    assert_eq!((owner.pid, owner.command.as_deref()), (Some(std::process::id()), Some("demo")));

    drop(writer);
    assert_eq!(reader.owner().unwrap(), None, "what the lock file says is stale now");
}

#[test]
fn the_same_directory_is_opened_again_and_again() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("data");
    drop(DataDirectory::open_writer(&path, &opening(WebKind::Public)).unwrap());
    let later = OpenOptions { now: "2027-01-01T00:00:00Z".parse().unwrap(), ..opening(WebKind::Public) };
    let writer = DataDirectory::open_writer(&path, &later).unwrap();
    assert_eq!(writer.directory().format().created, opening(WebKind::Public).now);
}

#[test]
fn survives_m8_a_second_writer_is_told_who_the_first_is() {
    let place = tempfile::tempdir().unwrap();
    let _writer = DataDirectory::open_writer(place.path(), &opening(WebKind::Simulated)).unwrap();
    let error = refused(place.path(), &opening(WebKind::Simulated));
    let pid = std::process::id().to_string();
    assert!(matches!(error, Error::InUse { .. }));
    assert!(error.to_string().contains(&pid) && error.to_string().contains("`utsushi demo`"), "{error}");
    assert!(error.advice().contains(&pid), "{}", error.advice());
}

#[test]
fn a_holder_that_has_not_signed_is_another_process() {
    let place = tempfile::tempdir().unwrap();
    drop(DataDirectory::open_writer(place.path(), &opening(WebKind::Simulated)).unwrap());
    let lock = fs::File::create(place.path().join("lock")).unwrap();
    lock.lock().unwrap();
    let error = refused(place.path(), &opening(WebKind::Simulated));
    assert!(error.to_string().ends_with("in use by another process"), "{error}");
}

#[test]
fn an_archive_of_one_web_is_not_written_to_from_the_other() {
    let place = tempfile::tempdir().unwrap();
    drop(DataDirectory::open_writer(place.path(), &opening(WebKind::Public)).unwrap());
    assert!(matches!(refused(place.path(), &opening(WebKind::Simulated)), Error::OtherWeb { .. }));
}

#[test]
fn a_foreign_directory_is_left_alone() {
    for name in ["notes.txt", "FORMAT.old", ".git", "archive/a.warc.gz"] {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "mine").unwrap();
        assert!(
            matches!(refused(place.path(), &opening(WebKind::Simulated)), Error::Foreign { .. }),
            "{name}"
        );
        assert!(matches!(DataDirectory::open_reader(place.path()), Err(Error::Foreign { .. })));
    }
}

#[test]
fn a_configuration_may_come_before_the_directory() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("utsushi.toml"), "[crawl]\npause = \"20s\"\n").unwrap();
    assert!(matches!(DataDirectory::open_reader(place.path()), Err(Error::Empty { .. })));
    DataDirectory::open_writer(place.path(), &opening(WebKind::Simulated)).unwrap();
}

#[test]
fn survives_m1_a_start_that_was_cut_off_is_begun_again() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("lock"), "pid = 1\n").unwrap();
    fs::write(place.path().join("FORMAT.tmp"), "# A data").unwrap();
    DataDirectory::open_writer(place.path(), &opening(WebKind::Simulated)).unwrap();
    assert!(!place.path().join("FORMAT.tmp").exists());
}

#[test]
fn a_path_that_is_a_file_or_lies_under_one_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("file");
    fs::write(&file, "mine").unwrap();
    for path in [file.clone(), file.join("data")] {
        let error = DataDirectory::open_writer(&path, &opening(WebKind::Simulated)).unwrap_err();
        assert!(error.advice().contains("--data"), "{error}");
        assert!(DataDirectory::open_reader(&path).is_err());
    }
    assert_eq!(fs::read(file).unwrap(), b"mine");
}

#[test]
fn a_damaged_format_is_refused_and_kept() {
    let place = tempfile::tempdir().unwrap();
    for damage in [&b""[..], b"format = 1\n", b"\xff\xfe", b"format = \"one\"", &[b'#'; 5000]] {
        fs::write(place.path().join("FORMAT"), damage).unwrap();
        assert!(matches!(refused(place.path(), &opening(WebKind::Simulated)), Error::Damaged { .. }));
    }
}

#[test]
fn survives_m4_a_full_disk_is_refused_at_the_start() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("data");
    for free_space_min in
        [FreeSpaceMin { bytes: u64::MAX, percent: 0 }, FreeSpaceMin { bytes: 0, percent: 100 }]
    {
        let error =
            DataDirectory::open_writer(&path, &OpenOptions { free_space_min, ..opening(WebKind::Simulated) })
                .unwrap_err();
        assert!(matches!(error, Error::Full { .. }), "{error}");
        assert!(!path.exists(), "nothing is made");
    }
}
