//! What counts as the text of a page, and what as its main text.

use base::PageUrl;
use html::PageText;

fn text(html: &str) -> PageText {
    html::read(
        &PageUrl::parse("http://a.example/").unwrap(),
        Some("text/html; charset=utf-8"),
        html.as_bytes(),
        "u",
    )
    .text
}

#[track_caller]
fn check_shown(html: &str, shown: &str) {
    assert_eq!(text(html).sample, shown, "{html}");
    assert_eq!(text(html).chars, shown.replace('\n', "").chars().count(), "{html}");
}

#[test]
fn what_is_shown_is_the_text() {
    check_shown("<title>no</title><p>One <b>two</b>\n  three<p>four", "One two three\nfour");
    check_shown("a<script>no</script>b<style>no</style>c<!-- no -->d<template>no</template>e", "abcde");
    check_shown("<p hidden>no</p><div hidden>no<div>no</div>no</div>yes", "yes");
    check_shown("<ul><li hidden>no<li>yes</ul>and", "yes\nand");
    check_shown("a&nbsp;&amp;&lt;b&gt;", "a\u{a0}&<b>");
    check_shown("a<br>b<td>c</td>d<xmp><i></xmp>", "a b\nc\nd\n<i>");
    check_shown("<textarea>no</textarea><iframe>no</iframe><noscript>yes</noscript>", "yes");
    check_shown("", "");
}

#[test]
fn white_space_and_markup_do_not_change_the_digest() {
    let plain = text("<p>One two three four</p>");
    let odd = text("<div class=x>\n\t One  <i>two</i>\r\nthree <!-- x --> four\n</div>");
    assert_eq!((plain.digest, plain.main, plain.skeleton), (odd.digest, odd.main, odd.skeleton));
    assert_ne!(plain.digest, text("<p>One two three five</p>").digest);
    assert_eq!(text("<p>  </p><br>").digest, 0);
}

#[test]
fn a_huge_block_is_cut_where_its_folded_text_says() {
    let words = "word ".repeat(50_000);
    let spread = words.replace(' ', " \n ");
    assert_eq!(text(&words).digest, text(&spread).digest);
    assert_eq!(text(&words).chars, words.len() - 1);
}

const BODY: &str = "The public library opens at nine in the morning and closes at six in the evening. On Mondays it is
    closed, and in August it closes an hour earlier, for the staff go swimming in the river near the old bridge.";

/// The main digest of a page of which one part is as given.
fn main_with(part: &str) -> u64 {
    text(&format!("<h1>The library of the town</h1>{part}<p>{BODY}</p><p>{BODY} {BODY}</p>")).main
}

#[test]
fn what_is_around_the_main_text_does_not_change_it() {
    let bare = main_with("");
    for part in [
        "<nav><p>Here are the pages of the library in a long list</nav>",
        "<div class='ad top'>Buy three very cheap umbrellas in our shop today, and one is free</div>",
        "<div id=cookie-notice><div>We use cookies, for we like to know who you are and what you read</div></div>",
        "<p>Last updated: 31 March 2026, 09:00:00</p>",
        "<p>You are visitor number 1,234,567,890</p>",
        "<ul><li><a href=1>One of the many other pages here</a><li><a href=2>Another of the many pages</a></ul>",
        "<footer><p>All rights are reserved by the town and its library, for ever and a day</footer>",
        "<aside><p>Our friends from the other town write about their own library</aside>",
        "<select><option>A choice of very long names of towns and rivers</select>",
        "<noscript>Please switch on the scripts of your browser for this page</noscript>",
        "<p>short</p>",
    ] {
        assert_eq!(main_with(part), bare, "{part}");
    }
    for part in [
        "<p>Tomorrow the library is closed because of the swimming in the river.</p>",
        "<p>明日は図書館が休館です。</p>",
    ] {
        assert_ne!(main_with(part), bare, "{part}");
    }
}

#[test]
fn a_page_that_says_what_its_main_text_is_is_believed() {
    let page = |around: &str, inside: &str| {
        text(&format!(
            "<div><p>{around}</p></div><div class=sidebar><main><p>{BODY}</p><p>{inside}</p></main></div>"
        ))
        .main
    };
    let long = "This long line stands outside of what the page calls its main text.";
    assert_eq!(page(long, BODY), page("", BODY));
    assert_ne!(page(long, BODY), page(long, long));
    let listed = "<a href=x>A page of the list that is the reason for this page</a>";
    assert_ne!(page("", BODY), page("", listed), "links in the main text count");
}

#[test]
fn a_page_without_a_main_text_is_known_by_all_of_it() {
    assert_ne!(text("<nav>one</nav>").main, text("<nav>two</nav>").main);
    assert_eq!(text("<p>short").main, text("<p>short").digest);
    let boxed = |words: &str| text(&format!("<div class=banner><p>{BODY} {words}</p></div>")).main;
    assert_ne!(boxed("one"), boxed("two"), "a page that is all banner");
}

#[test]
fn pages_of_a_calendar_have_one_skeleton() {
    let page = |title: &str, days: u32, text: &str| {
        let cells: String = (1..=days).map(|day| format!("<td><a href=/{day}>{day}</a></td>")).collect();
        self::text(&format!("<h1>{title}</h1><table><tr>{cells}</tr></table><p>{text}</p>")).skeleton
    };
    assert_eq!(page("March 2026", 31, "No events"), page("April 2027", 30, "No events"));
    assert_eq!(page("2026年3月", 31, "予定なし"), page("2027年11月", 30, "予定なし"));
    assert_ne!(page("March 2026", 31, "No events"), page("March 2026", 31, "A fair"));
    assert_eq!(page("x", 1, "see http://a.example/1"), page("x", 1, "see http://a.example/2"));
}
