//! Words for the pages of the simulated web: titles, sentences and paragraphs in Japanese and English.
//!
//! A seed picks a topic, a place, a thing and a person, and every sentence of a paragraph keeps to them, so that
//! language detection, sentence splitting, near-duplicates and word statistics see something like real prose. Ordinary
//! synonyms (図書館 and ライブラリー, car and automobile) occur across texts.
//!
//! The lowest 8 bits of a seed do not affect topic, place and register: `page_seed ^ 0`, `page_seed ^ 1` … give the
//! paragraphs of one page. Title and paragraph of the same seed share thing and person too.
//!
//! **Invariant:** the text needs no HTML escaping; English is ASCII, and Japanese stays inside JIS X 0208, so
//! that `Shift_JIS`, EUC-JP and ISO-2022-JP can carry it.

mod english;
mod japanese;

use base::chance::{Chance, mix};

/// The language of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextLanguage {
    /// 日本語.
    Japanese,
    /// English.
    English,
}

impl TextLanguage {
    /// The code that stands in `lang` and `Content-Language`.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Japanese => "ja",
            Self::English => "en",
        }
    }
    fn tongue(self) -> &'static Tongue {
        match self {
            Self::Japanese => &japanese::TONGUE,
            Self::English => &english::TONGUE,
        }
    }
}

/// Appends the title of a page.
pub fn title(out: &mut String, language: TextLanguage, seed: u64) {
    Scene::new(language, seed).one_of(out, language.tongue().titles);
}

/// Appends the name of a web site.
pub fn site_name(out: &mut String, language: TextLanguage, seed: u64) {
    Scene::new(language, seed).one_of(out, language.tongue().site_names);
}

/// Appends a short advertisement.
pub fn advert(out: &mut String, language: TextLanguage, seed: u64) {
    Scene::new(language, seed).one_of(out, language.tongue().adverts);
}

/// Appends one sentence that can stand alone.
pub fn sentence(out: &mut String, language: TextLanguage, seed: u64) {
    let mut scene = Scene::new(language, seed);
    let lines = match scene.chance.below(8) {
        0..=2 => scene.tongue.openers,
        3..=5 => scene.topic.facts,
        6 => scene.tongue.bodies,
        _ => scene.tongue.closers,
    };
    let line = scene.chance.pick(lines);
    scene.say(out, "", line);
}

/// Appends a paragraph of `sentences` sentences.
pub fn paragraph(out: &mut String, language: TextLanguage, seed: u64, sentences: usize) {
    let mut scene = Scene::new(language, seed);
    let mut used = UsedLines::default();
    for nth in 0..sentences {
        if nth > 0 {
            out.push_str(scene.tongue.gap);
        }
        let (link, line) = scene.next_line(&mut used, nth, sentences);
        scene.say(out, link, line);
    }
}

/// Maximum number of sections of a site.
pub const SECTIONS: usize = 12;

/// The path name and the label of a section; numbers from [`SECTIONS`] on start over.
#[must_use]
pub fn section(language: TextLanguage, n: usize) -> (&'static str, &'static str) {
    language.tongue().sections[n % SECTIONS]
}

/// Appends a date with its weekday, as shown under a headline.
pub fn date_line(
    out: &mut String,
    language: TextLanguage,
    year: impl Into<i64>,
    month: impl Into<i64>,
    day: impl Into<i64>,
) {
    let (year, month, day) = (year.into(), month.into(), day.into());
    let tongue = language.tongue();
    let month_name = tongue.months[place_in(month - 1, 12)];
    let weekday = tongue.weekdays[weekday(year, month, day)];
    match language {
        TextLanguage::Japanese => {
            push_number(out, year.unsigned_abs());
            out.push('年');
            out.push_str(month_name);
            push_number(out, day.unsigned_abs());
            out.push_str("日（");
            out.extend(weekday.chars().next());
            out.push('）');
        }
        TextLanguage::English => {
            out.push_str(weekday);
            out.push_str(", ");
            push_number(out, day.unsigned_abs());
            out.push(' ');
            out.push_str(month_name);
            out.push(' ');
            push_number(out, year.unsigned_abs());
        }
    }
}

/// The day of the week, from Monday (Sakamoto's method).
fn weekday(year: i64, month: i64, day: i64) -> usize {
    const SHIFT: [i64; 12] = [0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4];
    let year = if month < 3 { year - 1 } else { year };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    place_in(year + leaps + SHIFT[place_in(month - 1, 12)] + day + 6, 7)
}

fn place_in(value: i64, length: i64) -> usize {
    usize::try_from(value.rem_euclid(length)).expect("a remainder is small and not negative")
}

/// A word: its stem and its endings.
///
/// The endings of an English noun are singular and plural; of an English verb: plain, third person, past, -ing,
/// participle; of a Japanese verb: before ます, dictionary, て, た, passive before ます.
#[derive(Clone, Copy, Debug)]
struct Word(&'static str, &'static [&'static str; 5]);

/// A sentence with slots: the body, then how it ends politely, then how it ends plainly.
///
/// A slot is `$` and one letter; [`Scene::fill`] says what each stands for.
type Line = (&'static str, &'static str, &'static str);

/// What a paragraph can be about. Every verb goes with every thing.
struct Topic {
    label: &'static str,
    things: &'static [Word],
    verbs: &'static [Word],
    qualities: &'static [&'static str],
    groups: &'static [&'static str],
    roles: &'static [&'static str],
    spots: &'static [&'static str],
    aspects: &'static [&'static str],
    events: &'static [&'static str],
    /// Sentences of this topic only.
    facts: &'static [Line],
}

/// All lines and words of one language. A list of lines has at most 64.
struct Tongue {
    topics: &'static [Topic],
    /// Sentences that begin a paragraph, carry it on, answer the one before, and end it.
    openers: &'static [Line],
    bodies: &'static [Line],
    followers: &'static [Line],
    closers: &'static [Line],
    /// Connectives that join a body to the sentence before.
    links: &'static [&'static str],
    /// The separator between sentences.
    gap: &'static str,
    titles: &'static [&'static str],
    site_names: &'static [&'static str],
    adverts: &'static [&'static str],
    places: [&'static [&'static str]; 2],
    families: &'static [&'static str],
    givens: &'static [&'static str],
    audiences: &'static [&'static str],
    past: &'static [&'static str],
    future: &'static [&'static str],
    feelings: &'static [&'static str],
    /// From Monday.
    weekdays: [&'static str; 7],
    months: [&'static str; 12],
    /// From two to nine.
    few: [&'static str; 8],
    sections: [(&'static str, &'static str); SECTIONS],
}

/// The lines that a paragraph has used already.
#[derive(Default)]
struct UsedLines {
    /// A bit for each line of each list.
    lines: [u64; 5],
    /// The list of the sentence before.
    last: usize,
}

/// The indexes of the lists in [`UsedLines`].
const OPENERS: usize = 0;
const FACTS: usize = 1;
const BODIES: usize = 2;
const FOLLOWERS: usize = 3;
const CLOSERS: usize = 4;

/// What the sentences of a paragraph have in common, and the stream their other words come from.
struct Scene {
    chance: Chance,
    tongue: &'static Tongue,
    topic: &'static Topic,
    polite: bool,
    place: [&'static str; 2],
    thing: usize,
    group: &'static str,
    role: &'static str,
    family: &'static str,
    given: &'static str,
    /// The other thing and the verb of the current sentence.
    other: usize,
    verb: Word,
}

impl Scene {
    fn new(language: TextLanguage, seed: u64) -> Self {
        let tongue = language.tongue();
        let mut page = Chance::new(seed >> 8);
        let mut chance = Chance::new(mix(seed));
        let topic = page.pick(tongue.topics);
        Self {
            polite: page.below(5) < 3,
            place: tongue.places.map(|part| one(&mut page, part)),
            thing: chance.index(topic.things.len()),
            group: one(&mut chance, topic.groups),
            role: one(&mut chance, topic.roles),
            family: one(&mut chance, tongue.families),
            given: one(&mut chance, tongue.givens),
            other: 0,
            verb: topic.verbs[0],
            chance,
            tongue,
            topic,
        }
    }

    fn one_of(&mut self, out: &mut String, templates: &'static [&'static str]) {
        let template = one(&mut self.chance, templates);
        self.say(out, "", &(template, "", ""));
    }

    /// The line for the `nth` sentence, an unused one if possible, and the connective in front of it.
    fn next_line(
        &mut self,
        used: &mut UsedLines,
        nth: usize,
        sentences: usize,
    ) -> (&'static str, &'static Line) {
        let list = match (nth, self.chance.below(20)) {
            (0, 0..=14) => OPENERS,
            (_, 0..=9) if nth > 1 && nth + 1 == sentences => CLOSERS,
            (0, _) | (_, 0..=6) => FACTS,
            (_, 15..) if used.last != FOLLOWERS => FOLLOWERS,
            _ => BODIES,
        };
        let tongue = self.tongue;
        let lists = [tongue.openers, self.topic.facts, tongue.bodies, tongue.followers, tongue.closers];
        let all_told = used.lines[list].count_ones() as usize == lists[list].len();
        let list = if all_told { BODIES } else { list };
        let lines = lists[list];
        used.last = list;
        let linked = list == BODIES && nth > 1 && self.chance.below(3) == 0;
        let link = if linked { one(&mut self.chance, tongue.links) } else { "" };
        (link, &lines[self.untold(&mut used.lines[list], lines.len())])
    }

    fn untold(&mut self, used: &mut u64, length: usize) -> usize {
        let start = self.chance.index(length);
        let free = |line: &usize| *used & (1 << line) == 0;
        let line = (start..length).chain(0..start).find(free).unwrap_or(start);
        *used |= 1 << line;
        line
    }

    /// Appends a line in the register of the scene, its first letter a capital.
    fn say(&mut self, out: &mut String, link: &str, line: &Line) {
        let things = self.topic.things.len();
        self.other = (self.thing + 1 + self.chance.index(things - 1)) % things;
        self.verb = *self.chance.pick(self.topic.verbs);
        let start = out.len();
        out.push_str(link);
        self.expand(out, line.0);
        self.expand(out, if self.polite { line.1 } else { line.2 });
        if let Some(first) = out.get_mut(start..=start) {
            first.make_ascii_uppercase();
        }
    }

    fn expand(&mut self, out: &mut String, template: &'static str) {
        let (first, mut rest) = at_slot(template);
        out.push_str(first);
        let mut article = None;
        while !rest.is_empty() {
            let (slot, after) = rest.split_at(1);
            let text;
            (text, rest) = at_slot(after);
            let start = out.len();
            self.fill(out, slot.as_bytes()[0]);
            if let Some(at) = article.take()
                && matches!(out.as_bytes()[start], b'a' | b'e' | b'i' | b'o' | b'u')
            {
                out.insert(at, 'n');
            }
            if slot == "@" {
                article = Some(out.len());
            }
            out.push_str(text);
        }
    }

    /// A place that is not the one of the scene.
    fn elsewhere(&mut self) -> [&'static str; 2] {
        loop {
            let place = self.tongue.places.map(|part| one(&mut self.chance, part));
            if place != self.place {
                return place;
            }
        }
    }

    /// Appends what a slot stands for.
    fn fill(&mut self, out: &mut String, slot: u8) {
        let Self { chance, tongue, topic, .. } = self;
        let word = match slot {
            b'@' => "a", // with an n where the next slot wants one
            b'p' => return self.place.iter().for_each(|part| out.push_str(part)),
            b'q' => return self.elsewhere().iter().for_each(|part| out.push_str(part)),
            b'T' => return push_word(out, topic.things[self.thing], 0),
            b't' => return push_word(out, topic.things[self.thing], 1),
            b'U' => return push_word(out, topic.things[self.other], 0),
            b'u' => return push_word(out, topic.things[self.other], 1),
            b'1'..=b'5' => return push_word(out, self.verb, usize::from(slot - b'1')),
            b'g' => self.group,
            b'k' => self.role,
            b'h' => self.family,
            b'i' => self.given,
            b'l' => topic.label,
            b'a' => one(chance, topic.qualities),
            b's' => one(chance, topic.spots),
            b'x' => one(chance, topic.aspects),
            b'e' => one(chance, topic.events),
            b'o' => one(chance, tongue.audiences),
            b'w' => one(chance, tongue.past),
            b'f' => one(chance, tongue.future),
            b'j' => one(chance, tongue.feelings),
            b'W' => one(chance, &tongue.weekdays),
            b'm' => one(chance, &tongue.months),
            b'n' => one(chance, &tongue.few),
            b'd' => return push_number(out, 1 + chance.below(28)),
            b'c' => return push_number(out, 5 + chance.below(60)),
            b'M' => return push_number(out, 5 + 5 * chance.below(11)),
            b'L' => return push_number(out, 11 + chance.below(60)),
            b'N' => return push_number(out, 12 + chance.below(470)),
            b'y' => return push_number(out, 1975 + chance.below(50)),
            b'Y' => return push_number(out, 1603 + chance.below(300)),
            _ => unreachable!("a slot no one knows: `{}`", char::from(slot)),
        };
        out.push_str(word);
    }
}

/// A template up to its next slot, and from the slot's letter on. Templates are short: a plain walk is the fastest.
fn at_slot(template: &'static str) -> (&'static str, &'static str) {
    match template.bytes().position(|byte| byte == b'$') {
        Some(at) => (&template[..at], &template[at + 1..]),
        None => (template, ""),
    }
}

fn one(chance: &mut Chance, words: &'static [&'static str]) -> &'static str {
    chance.pick::<&'static str>(words)
}

fn push_word(out: &mut String, word: Word, form: usize) {
    out.push_str(word.0);
    out.push_str(word.1[form]);
}

fn push_number(out: &mut String, value: u64) {
    if value > 9 {
        push_number(out, value / 10);
    }
    out.push(char::from(b'0' + (value % 10) as u8));
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{EUC_JP, ISO_2022_JP, SHIFT_JIS};
    use expect_test::{Expect, expect};
    use std::collections::HashSet;

    const BOTH: [TextLanguage; 2] = [TextLanguage::Japanese, TextLanguage::English];

    fn written(write: impl FnOnce(&mut String)) -> String {
        let mut out = String::new();
        write(&mut out);
        out
    }

    /// A sample of every kind of text.
    fn sample(language: TextLanguage, seed: u64) -> String {
        written(|out| {
            for write in [title, site_name, advert, sentence] {
                write(out, language, seed);
                out.push('\n');
            }
            paragraph(out, language, seed, 5);
        })
    }

    fn all_lines(tongue: &Tongue) -> impl Iterator<Item = &'static Line> {
        let shared = [tongue.openers, tongue.bodies, tongue.followers, tongue.closers];
        shared.into_iter().chain(tongue.topics.iter().map(|topic| topic.facts)).flatten()
    }

    #[test]
    fn a_seed_gives_the_same_text_and_another_seed_another() {
        for language in BOTH {
            assert_eq!(sample(language, 7), sample(language, 7));
            assert_ne!(sample(language, 7), sample(language, 8));
        }
    }

    #[test]
    fn the_lowest_bits_keep_the_topic_and_the_place() {
        for (language, seed) in
            BOTH.into_iter().flat_map(|language| (0..50).map(move |seed| (language, mix(seed))))
        {
            let (one, two) = (Scene::new(language, seed), Scene::new(language, seed ^ 0xa5));
            assert_eq!((one.topic.label, one.place, one.polite), (two.topic.label, two.place, two.polite));
        }
    }

    #[test]
    fn there_are_a_million_titles_in_each_language() {
        for language in BOTH {
            let mut out = String::new();
            let titles: HashSet<u64> = (0..1_150_000)
                .map(|seed| {
                    out.clear();
                    title(&mut out, language, mix(seed));
                    base::chance::hash_bytes(0, out.as_bytes())
                })
                .collect();
            assert!(titles.len() > 1_000_000, "{language:?}: {}", titles.len());
        }
    }

    #[test]
    fn japanese_stays_inside_the_characters_of_jis_x_0208() {
        for seed in 0..5_000 {
            let text = sample(TextLanguage::Japanese, mix(seed)).replace('\n', "");
            for encoding in [SHIFT_JIS, EUC_JP, ISO_2022_JP] {
                let (bytes, _, lossy) = encoding.encode(&text);
                assert!(!lossy, "{} cannot carry {text}", encoding.name());
                assert_eq!(encoding.decode_without_bom_handling(&bytes).0, text);
            }
            // Rows 9 to 15 and from 85 on belong to vendors; 0x8E begins half-width katakana.
            let (bytes, _, _) = EUC_JP.encode(&text);
            let mut rest = bytes.iter().copied();
            while let Some(lead) = rest.next() {
                assert!(matches!(lead, b' '..=b'~' | 0xA1..=0xA8 | 0xB0..=0xF4), "{text}");
                if lead > 0x7F {
                    rest.next();
                }
            }
            assert!(!text.contains(['～', '－', '∥', '￠', '￡', '￢']), "vendors disagree on these: {text}");
        }
    }

    #[test]
    fn nothing_needs_escaping_and_english_is_ascii() {
        for (language, seed) in
            BOTH.into_iter().flat_map(|language| (0..5_000).map(move |seed| (language, seed)))
        {
            let text = sample(language, mix(seed));
            assert!(!text.contains(['<', '>', '&', '"', '\'', '$']), "{text}");
            assert!(language == TextLanguage::Japanese || text.is_ascii(), "{text}");
        }
    }

    #[test]
    fn every_line_can_be_said_on_every_topic() {
        for language in BOTH {
            let tongue = language.tongue();
            for (topic, line) in
                tongue.topics.iter().flat_map(|topic| all_lines(tongue).map(move |line| (topic, line)))
            {
                for polite in [true, false] {
                    let scene = Scene { topic, polite, thing: 0, ..Scene::new(language, 1) };
                    let said = written(|out| { scene }.say(out, "", line));
                    assert!(said.ends_with(['。', '.', '?']) && !said.contains('$'), "{said}");
                    assert!(!said.starts_with(|first: char| first.is_ascii_lowercase()), "{said}");
                }
            }
        }
    }

    #[test]
    fn a_paragraph_has_as_many_sentences_as_asked_for() {
        for (language, seed) in
            BOTH.into_iter().flat_map(|language| (0..500).map(move |seed| (language, mix(seed))))
        {
            for sentences in [0, 1, 3, 8, 100] {
                let text = written(|out| paragraph(out, language, seed, sentences));
                let ends = text.matches(['。', '.', '?']).count();
                assert_eq!(ends, sentences, "{text}");
            }
        }
    }

    #[test]
    fn a_paragraph_of_ten_sentences_says_nothing_twice() {
        for (language, seed) in
            BOTH.into_iter().flat_map(|language| (0..500).map(move |seed| (language, mix(seed))))
        {
            let text = written(|out| paragraph(out, language, seed, 10));
            let sentences: HashSet<_> = text.split(['。', '.', '?']).map(str::trim).collect();
            assert_eq!(sentences.len(), 11, "{text}");
        }
    }

    #[test]
    fn sentences_have_an_ordinary_length() {
        let mean = |language| {
            let count = |seed| written(|out| sentence(out, language, mix(seed))).chars().count();
            (0..5_000).map(count).sum::<usize>() / 5_000
        };
        assert!((28..50).contains(&mean(TextLanguage::Japanese)), "{}", mean(TextLanguage::Japanese));
        assert!((60..110).contains(&mean(TextLanguage::English)), "{}", mean(TextLanguage::English));
    }

    #[test]
    fn there_are_words_and_sentences_enough() {
        for language in BOTH {
            let tongue = language.tongue();
            let mut words = HashSet::new();
            for topic in tongue.topics {
                words.extend(topic.things.iter().chain(topic.verbs).map(|word| word.0));
                let lists =
                    [topic.qualities, topic.groups, topic.roles, topic.spots, topic.aspects, topic.events];
                words.extend(lists.into_iter().flatten());
            }
            assert!(words.len() > 800, "{language:?}: {} words", words.len());
            assert!(all_lines(tongue).count() > 150, "{language:?}: {} lines", all_lines(tongue).count());
            let longest = [tongue.openers, tongue.bodies, tongue.followers, tongue.closers].map(<[_]>::len);
            assert!(
                longest.iter().all(|length| *length <= 64),
                "a bit of `UsedLines` for each line: {longest:?}"
            );
        }
    }

    #[test]
    fn english_articles_agree_with_what_follows() {
        for seed in 0..20_000 {
            let text = sample(TextLanguage::English, mix(seed)).to_ascii_lowercase();
            let words: Vec<_> = text.split([' ', '\n']).collect();
            for pair in words.windows(2) {
                let vowel = pair[1].starts_with(['a', 'e', 'i', 'o', 'u']);
                assert!(pair[0] != "a" || !vowel, "{} {}", pair[0], pair[1]);
                assert!(pair[0] != "an" || vowel, "{} {}", pair[0], pair[1]);
            }
        }
    }

    #[test]
    fn polite_and_plain_endings_do_not_mix() {
        for seed in 0..2_000 {
            let polite = Scene::new(TextLanguage::Japanese, mix(seed)).polite;
            let text = written(|out| paragraph(out, TextLanguage::Japanese, mix(seed), 6));
            for sentence in text.split_terminator('。') {
                let ends = [
                    "です",
                    "ます",
                    "ました",
                    "ません",
                    "ください",
                    "でしょう",
                    "でしょうか",
                    "ましょう",
                    "でした",
                ];
                assert_eq!(ends.iter().any(|end| sentence.ends_with(end)), polite, "{sentence}");
            }
        }
    }

    #[test]
    fn sections_have_ascii_paths_that_differ() {
        for language in BOTH {
            let paths: HashSet<_> = (0..SECTIONS).map(|n| section(language, n).0).collect();
            assert_eq!(paths.len(), SECTIONS);
            assert!(paths.iter().all(|path| path.bytes().all(|byte| byte.is_ascii_lowercase())));
            assert_eq!(section(language, 1), section(language, 1 + SECTIONS));
        }
    }

    #[test]
    fn dates_are_written_with_their_weekday() {
        let date = |language, y: i16, m: i8, d: i8| written(|out| date_line(out, language, y, m, d));
        assert_eq!(date(TextLanguage::Japanese, 2026, 1, 1), "2026年1月1日（木）");
        assert_eq!(date(TextLanguage::English, 2026, 1, 1), "Thursday, 1 January 2026");
        assert_eq!(date(TextLanguage::English, 2024, 2, 29), "Thursday, 29 February 2024");
        assert_eq!(date(TextLanguage::Japanese, 2000, 12, 31), "2000年12月31日（日）");
    }

    #[track_caller]
    fn check(language: TextLanguage, expected: &Expect) {
        let mut out = String::new();
        for seed in (1..=5).map(mix) {
            title(&mut out, language, seed);
            out.push('\n');
            paragraph(&mut out, language, seed, 4);
            out.push('\n');
            advert(&mut out, language, seed);
            out.push_str("\n\n");
        }
        expected.assert_eq(&out);
    }

    #[test]
    fn japanese_reads_well() {
        check(
            TextLanguage::Japanese,
            &expect![[r#"
                運転手の三浦航さんに聞く：軽自動車と車検の費用
                軽自動車を洗うとき、まず気になるのは燃費ではないでしょうか。新しい車種は、一回の充電で約800キロメートルを走ります。特に新型の軽自動車は、家族連れの関心を集めています。軽自動車を整備する一日は、こうして静かに終わりました。
                軽自動車を撮影するなら、まずは無料の資料から。

                杉並木町で住民に親しまれている公園を改修する
                建築士の原田さんが公園を活用していると聞き、杉並木町の役場まで足を運びました。アンケートには404世帯が回答し、約33パーセントが賛成しました。議会は、総額6億円の補正予算案を全会一致で可決しました。大学生にも公園の魅力を知ってもらえたらと、原田さんは願っています。
                まちづくりの入門書が今なら40パーセント引き。

                砂音町のキャンプ場で出会った美しい雪渓
                砂音町の登山口で5月9日、自然観察会が開かれました。展望台の入り口には雪渓の写真が24枚ほど並び、訪れた大学生が足を止めて見入っていました。そこで、森林組合は親子を対象にした登山教室を開くことを決めました。森林組合の調べでは、雪渓を見て回る人の割合は約14パーセントでした。
                小冊子「手つかずの雪渓」、家族連れに好評です。

                史跡めぐりのお知らせ（3月26日、稲穂市）
                稲穂市の人々にとって遺跡は暮らしの一部であり、保存の状態が話題に上らない日はない。なお、企画展の申し込みは6月23日に締め切られる。発掘調査団の調べでは、遺跡を紹介する人の割合は約9パーセントだった。遺跡だけでなく、古写真も撮影する人が少なくない。
                稲穂市の史跡めぐりへお越しください。

                西麦秋町気象観測の会の活動報告（1989年7月）
                防災士の宮本さんが雨雲を予測していると聞き、西麦秋町の港まで足を運びました。ただし、当日の天候によっては防災教室の予定が変わることもあります。週末は高気圧に覆われ、おおむね晴れる見込みです。降水量をめぐる今後の動きが注目されます。
                天気教室、4月15日に開講。受講生を募集中。

            "#]],
        );
    }

    #[test]
    fn english_reads_well() {
        check(
            TextLanguage::English,
            &expect![[r#"
                Meet Vera Norton, the driver who drives motorcycles
                Many young families in Kestrelbrook have taken a new interest in motorcycles. On one charge the new model travels about eight hundred kilometres. Meanwhile, the vehicle museum in Brackenwick has started to inspect fire engines as well. Vera Norton hopes to go on selling motorcycles for many years.
                Want to drive a powerful motorcycle? Ask for our free guide.

                How to maintain a popular park in Dappleford
                Frank Owen came to Dappleford in 1983 and has hardly missed a public meeting since. In other words, maintenance is the key to redesigning parks well. The population has fallen slowly since 2000. Whatever happens next, Dappleford will keep its parks.
                Save 40 percent on books about parks this week.

                The weight of the pack and the quiet cliff of Amberhollow
                The Amberhollow forest service mapped quiet cliffs at the lookout tower earlier this year. Bears have been seen lately, so hikers are asked to carry a bell. Above nine hundred metres the trees grow smaller. For details, please contact the forest service.
                Icy cliffs in pictures: a calendar loved by young families everywhere.

                Nine ways to protect a precious sword in Coppermere
                For the people of Coppermere, swords are a part of daily life, and hardly a day goes by without talk of preservation. In particular, Roman swords have caught the eye of visitors. According to Norton, daily life in the past changes a great deal from place to place. Whatever happens next, Coppermere will keep its swords.
                Join us for the guided walk in Coppermere on March 26.

                Storms or showers in Peppermere: a question of humidity
                After Maria Sutton moved to Peppermere in 2000, it did not take long before newcomers came to the observatory to see how the storms were recorded. In the morning the group met at the mountain hut to predict storms, and in the afternoon it went on to Willowfell. The weather society has kept records of humidity since 1995. The next weather lecture will be held in Peppermere on February 9.
                Learn about weather from a climate scientist: new course starts on April 15.

            "#]],
        );
    }
}
