//! URLs in which it is hard to see where the host is.

/// Names that mean this machine or a cloud's own.
pub(super) const NAMES: [&str; 10] = [
    "localhost",
    "LOCALHOST",
    "localhost.",
    "ｌｏｃａｌｈｏｓｔ",
    "%6c%6f%63alhost",
    "localhost.localdomain",
    "ip6-localhost",
    "anything.localhost",
    "metadata.google.internal",
    "metadata.google.internal.",
];

/// The host in URLs and references of every shape.
pub(super) fn around(host: &str) -> Vec<Vec<u8>> {
    let mut texts: Vec<Vec<u8>> = Vec::new();
    let mut add = |text: String| texts.push(text.into_bytes());
    for before in [
        "good.example@",
        "good.example:80@",
        "good.example%40x@",
        "good.example#x@",
        "user:pass@",
        "@",
        "a@b@",
        "good.example%2f@",
        "good.example%5c@",
        "%00@",
    ] {
        add(format!("http://{before}{host}/"));
    }
    for after in [
        "",
        "#@good.example/",
        "?@good.example/",
        "\\@good.example/",
        "/@good.example/",
        "/..;/good.example",
        ":80/",
        ":00080/",
        ":/",
        ":8080/",
        ":443/",
        ":6379/",
        ":22/",
        ":9200/x?y",
        "/%zz\u{1}",
    ] {
        add(format!("http://{host}{after}"));
    }
    for scheme in [
        "https://",
        "HTTP://",
        "hTtPs://",
        "http:",
        "http:/",
        "http:///",
        "http:////",
        "http:\\\\",
        "http:/\\",
        "https:",
        "//",
        "///",
        "\\\\",
        "/\\",
        "\\/",
        "/\t/",
        " http://",
        "\u{1}http://",
        "\u{b}https://",
        "ht\ttp://",
        "h\nttp://",
    ] {
        add(format!("{scheme}{host}/"));
    }
    texts.push([b"http://", host.as_bytes(), b"/\xff\xfe\x80"].concat());
    texts.push([b"http://\xe9@", host.as_bytes(), b"/"].concat());
    texts.push([b"//", host.as_bytes(), b"/?\xa5"].concat());
    // What is no host at all must lead nowhere.
    let bare = host.trim_matches(['[', ']']);
    for nonsense in [
        format!("[{bare}%25lo]"),
        format!("[{bare}%lo]"),
        format!("[{bare}"),
        format!("{host}x"),
        format!("x {host}"),
    ] {
        texts.push(format!("http://{nonsense}/").into_bytes());
    }
    texts
}
