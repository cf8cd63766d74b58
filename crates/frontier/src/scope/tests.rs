use super::*;

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text).unwrap()
}

fn scope(mode: Mode, seeds: &[&str], rules: &[&str]) -> CrawlScope {
    let rules = rules.iter().map(|rule| rule.parse().unwrap()).collect();
    let mut scope = CrawlScope::new(mode, rules);
    seeds.iter().for_each(|seed| scope.add_seed(&url(seed)));
    scope
}

#[track_caller]
fn visits(scope: &CrawlScope, urls: &[&str]) {
    for text in urls {
        assert_eq!(scope.judge(&url(text)), ScopeVerdict::Visit { priority: 0 }, "{text}");
    }
}

#[track_caller]
fn leaves(scope: &CrawlScope, because: &str, urls: &[&str]) {
    for text in urls {
        assert_eq!(scope.judge(&url(text)), ScopeVerdict::Leave(because.to_owned()), "{text}");
    }
}

#[test]
fn the_mode_decides_how_far_a_crawl_goes_from_its_seeds() {
    let seeds = ["https://www.example.co.jp/docs/intro.html", "http://127.0.0.1:8080/a/"];
    let server = scope(Mode::Server, &seeds, &[]);
    visits(
        &server,
        &[
            "http://www.example.co.jp/",
            "https://WWW.example.co.jp.:443/x",
            "http://127.0.0.1:8080/",
            "http://example.co.jp/",
        ],
    );
    let because = "it is outside the servers of the seeds (`--scope server`)";
    leaves(
        &server,
        because,
        &["http://a.example.co.jp/", "http://www.example.co.jp:81/", "http://127.0.0.1/", "http://www.jp/"],
    );

    let domain = scope(Mode::Domain, &seeds, &[]);
    visits(&domain, &["http://a.b.example.co.jp:81/", "http://example.co.jp/", "http://127.0.0.1:8080/"]);
    let because = "it is outside the domains of the seeds (`--scope domain`)";
    leaves(&domain, because, &["http://other.co.jp/", "http://co.jp/", "http://127.0.0.2:8080/"]);

    let prefix = scope(Mode::Prefix, &seeds, &[]);
    visits(&prefix, &["http://www.example.co.jp/docs/", "http://www.example.co.jp/%64ocs/x?y"]);
    let because = "it does not begin like a seed (`--scope prefix`)";
    leaves(
        &prefix,
        because,
        &["http://www.example.co.jp/", "http://www.example.co.jp/docs", "http://127.0.0.1:8080/b"],
    );

    visits(&scope(Mode::Any, &[], &[]), &["http://anywhere.example/"]);
    leaves(&scope(Mode::Server, &[], &[]), Mode::Server.refusal(), &["http://anywhere.example/"]);
}

#[test]
fn a_rule_matches_what_it_names() {
    let one = |rule: &str| scope(Mode::Any, &[], &[rule]);
    let rule = "never visit server ads.example.jp";
    leaves(&one(rule), rule, &["https://ads.example.jp/x", "http://ADS.example.jp/"]);
    visits(&one(rule), &["http://ads.example.jp:81/", "http://x.ads.example.jp/"]);

    let rule = "never visit domain example.com";
    leaves(&one(rule), rule, &["http://example.com:81/", "https://a.b.example.com/"]);
    visits(&one(rule), &["http://myexample.com/", "http://example.com.org/", "http://com/"]);

    let rule = "never visit prefix example.jp/private/";
    leaves(
        &one("never visit prefix https://example.jp/private/"),
        rule,
        &["http://example.jp/%70rivate/x?y"],
    );
    visits(
        &one(rule),
        &["http://example.jp/private", "http://www.example.jp/private/", "http://example.jp:81/private/"],
    );
    leaves(&one("never visit prefix example.jp"), "never visit prefix example.jp/", &["http://example.jp/"]);

    let rule = "never visit path containing /cgi-bin/";
    leaves(
        &one(rule),
        rule,
        &["http://a.jp/x/cgi-bin/y", "http://a.jp/%63gi-bin/", "http://a.jp/?u=/cgi-bin/"],
    );
    visits(&one(rule), &["http://a.jp/cgi-bin", "http://cgi-bin/"]);

    let rule = "never visit ending .zip";
    leaves(&one(rule), rule, &["http://a.jp/x.zip", "http://a.jp/x.ZIP?v=1"]);
    visits(&one(rule), &["http://a.jp/x.zip/", "http://a.jp/?x.zip", "http://a.zip/"]);
}

#[test]
fn the_first_rule_that_matches_decides() {
    let rules = [
        "also visit prefix http://other.example/shared/",
        "never visit domain example",
        "visit first path containing /news/",
        "visit last ending .pdf",
        "never visit server b.jp",
    ];
    let scope = scope(Mode::Server, &["http://a.jp/", "http://b.jp/"], &rules);
    visits(&scope, &["http://other.example/shared/x", "http://a.jp/"]);
    leaves(&scope, "never visit domain example", &["http://other.example/"]);
    leaves(&scope, "never visit server b.jp", &["http://b.jp/"]);
    leaves(&scope, Mode::Server.refusal(), &["http://c.jp/news/"]);
    assert_eq!(scope.judge(&url("http://b.jp/news/x.pdf")), ScopeVerdict::Visit { priority: FIRST });
    assert_eq!(scope.judge(&url("http://a.jp/x.pdf")), ScopeVerdict::Visit { priority: LAST });
}

#[test]
fn the_rules_with_only_count_together() {
    let rules = [
        "also visit server wiki.example.org",
        "only visit domain jp",
        "only visit ending .html",
        "never visit server c.jp",
    ];
    let scope = scope(Mode::Any, &[], &rules);
    visits(&scope, &["http://a.jp/", "http://b.com/x.html", "http://wiki.example.org/"]);
    leaves(&scope, "only visit domain jp or ending .html", &["http://b.com/x.gif"]);
    leaves(&scope, "never visit server c.jp", &["http://c.jp/"]);
}

#[test]
fn a_rule_is_shown_as_it_is_read() {
    for text in [
        "never visit server ads.example.jp:8080",
        "only visit domain jp",
        "also visit prefix example.jp/a?b=%20",
        "visit first path containing ?page=",
        "visit last ending .tar.gz",
    ] {
        let rule: Rule = text.parse().unwrap();
        assert_eq!((rule.to_string(), rule.to_string().parse()), (text.to_owned(), Ok(rule)));
    }
    let loose: Rule = "  Never  VISIT server  Ads.Example.JP. ".parse().unwrap();
    assert_eq!(loose.to_string(), "never visit server ads.example.jp");
}

#[track_caller]
fn refused(text: &str, why: &str, nearest: &str) {
    let error = text.parse::<Rule>().unwrap_err().to_string();
    assert!(error.contains(why) && error.contains(&format!("such as `{nearest}`")), "{error}");
}

#[test]
fn an_invalid_rule_gets_the_nearest_sentence_as_advice() {
    let unknown = "its words are unknown";
    refused("never vist server ads.example.jp", unknown, "never visit server ads.example.jp");
    refused("visit never domain a.jp", unknown, "never visit domain a.jp");
    refused("only visit suffix jp", unknown, "only visit prefix jp");
    refused("never visit path /cgi-bin/", unknown, "never visit path containing /cgi-bin/");
    refused("", unknown, "only visit path containing /cgi-bin/");
    refused("never visit server", "something is missing", "never visit server www.example.jp");
    refused("never visit server a.jp b.jp", "too much", "never visit server a.jp");
    refused("never visit server a/b", "names no server", "never visit server www.example.jp");
    refused("never visit domain a.jp:80x", "names no domain", "never visit domain example.jp");
    refused("never visit domain a.jp:81", "no port", "never visit domain example.jp");
    refused("never visit domain 192.0.2.1", "no domain", "never visit domain example.jp");
    refused(
        "never visit prefix ftp://a.jp/",
        "only http and https",
        "never visit prefix https://example.jp/news/",
    );
    refused(
        "never visit prefix http:///x",
        "no URL begins with this",
        "never visit prefix https://example.jp/news/",
    );
    refused("never visit ending a/b", "the end of a path", "never visit ending .zip");
    assert!("\u{1b}[2J".repeat(1000).parse::<Rule>().unwrap_err().to_string().len() < 4000);
}

#[test]
fn requisites_may_be_anywhere_unless_a_rule_forbids_them() {
    let rules = ["never visit server ads.jp", "only visit ending .html", "visit last server b.jp"];
    let mut scope = CrawlScope::new(Mode::Server, rules.iter().map(|rule| rule.parse().unwrap()).collect());
    scope.add_seed(&url("http://a.jp/"));
    let judge = |text| scope.judge_requisite(&url(text));
    assert_eq!(judge("http://a.jp/x.png"), ScopeVerdict::Visit { priority: 0 });
    assert_eq!(judge("http://c.jp/x.png"), ScopeVerdict::Visit { priority: 0 });
    assert_eq!(judge("http://b.jp/x.png"), ScopeVerdict::Visit { priority: LAST });
    assert_eq!(judge("http://ads.jp/x.html"), ScopeVerdict::Leave("never visit server ads.jp".to_owned()));
}

#[test]
fn ten_thousand_rules_cost_a_few_look_ups() {
    let rules = (0..10_000).map(|n| format!("never visit server s{n}.jp").parse().unwrap()).collect();
    let scope = CrawlScope::new(Mode::Any, rules);
    leaves(&scope, "never visit server s9999.jp", &["http://s9999.jp/"]);
    visits(&scope, &["http://s10000.jp/"]);
}
