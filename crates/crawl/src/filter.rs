//! What is archived but not followed, and visited rarely (C13).

/// Which pages the crawl wants. Other pages are archived once, because the verdict needs their content, and then rarely
/// visited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The languages that are wanted; all of them when there is none.
    pub languages: Vec<lang::Language>,
    /// The media types that are wanted, such as `text/html` or `image/`; all of them when there is none.
    pub types: Vec<String>,
    /// The longest content that is wanted, in bytes.
    pub size_max: Option<u64>,
    /// Whether pages for adults are rejected; they are detected by their words.
    pub no_adult: bool,
}

/// What is known about a page when it is judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<'a> {
    pub(crate) language: Option<lang::Language>,
    pub(crate) media_type: &'a str,
    pub(crate) bytes: u64,
}

impl Filter {
    /// Why a page is not wanted; empty when it is.
    pub(crate) fn judge(&self, seen: &Seen<'_>) -> String {
        let is_type = |wanted: &String| seen.media_type.starts_with(wanted.as_str());
        if !self.types.is_empty() && !seen.media_type.is_empty() && !self.types.iter().any(is_type) {
            return format!("type {}", seen.media_type);
        }
        if self.size_max.is_some_and(|most| seen.bytes > most) {
            return format!("size {}", seen.bytes);
        }
        match seen.language {
            // A page with too little text to detect its language is not judged by it.
            Some(language) if !self.languages.is_empty() && !self.languages.contains(&language) => {
                format!("language {}", language.as_str())
            }
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejected_pages_have_a_reason() {
        let language = |code| lang::Language::parse(code);
        let seen = Seen { language: language("en"), media_type: "text/html", bytes: 1_000 };
        let all = Filter::default();
        assert_eq!(all.judge(&seen), "");
        let japanese = Filter { languages: language("ja").into_iter().collect(), ..Filter::default() };
        assert_eq!(japanese.judge(&seen), "language en");
        assert_eq!(japanese.judge(&Seen { language: language("ja"), ..seen }), "");
        assert_eq!(japanese.judge(&Seen { language: None, ..seen }), "");
        let small = Filter { size_max: Some(999), types: vec!["text/".to_owned()], ..Filter::default() };
        assert_eq!(small.judge(&seen), "size 1000");
        assert_eq!(small.judge(&Seen { media_type: "image/png", ..seen }), "type image/png");
        assert_eq!(small.judge(&Seen { media_type: "", bytes: 1, ..seen }), "");
    }
}
