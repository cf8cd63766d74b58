//! What a snapshot must hold, computed the slow way, compared with the engine.
//!
//! [`oracle`] reads a history forwards and compares every visit with every other, directly by D6 and D7. It shares no
//! code with the engine, which reads backwards with almost no memory. Both answer the same questions on many small
//! random histories, with few instants and contents so that ties are common.

use archive::{Asked, ContentKey, Flag, Recipe, Relation, Relations, Unit, Versions, Visit, Wants, What};
use base::{Chance, Period, Timestamp};

/// One visit of a page, as an index would know it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) at: Timestamp,
    pub(crate) what: What,
    pub(crate) content: Option<u8>,
    pub(crate) status: Option<u16>,
    pub(crate) media_type: &'static str,
}

impl Seen {
    pub(crate) fn flag(&self) -> Flag {
        match self.what {
            What::Changed | What::MovedWithin => Flag::Changed,
            What::Unchanged => Flag::Unchanged,
            What::Gone | What::Error | What::Unanswered => Flag::Error,
        }
    }
}

/// A chosen version: when it begins, when it ends, and which visit of the history began it.
pub(crate) type Chosen = (Timestamp, Timestamp, usize);

/// The versions of one page, its visits given oldest first, that are asked for; in the order of their visits.
pub(crate) fn oracle(history: &[Seen], asked: &Asked) -> Vec<Chosen> {
    let unit = match asked.recipe {
        Some(Recipe::AccessedInAndValidAtEnd) => Unit::Visit,
        Some(Recipe::Vanished) => Unit::Content,
        _ => asked.unit.unwrap_or(Unit::Content),
    };
    (0..history.len()).filter_map(|visit| choose(history, visit, unit, asked)).collect()
}

fn choose(history: &[Seen], visit: usize, unit: Unit, asked: &Asked) -> Option<Chosen> {
    let is_version = match unit {
        Unit::Visit => is_answered(history, visit),
        Unit::Content => begins_content(history, visit) || is_error(history, visit),
    };
    let ended_by = (visit + 1..history.len()).find(|later| {
        if unit == Unit::Visit || is_error(history, visit) {
            is_answered(history, *later)
        } else {
            begins_content(history, *later) || history[*later].what == What::Gone
        }
    });
    let (from, to) = (history[visit].at, ended_by.map_or(Timestamp::MAX, |later| history[later].at));
    let chosen = is_version
        && from < to
        && stands_as_asked(history, visit, ended_by, (from, to), unit, asked)
        && is_of_the_kind(&history[visit], unit, asked);
    chosen.then_some((from, to, visit))
}

fn is_content(history: &[Seen], visit: usize) -> bool {
    matches!(history[visit].what, What::Changed | What::Unchanged)
}

fn is_error(history: &[Seen], visit: usize) -> bool {
    matches!(history[visit].what, What::Gone | What::Error)
}

fn is_answered(history: &[Seen], visit: usize) -> bool {
    is_content(history, visit) || is_error(history, visit)
}

/// The visit whose content this one found before it: the last one that brought any, unless the page was gone since.
fn content_before(history: &[Seen], visit: usize) -> Option<usize> {
    let before = (0..visit).filter(|earlier| is_content(history, *earlier)).max()?;
    let gone_since = (before..visit).any(|between| history[between].what == What::Gone);
    (!gone_since).then_some(before)
}

/// The content of the page at a visit, if it can be known.
fn content_at(history: &[Seen], visit: usize) -> Option<u8> {
    match (history[visit].content, history[visit].what) {
        (None, What::Unchanged) => content_at(history, content_before(history, visit)?),
        (content, _) => content,
    }
}

fn begins_content(history: &[Seen], visit: usize) -> bool {
    if !is_content(history, visit) {
        return false;
    }
    let Some(before) = content_before(history, visit) else { return true };
    match (history[visit].content, content_at(history, before)) {
        (Some(now), Some(then)) => now != then,
        _ => history[visit].what == What::Changed,
    }
}

/// Whether the version has the requested relation to the requested time.
fn stands_as_asked(
    history: &[Seen],
    visit: usize,
    ended_by: Option<usize>,
    (from, to): (Timestamp, Timestamp),
    unit: Unit,
    asked: &Asked,
) -> bool {
    if let Some(at) = asked.at {
        return from <= at && at < to;
    }
    let q = asked.during.unwrap();
    let (q_from, q_to) = (q.from(), q.to());
    let begins_in = q_from <= from && from < q_to;
    let earlier = (0..visit).any(|earlier| is_content(history, earlier));
    match asked.recipe {
        Some(Recipe::AsOf) => unreachable!("asked at a moment"),
        Some(Recipe::AccessedInAndValidAtEnd) => begins_in && q_to <= to,
        Some(Recipe::WholePeriod) => from <= q_from && q_to <= to,
        Some(Recipe::ChangedWithin) => {
            begins_in && earlier && (unit == Unit::Content || history[visit].what == What::Changed)
        }
        Some(Recipe::FirstSeen) => begins_in && !earlier,
        Some(Recipe::Vanished) => {
            q_from <= to && to < q_to && ended_by.is_some_and(|later| history[later].what == What::Gone)
        }
        None => match asked.relations {
            Some(relations) => relations.iter().any(|one| textbook(one, (from, to), (q_from, q_to))),
            None => from < q_to && q_from < to,
        },
    }
}

fn textbook(
    relation: Relation,
    (d, d_plus): (Timestamp, Timestamp),
    (q, q_plus): (Timestamp, Timestamp),
) -> bool {
    match relation {
        Relation::Before => d_plus < q,
        Relation::After => d > q_plus,
        Relation::Meets => d_plus == q,
        Relation::MetBy => d == q_plus,
        Relation::Overlaps => d < q && d_plus > q && d_plus < q_plus,
        Relation::OverlappedBy => d > q && d < q_plus && d_plus > q_plus,
        Relation::Starts => d == q && d_plus < q_plus,
        Relation::StartedBy => d == q && d_plus > q_plus,
        Relation::During => d > q && d_plus < q_plus,
        Relation::Contains => d < q && d_plus > q_plus,
        Relation::Finishes => d > q && d_plus == q_plus,
        Relation::FinishedBy => d < q && d_plus == q_plus,
        Relation::Equals => d == q && d_plus == q_plus,
    }
}

/// Whether the visit that begins the version is of the kind that is asked for.
fn is_of_the_kind(seen: &Seen, unit: Unit, asked: &Asked) -> bool {
    let about_content = asked.changed_since.is_some()
        || matches!(asked.recipe, Some(Recipe::ChangedWithin | Recipe::FirstSeen | Recipe::Vanished));
    let errors_asked = asked.flags.contains(&Flag::Error) || !asked.statuses.is_empty();
    let error_allowed = seen.flag() != Flag::Error || (errors_asked && !about_content);
    let flag = asked.flags.is_empty() || asked.flags.contains(&seen.flag());
    let status = asked.statuses.is_empty() || seen.status.is_some_and(|one| asked.statuses.contains(&one));
    let kind = asked.media_types.is_empty() || asked.media_types.iter().any(|one| one.holds(seen.media_type));
    let since = asked
        .changed_since
        .is_none_or(|since| seen.at >= since && (unit == Unit::Content || seen.what == What::Changed));
    error_allowed && flag && status && kind && since
}

/// What the engine returns, in its order, and whether it asked to skip the rest.
fn engine(
    versions: &mut Versions<usize>,
    history: &[Seen],
    asked: &Asked,
    obey: bool,
) -> (Vec<Chosen>, bool) {
    let choice = asked.clone().check().unwrap();
    let (mut chosen, mut skips) = (Vec::new(), false);
    for (place, seen) in history.iter().enumerate().rev() {
        let visit =
            Visit { at: seen.at, what: seen.what, content: seen.content.map(|byte| ContentKey([byte; 16])) };
        let wants = versions.visit(visit, || place);
        chosen.extend(std::iter::from_fn(|| versions.take()));
        skips |= wants == Wants::SkipRest && place > 0;
        if wants == Wants::SkipRest && obey {
            break;
        }
    }
    versions.end();
    chosen.extend(std::iter::from_fn(|| versions.take()));
    let errors_asked = asked.flags.contains(&Flag::Error) || !asked.statuses.is_empty();
    assert!(errors_asked || chosen.iter().all(|version| !version.is_error), "no errors were requested");
    chosen.retain(|version| {
        let seen = &history[version.payload];
        choice.accepts(seen.flag(), seen.status, seen.media_type)
    });
    let newest_first = |errors: bool| {
        let one_kind = chosen.iter().filter(|version| version.is_error == errors);
        one_kind.map(|version| version.payload).is_sorted_by(|newer, older| newer > older)
    };
    assert!(newest_first(true) && newest_first(false), "each kind comes newest first: {chosen:?}");
    let facts =
        |version: archive::Version<usize>| (version.validity.from(), version.validity.to(), version.payload);
    (chosen.into_iter().map(facts).collect(), skips)
}

fn moment(chance: &mut Chance) -> Timestamp {
    match chance.below(40) {
        0 => Timestamp::MAX,
        _ => Timestamp::from_micros(i64::try_from(chance.below(7)).unwrap()).unwrap(),
    }
}

/// A page's visits, oldest first.
pub(crate) fn random_history(seed: u64) -> Vec<Seen> {
    let chance = &mut Chance::of(&[seed, 1]);
    // In some histories the page is almost never gone, so that long contents appear too.
    let kinds: &[What] = if chance.happens(0.5) {
        &[What::Changed, What::Unchanged, What::Gone, What::Error, What::Unanswered, What::MovedWithin]
    } else {
        &[What::Changed, What::Unchanged, What::Unchanged, What::Error]
    };
    let mut history: Vec<Seen> = (0..chance.below(11))
        .map(|_| {
            let what = kinds[chance.index(kinds.len())];
            let statuses: &[Option<u16>] = match what {
                What::Changed => &[Some(200), Some(302)],
                What::Unchanged => &[Some(304), Some(200)],
                What::Gone => &[Some(404), Some(410)],
                What::Error => &[Some(403), Some(503)],
                What::Unanswered => &[None],
                What::MovedWithin => &[Some(301)],
            };
            let has_content = matches!(what, What::Changed | What::Unchanged) && chance.happens(0.65);
            Seen {
                at: moment(chance),
                what,
                content: has_content.then(|| u8::try_from(chance.below(2)).unwrap()),
                status: statuses[chance.index(statuses.len())],
                media_type: ["text/html", "text/plain", "image/png", ""][chance.index(4)],
            }
        })
        .collect();
    history.sort_by_key(|seen| seen.at);
    history
}

/// Every relation and recipe, unions of relations, the default and a moment, each in both units where that makes
/// sense, on times and with filters of the seed's own.
pub(crate) fn random_questions(seed: u64) -> Vec<Asked> {
    let chance = &mut Chance::of(&[seed, 2]);
    let union: Vec<Relation> = Relation::ALL.into_iter().filter(|_| chance.happens(0.3)).collect();
    let unions = [Relations::new(&union), Relations::ALL];
    let relations = Relation::ALL.map(|one| Relations::new(&[one])).into_iter().chain(unions);
    let mut ways: Vec<(Option<Relations>, Option<Recipe>)> =
        relations.filter(|set| !set.is_empty()).map(|set| (Some(set), None)).collect();
    ways.extend(Recipe::ALL.map(|recipe| (None, Some(recipe))));
    ways.push((None, None));
    let mut questions = Vec::new();
    for (relations, recipe) in ways {
        for unit in [Unit::Content, Unit::Visit] {
            let asked = Asked { relations, recipe, unit: Some(unit), ..random_time(chance, recipe) };
            if recipe.and_then(Recipe::unit).is_none_or(|implied| implied == unit) {
                questions.push(with_filters(chance, asked));
            }
        }
    }
    questions
}

fn random_time(chance: &mut Chance, recipe: Option<Recipe>) -> Asked {
    loop {
        let (one, other) = (moment(chance), moment(chance));
        let other = if chance.happens(0.15) { Timestamp::MAX } else { other };
        if recipe == Some(Recipe::AsOf) && one < Timestamp::MAX {
            return Asked { at: Some(one), ..Asked::default() };
        }
        let during = Period::new(one.min(other), one.max(other));
        if during.is_some() && recipe != Some(Recipe::AsOf) {
            return Asked { during, ..Asked::default() };
        }
    }
}

/// Half of the questions have filters; those that contradict the recipe are left out.
fn with_filters(chance: &mut Chance, asked: Asked) -> Asked {
    let mut filtered = asked.clone();
    match chance.below(10) {
        0 => filtered.flags = vec![Flag::Error],
        1 => filtered.flags = vec![[Flag::Changed, Flag::Unchanged][chance.index(2)], Flag::Error],
        2 => filtered.flags = vec![Flag::Changed],
        3 => filtered.statuses = vec![404, 503, 200],
        4 => filtered.media_types = vec!["text/*".parse().unwrap()],
        _ => {}
    }
    if chance.happens(0.2) {
        filtered.changed_since = Some(moment(chance));
    }
    if filtered.clone().check().is_ok() { filtered } else { asked }
}

#[derive(Default)]
struct Tally {
    questions: u64,
    chosen: u64,
    skipped: u64,
}

#[track_caller]
fn agree(seed: u64, tally: &mut std::collections::BTreeMap<String, Tally>) {
    let history = random_history(seed);
    for asked in random_questions(seed) {
        let mut expected = oracle(&history, &asked);
        let mut versions = Versions::new(&asked.clone().check().unwrap());
        let (mut obeying, skips) = engine(&mut versions, &history, &asked, true);
        let (mut whole, _) = engine(&mut versions, &history, &asked, false);
        for list in [&mut expected, &mut obeying, &mut whole] {
            list.sort_unstable();
        }
        assert_eq!(whole, expected, "seed {seed}: {asked:#?}\n{history:#?}");
        assert_eq!(obeying, expected, "skipping, seed {seed}: {asked:#?}\n{history:#?}");
        let way = asked.recipe.map(|one| one.to_string());
        let way = way.or(asked.relations.map(|set| set.to_string())).unwrap_or_else(|| "default".into());
        let tally = tally.entry(format!("{way} of {:?}", asked.unit)).or_default();
        tally.questions += 1;
        tally.chosen += expected.len() as u64;
        tally.skipped += u64::from(skips);
    }
}

#[test]
fn the_engine_and_the_oracle_agree_on_ten_thousand_histories() {
    let mut tally = std::collections::BTreeMap::new();
    for seed in 0..10_000 {
        agree(seed, &mut tally);
    }
    let names = Relation::ALL.map(|one| one.to_string()).into_iter();
    for way in names.chain(Recipe::ALL.map(|one| one.to_string())) {
        for unit in [Unit::Content, Unit::Visit] {
            let Some(Tally { questions, chosen, skipped }) = tally.get(&format!("{way} of {:?}", Some(unit)))
            else {
                assert!(["vanished", "accessed-in-and-valid-at-end"].contains(&way.as_str()), "{way}");
                continue;
            };
            assert!(*questions >= 10_000 && *chosen > 100, "{way} of {unit}: {chosen} in {questions}");
            assert!(*skipped > 100 || way == "before", "{way} of {unit} never skips");
        }
    }
}

fn as_of(micros: i64) -> Asked {
    Asked { at: Timestamp::from_micros(micros), ..Asked::default() }
}

/// Reads `history`, one visit per microsecond, oldest first: letters are contents (upper case: the visit saw a change),
/// `?` a change to something unknown, `=` unchanged and unknown, `!` gone, `x` another error, `-` no answer, `>` a move
/// within the page.
fn play(history: &str) -> Vec<Seen> {
    let one = |(at, mark): (usize, char)| {
        let what = match mark {
            'A'..='Z' | '?' => What::Changed,
            'a'..='w' | '=' => What::Unchanged,
            '!' => What::Gone,
            'x' => What::Error,
            '-' => What::Unanswered,
            '>' => What::MovedWithin,
            _ => panic!("no such visit: {mark}"),
        };
        let content = mark.is_ascii_alphabetic().then(|| mark.to_ascii_lowercase() as u8);
        let at = Timestamp::from_micros(i64::try_from(at).unwrap()).unwrap();
        Seen { at, what, content, status: None, media_type: "" }
    };
    history.chars().enumerate().map(one).collect()
}

/// Both the oracle and the engine must choose the versions of these visits, `from-to` with `.` forever.
#[track_caller]
fn check(history: &str, asked: &Asked, expected: &str) {
    let history = play(history);
    let mut versions = Versions::new(&asked.clone().check().unwrap());
    let mut found = engine(&mut versions, &history, asked, true).0;
    found.sort_unstable();
    assert_eq!(found, oracle(&history, asked));
    let end = |to: Timestamp| if to == Timestamp::MAX { ".".to_owned() } else { to.as_micros().to_string() };
    let printed: Vec<String> =
        found.iter().map(|(from, to, _)| format!("{}-{}", from.as_micros(), end(*to))).collect();
    assert_eq!(printed.join(" "), expected);
}

fn ever(unit: Unit) -> Asked {
    let during = Period::new(Timestamp::MIN, Timestamp::MAX);
    Asked { during, unit: Some(unit), ..Asked::default() }
}

#[test]
fn contents_last_until_another_or_the_end_of_the_page() {
    check("AaaBbA", &ever(Unit::Content), "0-3 3-5 5-.");
    check("AAA", &ever(Unit::Content), "0-.");
    check("A!", &ever(Unit::Content), "0-1");
    check("A!!A", &ever(Unit::Content), "0-1 3-.");
    check("Ax-aB", &ever(Unit::Content), "0-4 4-.");
    check("A>a>", &ever(Unit::Content), "0-.");
    check("!x->", &ever(Unit::Content), "");
    check("", &ever(Unit::Content), "");
}

#[test]
fn unknown_contents_follow_the_flag_of_the_visit() {
    check("A==aB", &ever(Unit::Content), "0-4 4-.");
    check("A==B=", &ever(Unit::Content), "0-3 3-.");
    check("A=b", &ever(Unit::Content), "0-2 2-.");
    check("==A", &ever(Unit::Content), "0-2 2-.");
    check("==a", &ever(Unit::Content), "0-.");
    check("A??", &ever(Unit::Content), "0-1 1-2 2-.");
    check("?=a", &ever(Unit::Content), "0-.");
    check("A!=a", &ever(Unit::Content), "0-1 2-.");
}

#[test]
fn each_answer_is_a_visit() {
    check("Aa-x>B", &ever(Unit::Visit), "0-1 1-3 5-.");
    check("A!A", &ever(Unit::Visit), "0-1 2-.");
    let errors = |unit| Asked { flags: vec![Flag::Error], ..ever(unit) };
    check("Aa-x>B!", &errors(Unit::Visit), "3-5 6-.");
    check("Aax>aB!", &errors(Unit::Content), "2-4 6-.");
}

#[test]
fn recipes_choose_what_their_names_say() {
    let recipe = |recipe, from, to| {
        let during = Period::new(
            Timestamp::from_micros(from).unwrap(),
            Timestamp::from_micros(to).unwrap_or(Timestamp::MAX),
        );
        Asked { during, recipe: Some(recipe), ..Asked::default() }
    };
    check("AaB", &as_of(1), "0-2");
    check("AaB", &as_of(2), "2-.");
    check("-A!", &as_of(2), "");
    check("AaaB", &recipe(Recipe::AccessedInAndValidAtEnd, 1, 3), "2-3");
    check("AaaB", &recipe(Recipe::WholePeriod, 1, 3), "0-3");
    check("AaaB", &recipe(Recipe::WholePeriod, 1, 4), "");
    check("ABBC", &recipe(Recipe::ChangedWithin, 0, 3), "1-3");
    check("x-AB", &recipe(Recipe::FirstSeen, 1, 4), "2-3");
    check("A!B", &recipe(Recipe::FirstSeen, 1, 4), "");
    check("Aax!!", &recipe(Recipe::Vanished, 3, 4), "0-3");
    check("Aax!!", &recipe(Recipe::Vanished, 4, 5), "");
    check("AaB!", &recipe(Recipe::Vanished, 0, 3), "");
}

#[test]
fn a_walk_stops_where_nothing_older_can_be_chosen() {
    let looked_at = |history: &str, asked: &Asked| {
        let (history, choice) = (play(history), asked.clone().check().unwrap());
        let mut versions = Versions::new(&choice);
        let one = |seen: &Seen| Visit {
            at: seen.at,
            what: seen.what,
            content: seen.content.map(|byte| ContentKey([byte; 16])),
        };
        let more = history.iter().rev().take_while(|seen| versions.visit(one(seen), || ()) == Wants::Older);
        more.count() + 1
    };
    let visits = |asked| Asked { unit: Some(Unit::Visit), ..asked };
    assert_eq!(looked_at("AAAAAAAA", &visits(as_of(5))), 3, "two later ones, and the one that was valid");
    assert_eq!(looked_at("ABCDEFGH", &as_of(5)), 4, "one more, which shows where it begins");
    assert_eq!(looked_at("ABC!EFGH", &as_of(3)), 5, "the page was gone");
    let begun = Asked { changed_since: Timestamp::from_micros(6), ..as_of(7) };
    assert_eq!(looked_at("ABCDEFGH", &begun), 2, "a version complete");
}
