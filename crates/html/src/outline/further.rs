//! Labels after which the text is over: what follows leads elsewhere or is about the author.

/// The longest label, in bytes.
const LABEL_BYTES_MAX: usize = 60;

/// Labels of one whole block, without the signs around them.
const WHOLE: [&str; 30] = [
    "advertisement",
    "comments",
    "continue reading",
    "featured posts",
    "follow us",
    "keep reading",
    "latest articles",
    "latest news",
    "latest posts",
    "latest stories",
    "leave a comment",
    "leave a reply",
    "more articles",
    "more news",
    "more posts",
    "more stories",
    "most popular",
    "most read",
    "post a comment",
    "read more",
    "recent posts",
    "recommended",
    "recommended for you",
    "share",
    "share this",
    "trending",
    "trending now",
    "you might also like",
    "you may also like",
    "what to read next",
];
/// Starts of labels.
const STARTS: [&str; 10] = [
    "recommended articles",
    "recommended reading",
    "related articles",
    "related content",
    "related news",
    "related posts",
    "related products",
    "related stories",
    "related topics",
    "share this ",
];
/// Starts of Japanese labels, whose words are not separated.
const JAPANESE: [&str; 16] = [
    "関連記事",
    "関連キーワード",
    "関連リンク",
    "関連ニュース",
    "関連タグ",
    "関連トピックス",
    "この記事を書いた",
    "あわせて読みたい",
    "合わせて読みたい",
    "おすすめ記事",
    "人気記事",
    "最新記事",
    "新着記事",
    "アクセスランキング",
    "こちらもおすすめ",
    "記事ランキング",
];

/// Whether a block is such a label.
pub(super) fn is_label(text: &str) -> bool {
    if text.len() > LABEL_BYTES_MAX {
        return false;
    }
    let label = text.trim_matches(|sign: char| !sign.is_alphanumeric());
    let starts =
        |start: &&str| label.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start));
    JAPANESE.iter().any(|start| label.starts_with(start))
        || STARTS.iter().any(starts)
        || WHOLE.iter().any(|whole| label.eq_ignore_ascii_case(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_known_in_any_case_and_with_signs_around_them() {
        for text in [
            "Related Articles",
            "RELATED POSTS:",
            "■関連記事",
            "【関連記事】",
            "You may also like",
            "Share",
            "関連キーワード一覧",
        ] {
            assert!(is_label(text), "{text}");
        }
        for text in [
            "",
            "Shared memory",
            "Read more about it in our guide to the river",
            "関連法",
            "Recommended by doctors",
        ] {
            assert!(!is_label(text), "{text}");
        }
    }
}
