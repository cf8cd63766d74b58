//! Reasons for which pages are held back, and their counts (H10).

/// Why a page is not visited for now, or a link was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HoldReason {
    /// Pages with URLs of its shape brought nothing new recently.
    Shape,
    /// Pages of its server brought nothing new recently.
    Server,
    /// Its path is very deep, and such pages brought nothing new recently.
    Deep,
    /// Its path repeats itself, and such pages brought nothing new recently.
    Echo,
    /// It has very many parameters, and such pages brought nothing new recently.
    Parameters,
    /// It is longer than the maximum of a URL.
    TooLong,
    /// Its server has as many pages as the settings allow.
    ServerFull,
}

impl HoldReason {
    /// Every reason, in the order of their codes on disk.
    pub const ALL: [Self; 7] = [
        Self::Shape,
        Self::Server,
        Self::Deep,
        Self::Echo,
        Self::Parameters,
        Self::TooLong,
        Self::ServerFull,
    ];
    /// The number of reasons for which known pages wait; they come first.
    pub(crate) const OF_PAGES: usize = 5;

    /// The reason in a word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Shape => "shape",
            Self::Server => "server",
            Self::Deep => "deep",
            Self::Echo => "echo",
            Self::Parameters => "parameters",
            Self::TooLong => "too_long",
            Self::ServerFull => "server_full",
        }
    }
    /// The reason as the end of a sentence that begins with "it is held back because".
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Shape => "pages with URLs of its shape have brought nothing new recently",
            Self::Server => "pages of its server have brought nothing new recently",
            Self::Deep => "its path is very deep, and such pages have brought nothing new recently",
            Self::Echo => "its path repeats itself, and such pages have brought nothing new recently",
            Self::Parameters => {
                "it has very many parameters, and such pages have brought nothing new recently"
            }
            Self::TooLong => "its URL is too long",
            Self::ServerFull => "its server has as many pages as `crawl.server_pages_max` allows",
        }
    }
    /// The reason in a few words, for a table.
    #[must_use]
    pub const fn brief(self) -> &'static str {
        match self {
            Self::Shape => "such URLs brought nothing new recently",
            Self::Server => "the server brought nothing new recently",
            Self::Deep => "very deep paths brought nothing new recently",
            Self::Echo => "repeated path parts brought nothing new recently",
            Self::Parameters => "many parameters brought nothing new recently",
            Self::TooLong => "links: the URL is too long (estimated)",
            Self::ServerFull => "links: `crawl.server_pages_max` is reached (estimated)",
        }
    }
    pub(crate) fn code(self) -> u8 {
        self as u8 + 1
    }
    pub(crate) fn of_code(code: u64) -> Option<Self> {
        Self::ALL.get(usize::try_from(code).ok()?.checked_sub(1)?).copied()
    }
}

/// Counts of what is held back, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldBack([u64; HoldReason::ALL.len()]);

impl HeldBack {
    /// All of it.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
    /// How much for this reason.
    #[must_use]
    pub fn of(&self, reason: HoldReason) -> u64 {
        self.0[reason as usize]
    }
    /// The reasons that there are, with their counts.
    pub fn reasons(&self) -> impl Iterator<Item = (HoldReason, u64)> + '_ {
        HoldReason::ALL.into_iter().zip(self.0).filter(|(_, count)| *count > 0)
    }
    /// Adds what another has.
    pub fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(to, from)| *to += from);
    }
    pub(crate) fn count(&mut self, reason: HoldReason) {
        self.0[reason as usize] += 1;
    }
    pub(crate) fn discount(&mut self, reason: HoldReason) {
        let count = &mut self.0[reason as usize];
        *count = count.checked_sub(1).expect("a page that is no longer held back was counted for its reason");
    }
    pub(crate) fn set(&mut self, reason: HoldReason, count: u64) {
        self.0[reason as usize] = count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_apart_and_read_by_their_codes() {
        let mut held = HeldBack::default();
        held.count(HoldReason::Shape);
        held.count(HoldReason::Shape);
        held.count(HoldReason::Echo);
        held.discount(HoldReason::Shape);
        let counts: Vec<_> = held.reasons().collect();
        assert_eq!(counts, [(HoldReason::Shape, 1), (HoldReason::Echo, 1)]);
        assert_eq!(held.total(), 2);
        for reason in HoldReason::ALL {
            assert_eq!(HoldReason::of_code(reason.code().into()), Some(reason));
        }
        assert_eq!((HoldReason::of_code(0), HoldReason::of_code(8)), (None, None));
    }
}
