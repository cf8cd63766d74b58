use super::*;

#[track_caller]
fn refused(text: &str, expected: &[&str]) {
    let mut config = Config::compiled_in();
    let error = config.apply_file(Path::new("some.toml"), text).unwrap_err().to_string();
    for part in expected {
        assert!(error.contains(part), "`{part}` is not in `{error}`");
    }
}

#[test]
fn the_defaults_pass_their_own_checks() {
    let config = Config::compiled_in();
    assert_eq!(config.crawl.pause, base::limits::SERVER_PAUSE_DEFAULT);
    assert_eq!(config.archive.file_bytes_max, base::limits::ARCHIVE_FILE_BYTES);
    assert_eq!(config.archive.compression(), warc::Compression::default());
    assert_eq!(config.archive.disk_free_bytes_min, base::limits::DISK_FREE_BYTES_MIN);
    assert_eq!(*config.origin("crawl.pause"), SettingOrigin::Default);
}

#[test]
fn a_file_changes_what_it_names_and_leaves_the_rest() {
    let mut config = Config::compiled_in();
    let text = "[crawl]\npause = \"1m\"\n[archive]\nfile_bytes_max = \"2 MiB\"\n[sim]\nseed = 0x10\n[log]\n";
    config.apply_file(Path::new("some.toml"), text).unwrap();
    assert_eq!(config.crawl.pause, Interval::from_minutes(1));
    assert_eq!((config.archive.file_bytes_max, config.sim.seed, config.sim.pages), (2 << 20, 16, 5_000));
    assert_eq!(config.origin("crawl.pause").to_string(), "some.toml, line 2");
    assert_eq!(*config.origin("sim.pages"), SettingOrigin::Default);
}

#[test]
fn a_misspelt_key_is_refused_with_the_nearest_one() {
    refused("[crawl]\npuase = \"1s\"", &["line 2, column 1", "`crawl.puase`", "did you mean `crawl.pause`?"]);
    refused("[crwal]\npause = \"1s\"", &["`crwal.pause`", "`crawl.pause`"]);
    refused("pause = \"1s\"", &["line 1", "no setting `pause`", "`crawl.pause`"]);
    refused("[crawl]\npages = 3", &["`crawl.pages`", "did you mean `sim.pages`?"]);
    refused("[crawl]\n\"\\u001b[2J\" = 3", &["no setting `crawl.\\u{1b}[2J`"]);
    refused("[nothing-like-it]", &["no setting `nothing-like-it`"]);
}

#[test]
fn a_value_of_another_type_is_refused_with_what_is_wanted() {
    refused(
        "[sim]\npages = \"many\"",
        &["`sim.pages` is a whole number from 1 to 1000000000", "`\"many\"` is a text"],
    );
    refused(
        "[crawl]\npause = 10",
        &["`crawl.pause` is a length of time from 1s to 1d", "`10` is a whole number"],
    );
    refused("[crawl.pause]\nx = 1", &["`crawl.pause`", "is a section"]);
    refused("[archive]\nfile_bytes_max = 1.5", &["a number of bytes from 1MiB to 64GiB", "with a fraction"]);
    refused("crawl = 3", &["no setting `crawl`"]);
}

#[test]
fn a_value_outside_its_range_is_refused_with_the_range() {
    refused("[crawl]\npause = \"0s\"", &["`crawl.pause` cannot be `\"0s\"`", "from 1s to 1d"]);
    refused("[crawl]\npause = \"soon\"", &["cannot be `\"soon\"`"]);
    refused("[sim]\nservers = 0", &["`sim.servers` cannot be `0`", "from 1 to 1000000"]);
    refused("[sim]\nseed = -1", &["`sim.seed` cannot be `-1`"]);
    refused("[sim]\npages = 99999999999999999999999999999999999999999999", &["`sim.pages`"]);
    refused("[archive]\ngzip_level = 13", &["from 1 to 12"]);
    refused("[archive]\nfile_bytes_max = \"1PiB\"", &["cannot be `\"1PiB\"`"]);
    refused("[fetch]\nagent = \"a\\r\\nHost: b\"", &["`fetch.agent`", "printable ASCII"]);
    refused("[log]\nlevel = \"loud\"", &["`log.level` cannot be `\"loud\"`"]);
    refused("[log]\nformat = \"xml\"", &["\"text\" or \"json\""]);
}

#[test]
fn what_is_wrong_with_an_entry_of_a_list_is_told() {
    refused(
        "[crawl]\nrules = [\"never visit ending .zip\", \"never vist domain a.jp\"]",
        &["`crawl.rules`: `never vist domain a.jp` is not a rule", "such as `never visit domain a.jp`"],
    );
    refused(
        "[crawl]\nagreed = [\"a.jp fast\"]",
        &["`crawl.agreed`: `a.jp fast`", "`www.example.jp pause=1s width=2`"],
    );
    refused("[crawl]\naliases = [\"a.jp\"]", &["`crawl.aliases`: `a.jp`", "`www.example.jp = example.jp`"]);
    refused("[crawl]\naliases = [\"a.jp = A.jp\"]", &["has the same name twice"]);
    refused("[crawl]\nrules = [3]", &["`crawl.rules` cannot be `[3]`; it is a list of sentences"]);
    refused("[filter]\nlanguages = [\"japanese\"]", &["`japanese` is not a language code"]);
    refused("[filter]\ntypes = [\"html\"]", &["`html` is not a media type"]);
    refused("[metrics]\nlisten = \"9090\"", &["`metrics.listen` cannot be", "127.0.0.1:9090"]);
    refused("[crawl]\nrequisites = 1", &["`crawl.requisites` is true or false"]);
}

#[test]
fn broken_toml_is_refused_with_its_place() {
    refused("[crawl]\npause = \"1s", &["line 2, column", "this is not TOML"]);
    refused("[crawl\n", &["line 1, column"]);
    refused("[sim]\nseed = 1\nseed = 2\n", &["line 3, column 1", "duplicate key"]);
}

#[test]
fn everything_that_is_wrong_is_told_at_once_and_in_order() {
    let text = "[sim]\nseed = \"x\"\nservers = 0\n[crawl]\nthing_without_likeness = 1\n";
    refused(text, &["\n  line 2, column 1: `sim.seed`", "\n  line 3, column 1: `sim.servers`", "\n  line 5"]);
}

#[test]
fn a_file_that_is_too_long_or_no_text_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("some.toml");
    for content in [vec![b'\n'; 1024 * 1024 + 1], vec![0xff, 0xfe]] {
        std::fs::write(&path, content).unwrap();
        assert!(matches!(Config::load(Some(&path), directory.path()), Err(Error::Read { .. })));
    }
}

#[test]
fn the_default_file_and_the_reference_show_every_setting_with_its_range() {
    let reference = include_str!("../../../../docs/reference/configuration.md");
    let plain: String = DEFAULT.replace("\n# ", " ");
    for setting in SETTINGS {
        let (section, name) = setting.key.split_once('.').unwrap();
        assert!(DEFAULT.contains(&format!("\n[{section}]\n")) && DEFAULT.contains(&format!("\n{name} = ")));
        assert!(plain.contains(&setting.allowed()), "default.toml does not say `{}`", setting.allowed());
        assert!(reference.contains(&format!("`{}`", setting.key)), "{} is not in the reference", setting.key);
        assert!(reference.contains(&setting.allowed()), "the reference does not say `{}`", setting.allowed());
    }
}

#[test]
fn what_is_shown_can_be_read_again() {
    let config = Config::compiled_in();
    let shown: String = SETTINGS.iter().map(|s| format!("{} = {}\n", s.key, (s.show)(&config))).collect();
    let mut again = Config::compiled_in();
    again.apply(&shown, |_| SettingOrigin::Default).unwrap();
    let shown_again: String =
        SETTINGS.iter().map(|s| format!("{} = {}\n", s.key, (s.show)(&again))).collect();
    assert_eq!(shown, shown_again);
}
