//! The key by which pywb, cdxj-indexer and Common Crawl look up a URL.
//!
//! It is close to our own [`base::UrlKey`] but not equal to it: everything is in lower case, `www.` is left out, an
//! address is reversed like a name, a slash at the end is dropped, parameters are sorted. Readers compute this key, so
//! exported files use it.
//!
//! **Invariant:** a key is visible ASCII without a blank, whatever the URL holds, so it cannot break the line that it
//! begins (H16). It takes time linear in the URL, but for the removal of session ids.

use url::Host;

/// The key of `url`: `com,example)/path?a=1&b=2`.
#[must_use]
pub fn surt(url: &str) -> String {
    let bytes: Vec<u8> = trimmed(url.as_bytes()).iter().copied().filter(|b| !b"\n\r\t".contains(b)).collect();
    if bytes.is_empty() {
        return "-".to_owned();
    }
    if bytes.starts_with(b"filedesc") {
        return text(escaped(&bytes, b"#%"));
    }
    let bytes = with_one_scheme(&bytes);
    Parts::split(&bytes).and_then(Parts::key).map_or_else(|| text(escaped(&bytes, b"#%")), text)
}

fn text(key: Vec<u8>) -> String {
    String::from_utf8(key).expect("everything that is not ASCII was escaped")
}

fn trimmed(bytes: &[u8]) -> &[u8] {
    let is_blank = |b: &u8| b.is_ascii_whitespace() || *b == 0x0b;
    let start = bytes.iter().position(|b| !is_blank(b)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|b| !is_blank(b)).map_or(start, |place| place + 1);
    bytes.get(start..end).unwrap_or_default()
}

/// `http://` before what names no scheme, and of several schemes the last.
fn with_one_scheme(bytes: &[u8]) -> Vec<u8> {
    if scheme_bytes(bytes).is_none() {
        return [b"http://", bytes].concat();
    }
    let mut rest = bytes;
    let mut last: &[u8] = b"";
    while let Some(scheme) = [&b"http://"[..], b"https://"].into_iter().find(|s| rest.starts_with(s)) {
        last = scheme;
        rest = rest.get(scheme.len()..).unwrap_or_default();
    }
    [last, rest].concat()
}

/// How long the scheme is, its colon not counted.
fn scheme_bytes(bytes: &[u8]) -> Option<usize> {
    let colon = bytes.iter().position(|b| *b == b':')?;
    let (first, rest) = bytes.get(..colon)?.split_first()?;
    let is_scheme = |b: &u8| b.is_ascii_alphanumeric() || b"+-.".contains(b);
    (first.is_ascii_alphabetic() && rest.iter().all(is_scheme)).then_some(colon)
}

/// A URL cut at its delimiters; user info and fragment are gone.
struct Parts<'a> {
    scheme: &'a [u8],
    host: Option<&'a [u8]>,
    port: Option<u16>,
    path: Option<Vec<u8>>,
    query: Option<&'a [u8]>,
}

impl<'a> Parts<'a> {
    /// `None` for an invalid port: readers refuse such a URL too.
    fn split(url: &'a [u8]) -> Option<Self> {
        let (scheme, rest) = url.split_at_checked(scheme_bytes(url)?)?;
        let rest = cut(rest.get(1..)?, b"#").0;
        let (before_query, query) = cut(rest, b"?");
        let (authority, path) = match before_query.strip_prefix(b"//") {
            Some(after) => after.split_at(after.iter().position(|b| *b == b'/').unwrap_or(after.len())),
            None => (&b""[..], before_query),
        };
        let (host, port) = host_and_port(authority)?;
        let path = (!path.is_empty()).then(|| path.to_vec());
        let query = query.filter(|query| !query.is_empty());
        let parts = Self { scheme, host, port, path, query };
        Some(if parts.host.is_none() && scheme.starts_with(b"http") {
            parts.host_from_path(before_query)
        } else {
            parts
        })
    }

    /// `http:////host/path`: the host stands where the path should begin.
    fn host_from_path(mut self, path: &'a [u8]) -> Self {
        let start = path.iter().position(|b| *b != b'/').unwrap_or(path.len());
        let (host, rest) = cut(path.get(start..).unwrap_or_default(), b"/");
        if self.path.is_some() {
            self.host = Some(host);
            self.path = Some([b"/", rest.unwrap_or_default()].concat());
        }
        self
    }

    fn key(self) -> Option<Vec<u8>> {
        let host = self.host.map(plain_host).filter(|host| !host.is_empty());
        let path = self.path.as_deref().map(unescaped);
        let path = if host.is_some() { Some(normal_path(path.as_deref().unwrap_or_default())) } else { path };
        let path = path.map(|path| canonical_path(&escaped(&path, b"#%")));
        let query = self.query.map(|query| canonical_query(&escaped(&unescaped(query), b"#%")));

        let mut key = Vec::new();
        match &host {
            Some(host) => self.push_server(&mut key, host),
            None => key.extend([self.scheme, b":"].concat()),
        }
        match path.filter(|path| !path.is_empty()) {
            Some(path) => key.extend(path),
            None if query.is_some() => key.push(b'/'),
            None => {}
        }
        if let Some(query) = query.filter(|query| !query.is_empty()) {
            key.push(b'?');
            key.extend(query);
        }
        Some(key)
    }

    fn push_server(&self, key: &mut Vec<u8>, host: &[u8]) {
        let host = if self.scheme == b"dns" { host } else { without_www(host) };
        let labels: Vec<&[u8]> = host.rsplit(|b| *b == b'.').collect();
        key.extend(labels.join(&b','));
        let default = match self.scheme.to_ascii_lowercase().as_slice() {
            b"http" => Some(80),
            b"https" => Some(443),
            _ => None,
        };
        if let Some(port) = self.port.filter(|port| Some(*port) != default) {
            key.extend(format!(":{port}").into_bytes());
        }
        key.push(b')');
    }
}

/// What stands before and after the first of `delimiters`.
fn cut<'a>(bytes: &'a [u8], delimiters: &[u8]) -> (&'a [u8], Option<&'a [u8]>) {
    match bytes.iter().position(|b| delimiters.contains(b)) {
        Some(place) => (bytes.get(..place).unwrap_or_default(), bytes.get(place + 1..)),
        None => (bytes, None),
    }
}

/// Host without user info, and port; nothing when the port is no number.
fn host_and_port(authority: &[u8]) -> Option<(Option<&[u8]>, Option<u16>)> {
    let end = authority.iter().rposition(|b| *b != b':').map_or(0, |place| place + 1);
    let authority = authority.get(..end).unwrap_or_default();
    let host_info = authority.rsplit(|b| *b == b'@').next().unwrap_or_default();
    let (host, port) = match cut(host_info, b"[").1 {
        Some(bracketed) => {
            let (host, behind) = cut(bracketed, b"]");
            (host, behind.and_then(|behind| cut(behind, b":").1))
        }
        None => cut(host_info, b":"),
    };
    let port = match port.filter(|port| !port.is_empty()) {
        Some(port) if port.iter().all(u8::is_ascii_digit) => {
            Some(std::str::from_utf8(port).ok()?.parse().ok()?)
        }
        Some(_) => return None,
        None => None,
    };
    Some(((!host.is_empty()).then_some(host), port.filter(|port| *port != 0)))
}

/// The host unescaped, in ASCII and lower case, without dots at its ends; an address in four numbers.
fn plain_host(host: &[u8]) -> Vec<u8> {
    let mut host = unescaped(host);
    if !host.is_ascii()
        && let Ok(Host::Domain(ascii)) = Host::parse(&String::from_utf8_lossy(&host))
    {
        host = ascii.into_bytes();
    }
    let host = with_single_dots(&host);
    match address(&host) {
        Some(address) => address.into_bytes(),
        None => escaped(&host, b"#%").to_ascii_lowercase(),
    }
}

/// Two dots become one, once over, and dots at the ends go.
fn with_single_dots(host: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(host.len());
    let mut rest = host;
    while let Some((first, after)) = rest.split_first() {
        kept.push(*first);
        rest = if *first == b'.' && after.first() == Some(&b'.') {
            after.get(1..).unwrap_or_default()
        } else {
            after
        };
    }
    let start = kept.iter().position(|b| *b != b'.').unwrap_or(kept.len());
    let end = kept.iter().rposition(|b| *b != b'.').map_or(start, |place| place + 1);
    kept.get(start..end).unwrap_or_default().to_vec()
}

/// The four numbers of an address that is written as one to four.
fn address(host: &[u8]) -> Option<String> {
    let host = std::str::from_utf8(host).ok()?;
    if !host.starts_with(|c: char| c.is_ascii_digit())
        || !host.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    {
        return None;
    }
    let number = if host.contains('.') { dotted(host)? } else { decimal(host) };
    Some(std::net::Ipv4Addr::from_bits(number).to_string())
}

/// Digits without a dot, whatever their number, are read to the lower four bytes.
fn decimal(digits: &str) -> u32 {
    digits.bytes().fold(0, |number: u32, digit| number.wrapping_mul(10).wrapping_add(u32::from(digit - b'0')))
}

/// Two to four numbers; the last one fills what is left.
fn dotted(host: &str) -> Option<u32> {
    let radix = |part: &str| if part.len() > 1 && part.starts_with('0') { 8 } else { 10 };
    let parts: Vec<u32> =
        host.split('.').map(|part| u32::from_str_radix(part, radix(part)).ok()).collect::<Option<_>>()?;
    let (last, first) = parts.split_last()?;
    let room_bits = 32_u32.checked_sub(u32::try_from(first.len()).ok()? * 8).filter(|bits| *bits >= 8)?;
    if first.iter().any(|part| *part > 255) || u64::from(*last) >> room_bits != 0 {
        return None;
    }
    let high = first.iter().fold(0_u32, |number, part| number << 8 | part);
    Some(high.checked_shl(room_bits).unwrap_or(0) | last)
}

/// Without a first label of `www` and digits.
fn without_www(host: &[u8]) -> &[u8] {
    let rest = host.strip_prefix(b"www").unwrap_or_default();
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    rest.get(digits..).and_then(|rest| rest.strip_prefix(b".")).unwrap_or(host)
}

/// The path with `.`, `..` and empty segments resolved.
fn normal_path(path: &[u8]) -> Vec<u8> {
    let mut kept: Vec<&[u8]> = Vec::new();
    for segment in path.split(|b| *b == b'/').skip(1) {
        match segment {
            b"." => {}
            b".." if !kept.is_empty() => _ = kept.pop(),
            _ => kept.push(segment),
        }
    }
    let mut normal = vec![b'/'];
    if let Some((last, first)) = kept.split_last() {
        for segment in first.iter().filter(|segment| !segment.is_empty()) {
            normal.extend_from_slice(segment);
            normal.push(b'/');
        }
        normal.extend_from_slice(last);
    }
    normal
}

/// Lower case, without session ids, and without a slash at its end unless it is all there is.
fn canonical_path(path: &[u8]) -> Vec<u8> {
    let mut path = path.to_ascii_lowercase();
    for is_id in [several_ids, one_id] {
        path = without_path_id(path, is_id);
    }
    if path.len() > 1 && path.ends_with(b"/") {
        path.pop();
    }
    path
}

/// Leaves out the last segment that is a session id, if an `.aspx` page follows.
fn without_path_id(path: Vec<u8>, is_id: fn(&[u8]) -> bool) -> Vec<u8> {
    let slashes: Vec<usize> =
        path.iter().enumerate().filter(|(_, b)| **b == b'/').map(|(place, _)| place).collect();
    for pair in slashes.windows(2).rev() {
        let &[before, after] = pair else { continue };
        let segment = path.get(before + 1..after).unwrap_or_default();
        let page = path.get(after + 1..).unwrap_or_default();
        if is_id(segment) && is_aspx(page) {
            return [path.get(..=before).unwrap_or_default(), page].concat();
        }
    }
    path
}

fn is_aspx(page: &[u8]) -> bool {
    let before_query = cut(page, b"?").0;
    before_query.windows(5).skip(1).any(|window| window == b".aspx")
}

fn is_token(bytes: &[u8]) -> bool {
    bytes.len() == 24 && bytes.iter().all(u8::is_ascii_alphanumeric)
}

/// `(a(…)b(…))`, 24 letters and digits in each of the inner brackets.
fn several_ids(segment: &[u8]) -> bool {
    let Some(inner) = segment.strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b")")) else {
        return false;
    };
    !inner.is_empty()
        && inner.chunks(27).all(|one| match one {
            [name, b'(', token @ .., b')'] => name.is_ascii_alphabetic() && is_token(token),
            _ => false,
        })
}

/// `(…)`, 24 letters and digits.
fn one_id(segment: &[u8]) -> bool {
    segment.strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b")")).is_some_and(is_token)
}

/// Without session ids, in lower case, parameters in order.
fn canonical_query(query: &[u8]) -> Vec<u8> {
    let mut query = query.to_vec();
    for id_bytes in [jsessionid, phpsessid, sid, aspsessionid, cfid] as [fn(&[u8]) -> Option<usize>; 5] {
        query = without_query_id(query, id_bytes);
    }
    let query = query.to_ascii_lowercase();
    let mut parameters: Vec<(&[u8], Option<&[u8]>)> =
        query.split(|b| *b == b'&').map(|parameter| cut(parameter, b"=")).collect();
    parameters.sort_unstable();
    let parameters: Vec<Vec<u8>> = parameters
        .into_iter()
        .map(|(name, value)| value.map_or_else(|| name.to_vec(), |value| [name, b"=", value].concat()))
        .collect();
    parameters.join(&b'&')
}

/// Leaves out the last place where `id_bytes` finds an id that reaches to the next parameter.
fn without_query_id(query: Vec<u8>, id_bytes: fn(&[u8]) -> Option<usize>) -> Vec<u8> {
    for start in (0..query.len()).rev() {
        let (before, from) = query.split_at(start);
        let after = id_bytes(from).and_then(|bytes| from.get(bytes..));
        match after.map(<[u8]>::split_first) {
            Some(None) => return before.to_vec(),
            Some(Some((b'&', rest))) => return [before, rest].concat(),
            _ => {}
        }
    }
    query
}

fn jsessionid(bytes: &[u8]) -> Option<usize> {
    named_token(bytes, b"jsessionid=")
}
fn phpsessid(bytes: &[u8]) -> Option<usize> {
    named_token(bytes, b"phpsessid=")
}
fn sid(bytes: &[u8]) -> Option<usize> {
    named_token(bytes, b"sid=")
}

/// `name` and 32 letters and digits.
fn named_token(bytes: &[u8], name: &[u8]) -> Option<usize> {
    let value = after_name(bytes, name)?.get(..32)?;
    value.iter().all(u8::is_ascii_alphanumeric).then_some(name.len() + 32)
}

/// `ASPSESSIONID`, 8 letters, `=`, 24 letters.
fn aspsessionid(bytes: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"aspsessionid";
    let rest = after_name(bytes, NAME)?;
    let (letters, value) = (rest.get(..8)?, rest.get(9..33)?);
    let is_id = letters.iter().chain(value).all(u8::is_ascii_alphabetic) && rest.get(8) == Some(&b'=');
    is_id.then_some(NAME.len() + 33)
}

/// `cfid=…&cftoken=…`
fn cfid(bytes: &[u8]) -> Option<usize> {
    let (id, rest) = cut(after_name(bytes, b"cfid=")?, b"&");
    let token = cut(after_name(rest?, b"cftoken=")?, b"&").0;
    let is_id = !id.is_empty() && !token.is_empty();
    is_id.then_some(b"cfid=&cftoken=".len() + id.len() + token.len())
}

fn after_name<'a>(bytes: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (start, rest) = bytes.split_at_checked(name.len())?;
    start.eq_ignore_ascii_case(name).then_some(rest)
}

/// Undoes escapes until none is left, including new ones that this creates.
fn unescaped(bytes: &[u8]) -> Vec<u8> {
    let mut plain: Vec<u8> = Vec::with_capacity(bytes.len());
    for byte in bytes {
        plain.push(*byte);
        while let [.., b'%', high, low] = plain.as_slice()
            && let (Some(high), Some(low)) = (digit(*high), digit(*low))
        {
            plain.truncate(plain.len() - 3);
            plain.push(high << 4 | low);
        }
    }
    plain
}

fn digit(letter: u8) -> Option<u8> {
    char::from(letter).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// Escapes what is not visible ASCII, and `also`.
fn escaped(bytes: &[u8], also: &[u8]) -> Vec<u8> {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut safe = Vec::with_capacity(bytes.len());
    for byte in bytes {
        if byte.is_ascii_graphic() && !also.contains(byte) {
            safe.push(*byte);
        } else {
            let hex = |nibble: u8| HEX.get(usize::from(nibble)).copied().unwrap_or(b'0');
            safe.extend([b'%', hex(byte >> 4), hex(byte & 15)]);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expected: &str) {
        assert_eq!(surt(url), expected, "{url:?}");
    }

    #[test]
    fn a_host_is_reversed_and_a_path_is_normalised() {
        check("http://example.com/path/file.html", "com,example)/path/file.html");
        check("https://www.Example.com:443/A/B/", "com,example)/a/b");
        check("http://www42.example.com", "com,example)/");
        check("http://wwwx.example.com/", "com,example,wwwx)/");
        check("http://example.com:8080/a//b/./c/../d", "com,example:8080)/a/b/d");
        check("http://user:secret@example.com:/x#y", "com,example)/x");
        check("http://example.com../%7Ea%2fb/%E3%81%82", "com,example)/~a/b/%e3%81%82");
        check("http://日本語.jp/あ", "jp,xn--wgv71a119e)/%e3%81%82");
        check("example.com/x", "com,example)/x");
        check("http://https://example.com/x", "com,example)/x");
        check("http:////example.com/x", "com,example)/x");
    }

    #[test]
    fn addresses_are_reversed_too() {
        check("http://127.0.0.1:81/", "1,0,0,127:81)/");
        check("http://127.1/", "1,0,0,127)/");
        check("http://2130706433/", "1,0,0,127)/");
        check("http://0177.0.0.1/", "1,0,0,127)/");
        check("http://300.1.2.3/", "3,2,1,300)/");
        check("http://[::1]:81/", "::1:81)/");
    }

    #[test]
    fn parameters_are_sorted_in_lower_case() {
        check("http://a.jp/?B=2&a=1&b", "jp,a)/?a=1&b&b=2");
        check("http://a.jp/x?", "jp,a)/x");
        check("http://a.jp?q=%2520#f", "jp,a)/?q=%20");
        check("http://a.jp/x?q=1%&r=%zz", "jp,a)/x?q=1%25&r=%25zz");
    }

    #[test]
    fn session_ids_are_removed() {
        let id = "0123456789ABCDEF0123456789abcdef";
        check(&format!("http://a.jp/x?PHPSESSID={id}&q=1"), "jp,a)/x?q=1");
        check(&format!("http://a.jp/x?q=1&sid={id}"), "jp,a)/x?&q=1");
        check(&format!("http://a.jp/x?jsessionid={id}"), "jp,a)/x");
        check("http://a.jp/x?sid=7", "jp,a)/x?sid=7");
        check("http://a.jp/x?cfid=1&cftoken=2&q=3", "jp,a)/x?q=3");
        check("http://a.jp/x?ASPSESSIONIDABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX&q=3", "jp,a)/x?q=3");
        check("http://a.jp/(S(lit3py55t21z5v55vlm25s55))/x.aspx", "jp,a)/x.aspx");
        check("http://a.jp/(lit3py55t21z5v55vlm25s55)/x.aspx?q", "jp,a)/x.aspx?q");
        check("http://a.jp/(S(lit3py55t21z5v55vlm25s55))/x", "jp,a)/(s(lit3py55t21z5v55vlm25s55))/x");
    }

    #[test]
    fn what_is_no_web_page_keeps_its_scheme() {
        check("urn:some:Id", "urn:some:id");
        check("dns:www.Example.com", "dns:www.example.com");
        check("", "-");
        check("filedesc://a b.arc", "filedesc://a%20b.arc");
        check("http://a.jp:port/ x", "http://a.jp:port/%20x");
    }

    #[test]
    fn survives_h16_no_url_breaks_a_line() {
        for url in
            ["http://a.jp/\n20200101000000 {}", " \r\n", "http://a b\u{2028}\0/\u{85}?\u{7f} x", "%0a%20:\n"]
        {
            let key = surt(url);
            assert!(!key.is_empty() && key.bytes().all(|b| b.is_ascii_graphic()), "{url:?} {key:?}");
        }
    }
}
