//! Pages that were made to be slow.

/// Pages of one mebibyte that were made to be slow, each with its name.
pub(crate) fn shapes() -> Vec<(&'static str, String)> {
    const SIZE: usize = 1 << 20;
    let filled =
        |start: &str, with: &str, end: &str| format!("{start}{}{end}", with.repeat(SIZE / with.len()));
    vec![
        ("deep nesting", filled("", "<div>", "")),
        ("attributes in one tag", filled("<a ", "b=c ", "href=x>")),
        ("one attribute again and again", filled("<a ", "href=x ", ">")),
        ("one line", filled("<p>", "word ", "")),
        ("no blank", filled("<p>", "漢", "")),
        ("tags unclosed", filled("", "<a href=x", "")),
        ("nested tables", filled("", "<table><tr><td>x", "")),
        ("angle brackets", filled("", "<", "")),
        ("slashes", filled("", "</", "")),
        ("comments unclosed", filled("", "<!--", "")),
        ("comments and angles", filled("<!--", "->", "")),
        ("scripts unclosed", filled("", "<script><!--", "")),
        ("titles unclosed", filled("", "<title>", "")),
        ("ampersands", filled("<p>", "&", "")),
        ("names of references", filled("<p>", "&CounterClockwiseContourIntegra", "")),
        ("quotes unclosed", filled("", "<a href='", "")),
        ("links", filled("", "<a href=x>y</a>", "")),
        ("links that differ", (0..SIZE / 20).map(|n| format!("<a href={n:07}>y</a>")).collect()),
        ("sizes of a picture", filled("<img srcset='", "a 1x, ", "'>")),
        ("frames", filled("", "<nav class=ad>", "")),
        ("digits", filled("<p>", "12 ", "")),
    ]
}
