//! Bunsetsu and their heads.

use japanese::{
    Analyser, BUNSETSU_MORPHEMES_MAX, Bunsetsu, DependencyLabel, PIECE_BUNSETSU_MAX, Parser, Style,
};

/// Parses a text and checks what holds for every one.
fn parse(parser: &Parser, text: &str) -> Vec<Bunsetsu> {
    let analysis = Analyser::new().analyse(text);
    let all = parser.bunsetsu(&analysis);
    let mut end = 0;
    for (number, bunsetsu) in all.iter().enumerate() {
        assert_eq!(bunsetsu.morphemes.start, end, "{text:.60}");
        assert!(
            !bunsetsu.morphemes.is_empty() && bunsetsu.morphemes.len() <= BUNSETSU_MORPHEMES_MAX,
            "{text:.60}"
        );
        end = bunsetsu.morphemes.end;
        assert_eq!(bunsetsu.head.is_none(), number + 1 == all.len(), "{text:.60}");
        assert!(bunsetsu.head.is_none_or(|head| head > number && head < all.len()), "{text:.60}");
    }
    assert_eq!(end, analysis.len(), "{text:.60}");
    assert_no_crossing(&all);
    all
}

/// A head lies at or before the heads of everything the dependency spans.
fn assert_no_crossing(all: &[Bunsetsu]) {
    let mut open: Vec<usize> = Vec::new();
    for (number, bunsetsu) in all.iter().enumerate() {
        while open.last() == Some(&number) {
            open.pop();
        }
        if let Some(head) = bunsetsu.head {
            assert!(open.last().is_none_or(|&outer| head <= outer), "bunsetsu {number} crosses");
            open.push(head);
        }
    }
}

/// Checks an analysis written as `0:2 text` with the number of the head, `-` for none.
fn check(parser: &Parser, text: &str, expected: &str) {
    let analysis = Analyser::new().analyse(text);
    let shown: Vec<String> = parse(parser, text)
        .iter()
        .map(|bunsetsu| {
            let words: String =
                bunsetsu.morphemes.clone().map(|at| analysis.morpheme(at).surface()).collect();
            let head = bunsetsu.head.map_or("-".to_owned(), |head| head.to_string());
            let letter = match bunsetsu.label {
                DependencyLabel::Dependency => String::new(),
                label => label.letter().to_string(),
            };
            format!("{words}{head}{letter}")
        })
        .collect();
    assert_eq!(shown.join(" "), expected, "{text}");
}

#[test]
fn plain_sentences_are_parsed_as_everybody_would() {
    let parser = Parser::load();
    for (text, expected) in [
        ("犬が走る。", "犬が1 走る。-"),
        ("赤い花が庭に咲いた。", "赤い1 花が3 庭に3 咲いた。-"),
        ("太郎は花子が読んでいる本を渡した。", "太郎は4 花子が2 読んでいる3 本を4 渡した。-"),
        ("東京の大きな駅で友達に会った。", "東京の2 大きな2 駅で4 友達に4 会った。-"),
        ("雨が降ったので、試合は中止になった。", "雨が1 降ったので、4 試合は4 中止に4 なった。-"),
        ("学生", "学生-"),
        ("", ""),
    ] {
        check(&parser, text, expected);
    }
}

#[test]
fn parallel_nouns_are_labelled() {
    let parser = Parser::load();
    let all = parse(&parser, "りんごとみかんを買った。");
    assert_eq!((all[0].head, all[0].label), (Some(1), DependencyLabel::Parallel));
    assert_eq!(all[1].label, DependencyLabel::Dependency);
}

#[test]
fn anything_has_one_projective_tree() {
    let pieces = [
        "犬",
        "が",
        "走る",
        "、",
        "。",
        "「",
        "」",
        "の",
        "1",
        "(",
        ")",
        "は",
        "と",
        "ので",
        "美しい",
        "A",
        " ",
        "①",
        "ﾃﾞ",
        "\u{3099}",
        "👪",
        "\u{0}",
        "を",
        "して",
        "いる",
        "それ",
        "ー",
        "々",
        "\n",
        "・",
    ];
    let parsers = [Parser::load(), Parser::with_style(Style::Encyclopedia)];
    let mut state = 1_u64;
    for round in 0..2_000 {
        let text: String = (0..round % 60)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                pieces[usize::try_from(state >> 33).unwrap() % pieces.len()]
            })
            .collect();
        parse(&parsers[round % 2], &text);
    }
}

#[test]
fn long_lines_are_parsed_in_pieces() {
    let parser = Parser::load();
    for text in ["犬が", "「", "、", "走って", "あ", "1", "赤い花と", "の"].map(|unit| unit.repeat(5_000))
    {
        assert!(!parse(&parser, &text).is_empty());
    }
    let many = parse(&parser, &"犬が走り、".repeat(PIECE_BUNSETSU_MAX));
    assert!(many.len() > PIECE_BUNSETSU_MAX, "one piece only");
}

#[test]
fn another_model_must_be_whole() {
    let error = Parser::from_model(b"nothing", Style::Web).unwrap_err();
    assert!(error.to_string().contains("cargo xtask train"), "{error}");
}
