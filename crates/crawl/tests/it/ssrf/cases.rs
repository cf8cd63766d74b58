//! The cases of every route: a seed, what an honest server answers, what names resolve to.

use super::spellings::{self, Spelling};
use super::web::{self, Stage, answer, redirect};
use base::{Interval, PageUrl};
use std::net::IpAddr;

/// How the crawler comes to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// It is a seed.
    Direct,
    /// It is a seed, with an IPv4 address inside an IPv6 one.
    V4InV6,
    /// An honest page links to it.
    Link,
    /// An honest page is a redirect to it.
    Redirect,
    /// An honest robots file is a redirect to it.
    Robots,
    /// An honest robots file is a redirect to the other scheme, for which the name is looked up again.
    RobotsFlip,
    /// A name has it among its addresses.
    Name,
    /// A name has an honest address first, and this one when it is asked for again.
    Flip,
}

impl Route {
    /// How long a walk takes: a changing name changes when its pages are visited again.
    pub(crate) fn time(self) -> Interval {
        if self == Self::Flip { Interval::from_hours(26) } else { Interval::from_hours(1) }
    }
    /// The time between two requests; for changing names longer than answers of the name server are cached.
    pub(crate) fn pause(self) -> Interval {
        if self == Self::RobotsFlip { Interval::from_minutes(2) } else { Interval::from_seconds(10) }
    }
}

/// One walk.
pub(crate) struct Case {
    pub(crate) text: String,
    pub(crate) seed: PageUrl,
    pub(crate) stage: Stage,
    /// A name, and its addresses at every look-up.
    pub(crate) name: Option<(String, Vec<Vec<IpAddr>>)>,
}

/// The cases of a route, and how many spellings they were made from: some are no URL at all, or fit in no field.
pub(crate) fn cases(route: Route) -> (usize, Vec<Case>) {
    match route {
        Route::Direct => spelt(|_| true, |spelling, _| direct(spelling)),
        Route::V4InV6 => spelt(|spelling| spelling.is_v4_in_v6, |spelling, _| direct(spelling)),
        Route::Link => spelt(|_| true, linked),
        Route::Redirect => spelt(
            |_| true,
            |spelling, n| {
                let page = redirect([301, 302, 303, 307, 308][n % 5], &spelling.text);
                honest(spelling, n, Stage { page, ..Stage::default() })
            },
        ),
        Route::Robots => spelt(
            |_| true,
            |spelling, n| {
                let robots = redirect([301, 302, 307, 308][n % 4], &spelling.text);
                honest(spelling, n, Stage { robots, ..Stage::default() })
            },
        ),
        Route::RobotsFlip => {
            let (count, mut cases) = named(|bad, good| vec![vec![vec![good], vec![bad]]]);
            for case in &mut cases {
                let robots = redirect(301, format!("https://{}/robots.txt", case.seed.host()).as_bytes());
                case.stage = Stage { robots, ..Stage::default() };
            }
            (count, cases)
        }
        Route::Name => named(|bad, good| vec![vec![vec![bad]], vec![vec![bad, good]], vec![vec![good, bad]]]),
        Route::Flip => {
            named(|bad, good| vec![vec![vec![good], vec![bad]], vec![vec![good], vec![bad], vec![good]]])
        }
    }
}

fn spelt(
    wanted: impl Fn(&Spelling) -> bool,
    case: impl Fn(&Spelling, usize) -> Option<Case>,
) -> (usize, Vec<Case>) {
    let spellings: Vec<Spelling> = spellings::all().into_iter().filter(wanted).collect();
    let cases = spellings.iter().enumerate().filter_map(|(n, spelling)| case(spelling, n)).collect();
    (spellings.len(), cases)
}

fn direct(spelling: &Spelling) -> Option<Case> {
    let text = String::from_utf8(spelling.text.clone()).ok()?;
    // References that are no whole URL are read as on the first page of an honest server.
    let base = PageUrl::parse("http://good.example/").unwrap();
    let seed = base.join(&text).ok()?;
    Some(Case { text, seed, stage: Stage::default(), name: None })
}

/// A page of an honest server, whose robots file or page is what the stage says.
fn honest(spelling: &Spelling, n: usize, stage: Stage) -> Option<Case> {
    let seed = PageUrl::parse(&format!("http://h{n}.good.example/page")).unwrap();
    let text = String::from_utf8_lossy(&spelling.text).into_owned();
    spelling.is_one_line().then_some(Case { text, seed, stage, name: None })
}

/// A page that leads there by the kinds of link that are followed.
fn linked(spelling: &Spelling, n: usize) -> Option<Case> {
    let [before, after]: [&[u8]; 2] = [
        [&b"<a href=\""[..], b"\">x</a>"],
        [b"<area href=\"", b"\">"],
        [b"<iframe src=\"", b"\">"],
        [b"<base href=\"", b"\"><a href=\"page2\">"],
        [b"<meta http-equiv=refresh content=\"0; url=", b"\">"],
        [b"<link rel=canonical href=\"", b"\">"],
    ][n % 6];
    let page = html(&[before, &spelling.text, after].concat());
    honest(spelling, n, Stage { page, ..Stage::default() })
}

pub(crate) fn html(body: &[u8]) -> Vec<u8> {
    answer(200, "Content-Type: text/html; charset=utf-8\r\n", body)
}

/// Names whose answers are made from every forbidden address and an honest one, some of them by way of an alias.
fn named(answers: impl Fn(IpAddr, IpAddr) -> Vec<Vec<Vec<IpAddr>>>) -> (usize, Vec<Case>) {
    let mut cases = Vec::new();
    for bad in spellings::addresses() {
        for (n, answers) in answers(bad, web::honest()[0]).into_iter().enumerate() {
            let kind = if cases.len() % 3 == 0 { "alias" } else { "name" };
            let name = format!("{kind}{n}-{}-x.bad.example", bad.to_string().replace(['.', ':'], "-"));
            let seed = PageUrl::parse(&format!("http://{name}/")).unwrap();
            let text = format!("{name} at {answers:?}");
            cases.push(Case { text, seed, stage: Stage::default(), name: Some((name, answers)) });
        }
    }
    (cases.len(), cases)
}
