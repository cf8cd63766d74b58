//! Parts of speech.

use std::fmt;

use crate::dictionary::PARTS;

/// A part of speech with its conjugation, as IPADIC numbers them: the connection id.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PartOfSpeech(u16);

impl PartOfSpeech {
    /// One more than the largest connection id.
    pub const COUNT: u16 = 1316;
    /// 記号,一般.
    pub const SYMBOL: Self = Self(5);

    /// The part of speech of a connection id, if there is one.
    #[must_use]
    pub fn of_connection_id(id: u16) -> Option<Self> {
        (id < Self::COUNT).then_some(Self(id))
    }

    /// As [`Self::of_connection_id`], for ids of the dictionary.
    pub(crate) fn known(id: u16) -> Self {
        assert!(id < Self::COUNT, "the dictionary has no such connection id");
        Self(id)
    }

    /// The connection id.
    #[must_use]
    pub fn connection_id(self) -> u16 {
        self.0
    }

    /// Part of speech, three subdivisions, conjugation type, conjugation form; `*` where there is none.
    #[must_use]
    pub fn fields(self) -> [&'static str; 6] {
        PARTS[usize::from(self.0)]
    }

    /// The first field: 名詞, 動詞, 助詞 …
    #[must_use]
    pub fn name(self) -> &'static str {
        self.fields()[0]
    }

    /// The second field: 自立, 係助詞 …
    #[must_use]
    pub fn subdivision(self) -> &'static str {
        self.fields()[1]
    }
}

impl fmt::Debug for PartOfSpeech {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0, self.fields().join(","))
    }
}
