//! The fixed phrases of a page's frame, in both languages.

use crate::text::TextLanguage;

/// The phrases of one language.
pub(super) struct Phrases {
    pub(super) home: &'static str,
    pub(super) updated: &'static str,
    pub(super) listing: &'static str,
    pub(super) related: &'static str,
    pub(super) elsewhere: &'static str,
    pub(super) advert: &'static str,
    pub(super) today: &'static str,
    pub(super) visitors: &'static str,
    pub(super) sitemap: &'static str,
    pub(super) missing: &'static str,
}

const JAPANESE: Phrases = Phrases {
    home: "ホーム",
    updated: "最終更新",
    listing: "一覧",
    related: "関連するページ",
    elsewhere: "ほかのサイト",
    advert: "広告",
    today: "今日",
    visitors: "訪問者数",
    sitemap: "サイトマップ",
    missing: "ページが見つかりません",
};

const ENGLISH: Phrases = Phrases {
    home: "Home",
    updated: "Last updated",
    listing: "In this section",
    related: "Related pages",
    elsewhere: "Elsewhere",
    advert: "Advertisement",
    today: "Today",
    visitors: "visitors",
    sitemap: "Site map",
    missing: "Page not found",
};

/// The phrases of a language.
pub(super) fn of(language: TextLanguage) -> &'static Phrases {
    match language {
        TextLanguage::Japanese => &JAPANESE,
        TextLanguage::English => &ENGLISH,
    }
}
