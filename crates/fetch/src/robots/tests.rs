use super::*;
use base::Chance;

#[track_caller]
fn check(robots: &str, target: &str, expected: &str) {
    let rules = Rules::for_agent(robots.as_bytes(), "utsushi");
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
    assert!(Rules::allow_all().judge("/").allowed);
    let refused = Rules::refuse_all();
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
    let delay = |agent| Rules::for_agent(robots.as_bytes(), agent).crawl_delay();
    assert_eq!(delay("utsushi"), Some(Interval::from_millis(500)));
    assert_eq!(delay("a"), Some(Interval::from_seconds(9)));
    assert_eq!(delay("b"), Some(Interval::from_seconds(60)));
    assert_eq!(Rules::for_agent(robots.as_bytes(), "b").sitemaps(), ["https://a.example/1.xml", "/2.xml"]);
    assert!(!Rules::for_agent(robots.as_bytes(), "a").judge("/x").allowed, "a delay does not end a group");
    for (text, seconds) in
        [("1e99", Some(SERVER_PAUSE_MAX.as_seconds())), ("inf", None), ("NaN", None), ("ten", None)]
    {
        let rules = Rules::for_agent(format!("User-agent: *\nCrawl-delay: {text}").as_bytes(), "x");
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
        let rules = Rules::for_agent(&bytes, "utsushi");
        let target = String::from_utf8_lossy(&bytes);
        for target in ["", "/", "/%", "/%4", &target] {
            let _ = (rules.judge(target), rules.judge_literal(target));
        }
    }
}

/// Generous bounds: what they catch takes minutes, not milliseconds.
#[test]
fn survives_wildcards_and_rules_without_end() {
    let stars = format!("User-agent: *\nDisallow: /{}b\n", "a*".repeat(60));
    let path = format!("/{}", "a".repeat(4_096));
    let took = |robots: &str| {
        let started = tokio::time::Instant::now();
        assert!(Rules::for_agent(robots.as_bytes(), "utsushi").judge(&path).allowed);
        started.elapsed()
    };
    // The best of a few: the machine may be busy with something else.
    let stars_took = (0..5).map(|_| took(&stars)).min().unwrap();
    assert!(stars_took.as_millis() < 50, "60 stars took {stars_took:?}");
    let many = format!("User-agent: *\n{}", "Disallow: /*a*a*b\n".repeat(27_000));
    let many_took = took(&many);
    assert!(many_took.as_secs() < 5, "27,000 rules took {many_took:?}");
}
