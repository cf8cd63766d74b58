//! Text that nobody writes: no panic, spans in order.

use japanese::Analyser;

/// Analyses a text and checks what holds for every one.
fn check(text: &str) {
    let mut analyser = Analyser::new();
    let analysis = analyser.analyse(text);
    let (mut original, mut normal) = (0, 0);
    for morpheme in analysis.morphemes() {
        assert!(morpheme.normal_span().start >= normal && !morpheme.normal().is_empty());
        assert!(morpheme.span().start >= original);
        assert!(text.is_char_boundary(morpheme.span().start) && text.is_char_boundary(morpheme.span().end));
        (original, normal) = (morpheme.span().end, morpheme.normal_span().end);
    }
    let white = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let words: String = analysis.morphemes().map(|morpheme| morpheme.normal()).collect();
    assert_eq!(white(&words), white(analysis.text().text()), "words are lost");
}

#[test]
fn long_lines_are_analysed_in_pieces() {
    check(&"あ".repeat(60_000));
    check(&"東京都".repeat(40_000));
    check(&"1".repeat(140_000));
    check(&"-+".repeat(70_000));
    check(&"吾輩は猫である。".repeat(10_000));
    check(&" ".repeat(100_000));
    check(&"e\u{301}\u{302}".repeat(30_000));
    check(&format!("あ{}", "\u{3099}".repeat(100_000)));
}

#[test]
fn every_character_is_analysed() {
    let all: String = ('\0'..=char::MAX).collect();
    check(&all);
    for c in ('\0'..=char::MAX).step_by(97) {
        check(&format!("カ{c}が{c}{c}"));
    }
}

#[test]
fn empty_text_has_no_morphemes() {
    for text in ["", " ", "\u{3000}", "\n\n"] {
        assert!(Analyser::new().analyse(text).is_empty());
    }
}
