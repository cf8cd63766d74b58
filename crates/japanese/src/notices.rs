//! Whose work is built in, and on what terms.

/// One work that is part of the program.
#[derive(Clone, Copy, Debug)]
pub struct DataNotice {
    /// What it is.
    pub name: &'static str,
    /// Its licence in a few words.
    pub licence: &'static str,
    /// The notice that must go along with it.
    pub text: &'static str,
}

/// All works whose data this crate contains.
pub const DATA_NOTICES: [DataNotice; 3] = [
    DataNotice {
        name: "IPADIC 2.7.0-20070801 (Japanese dictionary)",
        licence: "NAIST and ICOT terms",
        text: include_str!("../data/ipadic.COPYING"),
    },
    DataNotice {
        name: "SudachiDict (Japanese synonyms)",
        licence: "Apache-2.0",
        text: include_str!("../data/synonyms.COPYING"),
    },
    DataNotice {
        name: "Bunsetsu and dependency models from UD_Japanese-GSD and WikipediaAnnotatedCorpus",
        licence: "CC BY-SA 4.0",
        text: include_str!("../data/syntax.NOTICE"),
    },
];
