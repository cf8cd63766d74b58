use super::*;
use base::Chance;

#[track_caller]
fn check(robots: &str, target: &str, expected: &str) {
    let rules = RobotsRules::for_agent(robots.as_bytes(), "utsushi");
    let verdict = rules.judge(target);
    let word = if verdict.allowed { "allowed" } else { "refused" };
    assert_eq!(format!("{word}, {verdict}"), expected, "{target} under {robots:?}");
}

#[test]
fn the_longest_match_decides_and_says_which_line_it_is() {
    let robots = "# ours\nUser-agent: *\nDisallow: /a\nAllow: /a/b # except this\n\nDisallow: /c$";
    check(robots, "/a/x", "refused, line 3: `Disallow: /a`");
    check(robots, "/a/b", "allowed, line 4: `Allow: /a/b`");
    check(robots, "/c", "refused, line 6: `Disallow: /c$`");
    check(robots, "/c?x", "allowed, no rule matches");
    check("User-agent: *\nDisallow: /a\nAllow: /a", "/a", "allowed, line 3: `Allow: /a`");
    check("User-agent: *\nDisallow:", "/a", "allowed, no rule matches");
    check("", "/a", "allowed, no rule matches");
}

#[test]
fn the_refusing_reading_counts() {
    check("User-agent: *\nDisallow: /~a", "/%7Ea", "refused, line 2: `Disallow: /~a`");
    check("User-agent: *\nDisallow: /\nAllow: /~a", "/%7Ea", "refused, line 2: `Disallow: /`");
    check("User-agent: *\nDisallow: /\nAllow: /~a", "/~a", "allowed, line 3: `Allow: /~a`");
    check("User-agent: *\nDisallow: /写し", "/%E5%86%99%E3%81%97", "refused, line 2: `Disallow: /写し`");
}

#[test]
fn a_group_for_us_counts_alone_and_groups_for_us_count_together() {
    let robots = "User-agent: *\nDisallow: /\n\nUser-agent: UTSUSHI/2.0\nUser-agent: other\nDisallow: /a\n\n\
                  User-agent: else\nDisallow: /\n\nUser-Agent: utsushi\nDisallow: /b";
    check(robots, "/x", "allowed, no rule matches");
    check(robots, "/a", "refused, line 6: `Disallow: /a`");
    check(robots, "/b", "refused, line 12: `Disallow: /b`");
    check("User-agent: utsushibot\nDisallow: /", "/x", "allowed, no rule matches");
    check("User-agent: utsushi\nUser-agent: *\nDisallow: /", "/x", "refused, line 3: `Disallow: /`");
}

#[test]
fn files_are_read_as_people_write_them() {
    check("\u{feff}User-agent: *\nDisallow: /", "/x", "refused, line 2: `Disallow: /`");
    for unit in [u16::to_le_bytes, u16::to_be_bytes] {
        let wide = "\u{feff}User-agent: *\nDisallow: /写".encode_utf16().flat_map(unit).collect::<Vec<_>>();
        let rules = RobotsRules::for_agent(&wide, "utsushi");
        assert_eq!(rules.judge("/%E5%86%99").to_string(), "line 2: `Disallow: /写`");
    }
    check("User-agent: *\rDisallow: /", "/x", "refused, line 2: `Disallow: /`");
    check("User-agent: *\r\n\r\n\tDISALLOW : / \t# no", "/x", "refused, line 3: `DISALLOW : /`");
    check("User-agent *\nDisallow /x", "/x", "refused, line 2: `Disallow /x`");
    check("User-agent: * # all\nDissallow: /", "/x", "refused, line 2: `Dissallow: /`");
    check("User-agent: *\nDisallow: /\nAlow: /", "/x", "refused, line 2: `Disallow: /`");
    check(
        "User-agent: *\nDisallow: /x\u{1b}[31m",
        "/x\u{1b}[31m",
        r"refused, line 2: `Disallow: /x\u{1b}[31m`",
    );
    check("Disallow: /", "/x", "allowed, no rule matches");
}

#[test]
fn everything_or_nothing_may_be_refused() {
    assert!(RobotsRules::allow_all().judge("/").allowed);
    let refused = RobotsRules::refuse_all();
    assert_eq!(
        (refused.judge("/").allowed, refused.judge("/").to_string().as_str()),
        (false, "everything is refused")
    );
    assert!(refused.judge("/robots.txt").allowed, "the file itself may always be asked for");
}

#[test]
fn delays_belong_to_groups_and_sitemaps_to_the_file() {
    let robots = "Sitemap: https://a.example/1.xml\nUser-agent: a\nCrawl-delay: 9\nUser-agent: utsushi\n\
                  Crawl-delay: 0.5\ncrawl-delay: -1\nSitemap: /2.xml\nDisallow: /x\nUser-agent: *\nCrawl-delay: 60";
    let delay = |agent| RobotsRules::for_agent(robots.as_bytes(), agent).crawl_delay();
    assert_eq!(delay("utsushi"), Some(Interval::from_millis(500)));
    assert_eq!(delay("a"), Some(Interval::from_seconds(9)));
    assert_eq!(delay("b"), Some(Interval::from_seconds(60)));
    assert_eq!(
        RobotsRules::for_agent(robots.as_bytes(), "b").sitemaps(),
        ["https://a.example/1.xml", "/2.xml"]
    );
    assert!(
        !RobotsRules::for_agent(robots.as_bytes(), "a").judge("/x").allowed,
        "a delay does not end a group"
    );
    for (text, seconds) in
        [("1e99", Some(SERVER_PAUSE_MAX.as_seconds())), ("inf", None), ("NaN", None), ("ten", None)]
    {
        let rules = RobotsRules::for_agent(format!("User-agent: *\nCrawl-delay: {text}").as_bytes(), "x");
        assert_eq!(rules.crawl_delay(), seconds.map(Interval::from_seconds), "{text}");
    }
}

#[test]
fn a_file_is_read_up_to_its_bound_and_a_line_cut_there_is_left_out() {
    let start = "User-agent: *\nDisallow: /\n#";
    let fill = |end: &str| {
        let filler = "x".repeat(ROBOTS_BYTES_MAX - start.len() - 1 - end.len());
        format!("{start}{filler}\n{end}")
    };
    let whole = fill("Allow: /a");
    assert_eq!(whole.len(), ROBOTS_BYTES_MAX);
    check(&whole, "/a", "allowed, line 4: `Allow: /a`");
    check(&format!("{whole}\n"), "/a", "allowed, line 4: `Allow: /a`");
    check(&format!("{whole}/b"), "/a/b", "refused, line 2: `Disallow: /`");
    check(&format!("{whole}\nDisallow: /a/b"), "/a/b", "allowed, line 4: `Allow: /a`");
}

#[test]
fn any_bytes_are_rules_of_some_kind() {
    let mut chance = Chance::new(5);
    let words: [&[u8]; 12] =
        [b"User-agent:", b"Disallow:", b"Allow:", b"*", b"/", b"$", b"%", b"%4", b"\r", b"\n", b"\xff", b"#"];
    for _ in 0..5_000 {
        let count = chance.index(60);
        let bytes: Vec<u8> = (0..count)
            .flat_map(|_| {
                if chance.happens(0.2) {
                    vec![chance.bits().to_le_bytes()[0]]
                } else {
                    chance.pick(&words).to_vec()
                }
            })
            .collect();
        let rules = RobotsRules::for_agent(&bytes, "utsushi");
        let target = String::from_utf8_lossy(&bytes);
        for target in ["", "/", "/%", "/%4", &target] {
            let _ = (rules.judge(target), rules.judge_literal(target));
        }
    }
}

/// Files that fill the bound with rules which cost as much as can be, and a target made for them.
fn costly() -> Vec<(&'static str, String, String)> {
    let target =
        |filler: &str| format!("/{}b{}", "a".repeat(100), filler.repeat(base::limits::URL_BYTES_MAX));
    let target = |filler: &str| target(filler)[..base::limits::URL_BYTES_MAX].to_owned();
    let filled = |rule: &dyn Fn(usize) -> String| {
        let mut file = "User-agent: *\n".to_owned();
        let mut number = 0;
        while file.len() + 20_000 < ROBOTS_BYTES_MAX || file.len() + rule(number).len() < ROBOTS_BYTES_MAX {
            file += &rule(number);
            number += 1;
        }
        file
    };
    let letters = |number: usize| {
        let letter = |n: usize| char::from(b'a' + u8::try_from(n % 26).unwrap());
        format!("{}{}{}", letter(number), letter(number / 26), letter(number / 676))
    };
    vec![
        (
            "one star a rule, the byte at the end",
            filled(&|_| "Disallow: /*c\n".into()),
            target("a") + "/c/x$",
        ),
        ("three stars a rule", filled(&|_| "Disallow: /*a*a*b*b\n".into()), target("a")),
        ("pieces that nearly match", filled(&|_| "Disallow: /*aab*aac\n".into()), target("aa c")),
        ("words", filled(&|n| format!("Disallow: /*{}\n", letters(n))), target("abcdefghijklmnopqrstuvwxyz")),
        ("thousands of stars", filled(&|_| format!("Disallow: /{}b*b\n", "a*".repeat(1_000))), target("a")),
        ("nothing but stars", filled(&|_| format!("Disallow: /{}x\n", "*".repeat(16_000))), target("x")),
        ("two spellings", filled(&|_| "Disallow: /*%41*a*%42\n".into()), target("aA%41")),
        ("plain prefixes", filled(&|n| format!("Disallow: /aaaa{}\n", letters(n))), target("a")),
    ]
}

/// Generous bounds, for the machine may be busy and the code not optimised; the figures are in docs/reference/robots.md.
#[test]
fn survives_wildcards_and_rules_without_end() {
    for (name, file, target) in costly() {
        let time = |work: &mut dyn FnMut()| {
            // The best of a few: the machine may be busy with something else.
            let once = |work: &mut dyn FnMut()| {
                let started = tokio::time::Instant::now();
                work();
                started.elapsed()
            };
            (0..5).map(|_| once(work)).min().unwrap()
        };
        let mut rules = RobotsRules::default();
        let reading = time(&mut || rules = RobotsRules::for_agent(file.as_bytes(), "utsushi"));
        let judging = time(&mut || _ = rules.judge(&target));
        eprintln!("{name}: {} rules read in {reading:?}, a verdict in {judging:?}", rules.rules.len());
        assert!(judging.as_millis() < 200, "{name}: {judging:?}");
        assert!(reading.as_millis() < 3_000, "{name}: {reading:?}");
    }
}

#[test]
fn rules_too_costly_to_judge_refuse_and_ordinary_ones_are_far_from_it() {
    let many = |count| format!("User-agent: *\n{}", "Disallow: /*aab*aac\n".repeat(count));
    let long = format!("/{}", "aa c b".repeat(340));
    check(&many(2_000), &long, "allowed, no rule matches");
    check(&many(20_000), &long, "refused, everything is refused");
    check(&many(20_000), "/an/ordinary/page/about/cabs.html?and=so&on=1", "allowed, no rule matches");
}
