//! Where the parser differs from the standard for URLs that are not pages: input and base.
//!
//! None of these is ever visited: links of other schemes are refused. The list is exact, so that a new parser that
//! fixes or breaks one is noticed.

pub(super) const KNOWN_DIFFERENCES_OTHER_SCHEMES: &[(&str, Option<&str>)] = &[
    // `file`: the parser drops the host before a drive letter, and does not read `w|` as a drive after three slashes.
    ("file:///w|/m", None),
    ("/", Some("file://h/C:/a/b")),
    ("C|", Some("file://host/dir/file")),
    ("C|", Some("file://host/D:/dir1/dir2/file")),
    ("C|#", Some("file://host/dir/file")),
    ("C|?", Some("file://host/dir/file")),
    ("C|/", Some("file://host/dir/file")),
    ("C|\n/", Some("file://host/dir/file")),
    ("C|\\", Some("file://host/dir/file")),
    ("/c:/foo/bar", Some("file://host/path")),
    ("file://example.net/C:/", None),
    ("file://1.2.3.4/C:/", None),
    ("file://[1::8]/C:/", None),
    ("C|/", Some("file://host/")),
    ("/C:/", Some("file://host/")),
    ("file:C:/", Some("file://host/")),
    ("file:/C:/", Some("file://host/")),
    // `file`: the parser reads several slashes at the start of a path as one.
    ("file:\\\\//", None),
    ("file:\\\\\\\\", None),
    ("file:\\\\\\\\?fox", None),
    ("file:\\\\\\\\#guppy", None),
    ("file://spider///", None),
    ("file:\\\\localhost//", None),
    ("file://\\/localhost//cat", None),
    ("file://localhost//a//../..//", None),
    ("/////mouse", Some("file:///elephant")),
    ("\\/localhost//pig", Some("file://lion/")),
    ("//localhost//pig", Some("file://lion/")),
    ("/..//localhost//pig", Some("file://lion/")),
    ("file://localhost//a//../..//foo", None),
    ("file://localhost////foo", None),
    ("file:////foo", None),
    ("file:////one/two", Some("file:///")),
    ("////one/two", Some("file:///")),
    ("file:///.//", Some("file:////")),
    ("file:.//p", None),
    ("file:/.//p", None),
    ("/\\//\\/a/../", Some("file:///")),
    // Schemes of their own: blanks at the end of an opaque path are not escaped.
    ("non-special:opaque  ?hi", None),
    ("non-special:opaque  #hi", None),
    ("non-special:opaque \t\t  \t#hi", None),
    ("non-special:opaque \t\t  #hi", None),
    ("non-special:opaque\t\t  \r #hi", None),
    // A caret in a path is not escaped (for pages it is).
    ("foo://host/ !\"$%&'()*+,-./:;<=>@[\\]^_`{|}~", None),
    ("wss://host/ !\"$%&'()*+,-./:;<=>@[\\]^_`{|}~", None),
    // `blob`: the parser gives an origin although the inner URL is not a web page.
    ("blob:blob:https://example.org/", None),
    ("blob:ftp://host/path", None),
    ("blob:ws://example.org/", None),
    ("blob:wss://example.org/", None),
];
