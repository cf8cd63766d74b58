//! The images of a `srcset`: `small.png 320w, large.png 2x`.

/// The URLs of the candidates, as written.
///
/// A URL may contain commas, but neither begins nor ends with one; the text between a URL and the next comma says when to
/// use it.
pub(crate) fn urls(value: &str) -> impl Iterator<Item = &str> {
    let mut rest = value;
    std::iter::from_fn(move || {
        let start = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ',');
        let end = start.find(|c: char| c.is_ascii_whitespace()).unwrap_or(start.len());
        let (url, behind) = start.split_at(end);
        let bare = url.trim_end_matches(',');
        rest = if bare.len() < url.len() { behind } else { behind_comma(behind) };
        Some(bare).filter(|url| !url.is_empty())
    })
}

/// The text after the next comma that is not in brackets.
fn behind_comma(text: &str) -> &str {
    let mut in_brackets = false;
    let comma = text.bytes().position(|byte| {
        in_brackets = (in_brackets || byte == b'(') && byte != b')';
        byte == b',' && !in_brackets
    });
    comma.and_then(|at| text.get(at + 1..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: &str, expected: &[&str]) {
        assert_eq!(urls(value).collect::<Vec<_>>(), expected, "{value}");
    }

    #[test]
    fn every_candidate_gives_its_url() {
        check("a.png", &["a.png"]);
        check("a.png 1x, b.png 2x", &["a.png", "b.png"]);
        check(" a.png,b.png\n2x , c.png, ", &["a.png,b.png", "c.png"]);
        check("a,b.png 1x,, c.png (x,y) 2x,d", &["a,b.png", "c.png", "d"]);
        check(", ,", &[]);
        check("", &[]);
    }
}
