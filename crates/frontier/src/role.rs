//! What a page is visited for (C11).

/// What a page is visited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// For its own content.
    #[default]
    Page,
    /// A feed: for the pages it announces, at its own pace, once a day at least.
    Feed,
    /// The front page of a news site: for its links, once a day at least.
    News,
    /// A sitemap: for the pages it lists.
    Sitemap,
    /// Something that another page shows: an image, a style sheet.
    Requisite,
}

impl Role {
    /// Every role, in the order of their codes on disk.
    pub const ALL: [Self; 5] = [Self::Page, Self::Feed, Self::News, Self::Sitemap, Self::Requisite];

    /// The role in a word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Feed => "feed",
            Self::News => "news",
            Self::Sitemap => "sitemap",
            Self::Requisite => "requisite",
        }
    }
    /// The role of this name.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == word)
    }
}
