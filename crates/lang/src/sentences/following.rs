//! Whether a sentence goes on, from what follows a sign that could end it.

/// Particles with the beginnings of words that only look like them.
const PARTICLES: [(&str, &[&str]); 20] = [
    (
        "と",
        &[
            "ところ",
            "とて",
            "とにかく",
            "とりあえず",
            "ともかく",
            "ときどき",
            "とき",
            "というわけ",
            "というか",
            "というの",
            "ということ",
            "とはいえ",
            "とっ",
            "とん",
            "とい",
            "とう",
            "とく",
            "とも",
        ],
    ),
    ("という", &["というわけ", "というか", "というの", "ということ"]),
    ("って", &[]),
    ("を", &[]),
    ("が", &["がん", "がっ", "がら"]),
    ("は", &["はい", "はじ", "はた", "はや", "はず", "はっ", "はは", "はぁ", "はあ", "はる", "はな", "はー"]),
    ("の", &["のち", "のど", "のん", "のび", "のり"]),
    ("に", &["にし", "にこ", "にん", "にほ", "にく", "にゃ", "にっ"]),
    ("も", &["もう", "もし", "もっ", "もち", "もの", "もと", "もら", "もは", "もん", "もー", "もぅ"]),
    ("で", &["では", "でも", "でき", "でか", "でっ"]),
    ("や", &["やは", "やっ", "やる", "やり", "やめ", "やさ", "やば", "やら", "やれ"]),
    ("へ", &["へえ", "へー", "へぇ", "へん", "へい", "へた"]),
    ("から", &["からだ", "からく", "からい"]),
    ("など", &[]),
    ("なんて", &["なんてこ", "なんてい"]),
    ("だと", &[]),
    ("だった", &["だったら"]),
    ("です", &["ですが", "ですか"]),
    ("らしい", &[]),
    ("みたい", &[]),
];
/// Words that begin a sentence after a quotation.
const BEGINNINGS: [&str; 18] = [
    "そして",
    "しかし",
    "でも",
    "また",
    "それ",
    "その",
    "この",
    "すると",
    "だが",
    "だから",
    "さらに",
    "ところ",
    "ここ",
    "これ",
    "あの",
    "なお",
    "ただ",
    "やがて",
];

/// Whether a particle or a comma follows `!` or `?`.
pub(super) fn goes_on(rest: &str) -> bool {
    if rest.starts_with(['、', '，', ',', '・', '」', '』', '/', '／', '=', '-', '－', '：', ':']) {
        return true;
    }
    PARTICLES.iter().any(|(particle, others)| {
        rest.starts_with(particle) && !others.iter().any(|other| rest.starts_with(other))
    })
}

/// Whether the sentence goes on after a full stop: rarely.
pub(super) fn goes_on_after_stop(rest: &str) -> bool {
    if rest.starts_with(['、', '，', 'を']) || rest.starts_with("って") {
        return true;
    }
    let verbs = ["と言", "と思", "と書", "と述", "と話", "と答", "と聞", "と呼", "との"];
    let noun = rest.strip_prefix("という").and_then(|rest| rest.chars().next());
    verbs.iter().any(|verb| rest.starts_with(verb)) || noun.is_some_and(|c| !is_hiragana(c))
}

/// Whether a sentence goes on after a quotation that is a sentence itself; `alone` if nothing was before it.
pub(super) fn goes_on_after_quote(rest: &str, alone: bool) -> bool {
    let Some(next) = rest.chars().next() else { return false };
    let after_space = rest.trim_start();
    if after_space.len() < rest.len() {
        return after_space.starts_with('と') && goes_on(after_space) || after_space.starts_with("って");
    }
    match next {
        '「' | '『' | '“' => !alone,
        _ if is_hiragana(next) => !BEGINNINGS.iter().any(|word| rest.starts_with(word)),
        _ if next.is_alphanumeric() => !alone,
        _ => true,
    }
}

/// Hiragana.
pub(super) fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{309F}')
}

/// Hiragana, katakana and ideographs.
pub(super) fn is_japanese(c: char) -> bool {
    matches!(c, '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{FF66}'..='\u{FF9F}')
}
