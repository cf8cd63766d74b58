//! The names of relevant elements and attributes, as numbers that compare in one step.

/// The name in lower case as one number: its bytes if it has at most eight, otherwise 0.
pub(crate) const fn key(name: &[u8]) -> u64 {
    if name.len() > KEY_BYTES_MAX {
        return 0;
    }
    let (mut key, mut rest) = (0, name);
    while let [first, others @ ..] = rest {
        key = key << 8 | letter(*first) as u64;
        rest = others;
    }
    key
}

/// The longest name that has a key.
pub(crate) const KEY_BYTES_MAX: usize = 8;

/// What a byte adds to a key. A leading NUL would be lost, and no relevant name contains a 1.
pub(crate) const fn letter(byte: u8) -> u8 {
    if byte == 0 { 1 } else { byte.to_ascii_lowercase() }
}

/// Gives every name a constant and a function that finds it.
macro_rules! keys {
    ($($constant:ident $name:literal)*) => {
        $(pub(crate) const $constant: u64 = $crate::token::name::key($name);)*
    };
}
pub(crate) use keys;

/// The keys of elements.
pub(crate) mod element {
    keys! {
        A b"a" ADDRESS b"address" AREA b"area" ARTICLE b"article" ASIDE b"aside" AUDIO b"audio" BASE b"base" BODY b"body"
        BR b"br" BUTTON b"button" CENTER b"center" DD b"dd" DETAILS b"details" DIALOG b"dialog" DIR b"dir" DIV b"div"
        DL b"dl" DT b"dt" EMBED b"embed" FIELDSET b"fieldset" FIGURE b"figure" FOOTER b"footer" FORM b"form"
        FEIMAGE b"feimage" FRAME b"frame" H1 b"h1" H2 b"h2" H3 b"h3" H4 b"h4" H5 b"h5" H6 b"h6" HEAD b"head" HEADER b"header" HR b"hr"
        HTML b"html" IFRAME b"iframe" IMAGE b"image" IMG b"img" INPUT b"input" LABEL b"label" LEGEND b"legend" LI b"li"
        LINK b"link" LISTING b"listing" MAIN b"main" MENU b"menu" META b"meta" NAV b"nav" NOEMBED b"noembed"
        NOFRAMES b"noframes" NOSCRIPT b"noscript" OBJECT b"object" OL b"ol" OPTION b"option" P b"p" PRE b"pre"
        SCRIPT b"script" SECTION b"section" SELECT b"select" SOURCE b"source" STYLE b"style" SUMMARY b"summary"
        TABLE b"table" TBODY b"tbody" TD b"td" TEMPLATE b"template" TEXTAREA b"textarea" TFOOT b"tfoot"
        TH b"th" THEAD b"thead" TITLE b"title" TR b"tr" TRACK b"track" UL b"ul" USE b"use" VIDEO b"video" XMP b"xmp"
    }
}

/// An attribute that is kept while its tag is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Attribute {
    Background,
    Class,
    Content,
    Data,
    DataSrc,
    DataSrcSet,
    Hidden,
    Href,
    HrefLang,
    HttpEquiv,
    Id,
    ImageSrcSet,
    Lang,
    Name,
    Poster,
    Rel,
    Role,
    Src,
    SrcSet,
    Style,
    Type,
    XlinkHref,
}

/// The number of attributes kept.
pub(crate) const ATTRIBUTES: usize = Attribute::XlinkHref as usize + 1;

impl Attribute {
    /// The attribute with this name and key, if it is relevant.
    pub(crate) fn named(name: &[u8], key_of_name: u64) -> Option<Self> {
        keys! {
            CLASS b"class" CONTENT b"content" DATA b"data" DATA_SRC b"data-src" HIDDEN b"hidden" HREF b"href" HREFLANG b"hreflang" ID b"id"
            LANG b"lang" NAME b"name" POSTER b"poster" REL b"rel" ROLE b"role" SRC b"src" SRCSET b"srcset"
            STYLE b"style" TYPE b"type"
        }
        Some(match key_of_name {
            CLASS => Self::Class,
            CONTENT => Self::Content,
            DATA => Self::Data,
            DATA_SRC => Self::DataSrc,
            HIDDEN => Self::Hidden,
            HREF => Self::Href,
            HREFLANG => Self::HrefLang,
            ID => Self::Id,
            LANG => Self::Lang,
            NAME => Self::Name,
            POSTER => Self::Poster,
            REL => Self::Rel,
            ROLE => Self::Role,
            SRC => Self::Src,
            SRCSET => Self::SrcSet,
            STYLE => Self::Style,
            TYPE => Self::Type,
            0 => return Self::with_long_name(name),
            _ => return None,
        })
    }
    /// The attribute whose name is too long for a key.
    fn with_long_name(name: &[u8]) -> Option<Self> {
        const LONG: [(&[u8], Attribute); 5] = [
            (b"http-equiv", Attribute::HttpEquiv),
            (b"background", Attribute::Background),
            (b"xlink:href", Attribute::XlinkHref),
            (b"data-srcset", Attribute::DataSrcSet),
            (b"imagesrcset", Attribute::ImageSrcSet),
        ];
        let found = LONG.iter().find(|(long, _)| name.len() == long.len() && name.eq_ignore_ascii_case(long));
        found.map(|(_, attribute)| *attribute)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_in_any_case_and_by_their_whole_length() {
        let named = |name| Attribute::named(name, key(name));
        assert_eq!(named(b"HREF"), Some(Attribute::Href));
        assert_eq!(named(b"hreflang"), Some(Attribute::HrefLang));
        assert_eq!(named(b"Http-Equiv"), Some(Attribute::HttpEquiv));
        assert_eq!(named(b"data-src"), Some(Attribute::DataSrc));
        assert_eq!(named(b"Data-SrcSet"), Some(Attribute::DataSrcSet));
        assert_eq!(named(b"xlink:href"), Some(Attribute::XlinkHref));
        for name in [&b"hrefl"[..], b"xhref", b"", b"\0href", b"hreflangs", b"data-href"] {
            assert_eq!(named(name), None);
        }
    }
}
