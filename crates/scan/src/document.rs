//! The input of an analysis: one version of a page, with every coding removed.

/// One document. Its character set is untouched.
#[derive(Clone, Copy, Debug)]
pub struct ScanDocument<'a> {
    /// Its number in the job.
    pub number: u64,
    /// The URL as requested.
    pub url: &'a str,
    /// Its index fields, as the members of a JSON object: `"url":"http://…","at":"…"`, without braces.
    pub fields: &'a str,
    /// The HTTP response head, with its empty line; empty if there was none.
    pub http_head: &'a [u8],
    /// The body with every coding removed.
    pub body: &'a [u8],
    /// The bytes that its record takes in the archive.
    pub stored_bytes: u64,
    /// The bytes of the body as it came, without its transfer coding.
    pub payload_bytes: u64,
}
