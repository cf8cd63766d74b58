//! Fragments of pages as they are found on the web: what changes by itself, and what an author changed.
//!
//! Every fragment stands in four pages: one with `main`, one with an `article`, one of `div`s and one of tables.

use base::PageUrl;

const ENGLISH: &str = "<p>The public library of the town opens at nine in the morning and closes at six in the evening. On
    Mondays it is closed, and in August it closes an hour earlier.</p><p>Readers may take home five books at a time, for
    three weeks, and ask for more time at the desk or by letter.</p><h2>The reading room</h2><p>There are forty chairs in
    the reading room, and a fire is lit in winter.</p>";
const JAPANESE: &str = "<p>町の図書館は朝九時に開き、夕方六時に閉まります。月曜日は休館で、八月は一時間早く閉まります。</p><p>本は一度に五冊
    まで、三週間借りることができます。延長は窓口か手紙でお申し込みください。</p><h2>閲覧室</h2><p>閲覧室には椅子が四十脚あり、
    冬には暖炉に火が入ります。</p>";

fn main_of(html: &str) -> u64 {
    let url = PageUrl::parse("http://a.example/").unwrap();
    html::read(&url, Some("text/html; charset=utf-8"), html.as_bytes(), "u").text.main
}

/// A page in each of four forms.
fn pages(fragment: &str, body: &str) -> [String; 4] {
    let menu = "<a href=/>Home</a> <a href=/books>Books</a> <a href=/about>About us</a>";
    [
        format!(
            "<header><nav>{menu}</nav></header><main><h1>The library</h1>{fragment}{body}</main><footer>Town</footer>"
        ),
        format!(
            "<div id=top>{menu}</div><article><header><h1>The library</h1></header>{body}{fragment}</article>"
        ),
        format!("<div class=menu>{menu}</div><div id=content><h1>The library</h1>{body}{fragment}</div>"),
        format!("<table><tr><td>{menu}<td><b>The library</b>{fragment}{body}</table>"),
    ]
}

/// Nothing but noise changed.
#[track_caller]
fn check_noise(before: &str, after: &str) {
    for body in [ENGLISH, JAPANESE] {
        for (one, other) in pages(before, body).iter().zip(&pages(after, body)) {
            assert_eq!(main_of(one), main_of(other), "{one}\n{other}");
        }
    }
}

/// The text changed.
#[track_caller]
fn check_text(before: &str, after: &str) {
    for body in [ENGLISH, JAPANESE] {
        for (one, other) in pages(before, body).iter().zip(&pages(after, body)) {
            assert_ne!(main_of(one), main_of(other), "{one}\n{other}");
        }
    }
}

#[test]
fn dates_of_the_page_itself_are_noise() {
    check_noise("<p>Last updated: 3 March 2026</p>", "<p>Last updated: 14 November 2026</p>");
    check_noise(
        "<p>This page was last updated on Tuesday, 3 March 2026 at 10:15 by the web team.</p>",
        "<p>This page was last updated on Wednesday, 4 November 2026 at 09:02 by the web team.</p>",
    );
    check_noise(
        "<div>Posted by Anna on Mar 3, 2026 9:05 AM</div>",
        "<div>Posted by Anna on Apr 12, 2026 11:35 PM</div>",
    );
    check_noise("<p>最終更新日：2026年3月3日（火）</p>", "<p>最終更新日：2026年11月14日（土）</p>");
    check_noise(
        "<p>このページは2026年3月3日に更新されました。</p>",
        "<p>このページは2026年12月10日に更新されました。</p>",
    );
    check_noise("<p>令和8年3月3日　午前9時5分現在</p>", "<p>令和8年3月14日　午後11時45分現在</p>");
    check_noise("<p>Today is Tuesday, March 3, 2026</p>", "<p>Today is Wednesday, March 4, 2026</p>");
    check_noise("<time datetime=2026-03-03>2026-03-03</time>", "<time datetime=2026-03-04>2026-03-04</time>");
    check_noise(
        "<p>Page generated in 0.042 seconds with 12 queries</p>",
        "<p>Page generated in 1.3 seconds with 9 queries</p>",
    );
}

#[test]
fn ages_are_noise() {
    check_noise("<p>3 minutes ago</p>", "<p>2 hours ago</p>");
    check_noise("<p>Posted 5 days ago by Anna</p>", "<p>Posted a week ago by Anna</p>");
    check_noise("<p>Updated just now</p>", "<p>Updated an hour ago</p>");
    check_noise("<p>3分前</p>", "<p>2時間前</p>");
    check_noise("<li>昨日</li>", "<li>3日前</li>");
}

#[test]
fn counters_are_noise() {
    check_noise("<p>1,234 views</p>", "<p>1,302 views</p>");
    check_noise(
        "<p>You are visitor number 0012345 since 1998</p>",
        "<p>You are visitor number 0012399 since 1998</p>",
    );
    check_noise(
        "<div>Read by 1.2K people · 34 comments</div>",
        "<div>Read by 1.3K people · 35 comments</div>",
    );
    check_noise(
        "<p>There are currently 12 visitors online on this site</p>",
        "<p>There are currently 7 visitors online on this site</p>",
    );
    check_noise("<p>あなたは012345人目の訪問者です</p>", "<p>あなたは012399人目の訪問者です</p>");
    check_noise("<p>閲覧数：1,234　いいね：56</p>", "<p>閲覧数：1,301　いいね：60</p>");
    check_noise("<p>12,345回再生</p>", "<p>13,001回再生</p>");
}

#[test]
fn adverts_notices_and_lists_around_the_text_are_noise() {
    check_noise(
        "<div class='ad-slot top'><p>Three umbrellas for the price of two, only in our shop</p></div>",
        "<div class='ad-slot top'><p>Fly to the sea for less than a dinner, book before Friday</p></div>",
    );
    check_noise(
        "<div id=cookie-banner><p>We use cookies to make this site work and to see who reads it.</p></div>",
        "<div id=cookie-banner><p>This site uses cookies. Read more about what we keep of you here.</p></div>",
    );
    check_noise(
        "<section class='related-posts'><h3>Related</h3><ul><li><a href=/1>A bridge that was never built at all</a></ul></section>",
        "<section class='related-posts'><h3>Related</h3><ul><li><a href=/2>What became of the old town mill</a></ul></section>",
    );
    check_noise(
        "<div class=recommended><p>Others also read a long story about a ship and its cat</p></div>",
        "<div class=recommended><p>Others also read how to mend a roof in the rain alone</p></div>",
    );
    check_noise(
        "<aside><article><h3>A card about something else entirely</h3></article></aside>",
        "<aside><article><h3>Another card about yet another thing here</h3></article></aside>",
    );
    check_noise(
        "<p>&copy; 2004-2025 The Library of the Town. All rights reserved.</p>",
        "<p>&copy; 2004-2026 The Library of the Town. All rights reserved.</p>",
    );
    check_noise(
        "<form><input type=hidden name=csrf value=aaaa><label>Search the catalogue of the library</label></form>",
        "<form><input type=hidden name=csrf value=bbbb><label>Search the catalogue of the library</label></form>",
    );
    check_noise(
        "<p><a href='/x?sid=1'>A very long name of a page that is linked</a></p>",
        "<p><a href='/x?sid=2'>A very long name of a page that is linked</a></p>",
    );
    check_noise(
        "<div class=pr-box><!-- x1 --><script>var a=1</script></div>",
        "<div class='pr-box b'><!-- x2 --><script>var a=2</script></div>",
    );
}

#[test]
fn what_an_author_changes_is_text() {
    check_text(
        "<p>The library is closed on Friday because of the fair.</p>",
        "<p>The library is closed on Saturday because of the fair.</p>",
    );
    check_text("", "<p>A new reading room is opened behind the bridge.</p>");
    check_text(
        "<p>図書館は明日休館です。ご注意ください。</p>",
        "<p>図書館は明後日休館です。ご注意ください。</p>",
    );
    check_text(
        "<p>A ticket for the concert in the garden costs 12 crowns.</p>",
        "<p>A ticket for the concert in the garden costs 15 crowns.</p>",
    );
    check_text(
        "<p>The council meets on 3 March in the great hall of the town.</p>",
        "<p>The council meets on 10 March in the great hall of the town.</p>",
    );
    check_text(
        "<p>会議は3月3日に大会議室で開かれます。お集まりください。</p>",
        "<p>会議は3月10日に大会議室で開かれます。お集まりください。</p>",
    );
}

/// A page of a line or two has no text that is longer than its surroundings.
#[test]
fn small_pages_are_known_by_what_is_not_noise() {
    let page = |around: &str, line: &str| {
        main_of(&format!("<div class=ad>{around}</div><h1>The tower</h1><p>{line}</p>"))
    };
    let closed = "Closed for repairs. Updated: 3 March 2026";
    assert_eq!(page("Umbrellas", closed), page("Oranges", "Closed for repairs. Updated: 12 May 2026"));
    assert_eq!(page("", "1,234 views"), page("", "1,301 views"));
    assert_ne!(page("", "Closed for repairs"), page("", "Open again"));
    assert_ne!(page("", "Water: 12 feet"), page("", "Water: 15 feet"));
    assert_ne!(main_of("<p>12"), main_of("<p>13"));
}

/// An anchor that is a name is no link, and one that is never closed makes none of what follows.
#[test]
fn names_of_places_are_no_links() {
    let page = |text: &str| {
        let others = "<p><a href=/x>One of the pages that are found beside this one</a></p>".repeat(2);
        main_of(&format!("<a name=top><h1>The library</h1>{others}{ENGLISH}<p>{text}</p>"))
    };
    assert_ne!(page("The library is closed on Friday."), page("The library is closed on Monday."));
    assert_eq!(page(""), page("<a href=/1>A link that stands in a paragraph of its own</a>"));
}

/// Where a page says what its text is, short lines of it count too.
#[test]
fn headlines_and_items_of_the_main_text_are_text() {
    let in_core = |fragment: &str| {
        pages(fragment, ENGLISH).into_iter().take(2).map(|page| main_of(&page)).collect::<Vec<_>>()
    };
    for (before, after) in [
        ("<h2>Spring fair</h2>", "<h2>Autumn fair</h2>"),
        ("<ul><li>Bread<li>Milk</ul>", "<ul><li>Bread<li>Milk<li>Tea</ul>"),
        ("<ul><li><a href=1>One</a></ul>", "<ul><li><a href=1>One</a><li><a href=2>Two</a></ul>"),
        ("<p>休館日</p>", "<p>開館日</p>"),
    ] {
        let pairs = in_core(before).into_iter().zip(in_core(after));
        assert!(pairs.into_iter().all(|(one, other)| one != other), "{before} {after}");
    }
}

/// The front page of a newspaper is links, and they are what it is there for.
#[test]
fn a_page_of_headlines_is_known_by_them() {
    let front = |headline: &str| {
        let others: String = (0..12)
            .map(|n| format!("<div><a href=/{n}>Something that happened in town number {n} today</a></div>"))
            .collect();
        main_of(&format!("<div class=nav>Home</div><div><a href=/x>{headline}</a></div>{others}<div><p>The paper of the town, which comes out
            every morning and is read by everybody who lives between the river and the old bridge.</p></div>"))
    };
    assert_ne!(
        front("A ship has come in at last, with oranges"),
        front("The mill by the river is to be built anew")
    );
}
