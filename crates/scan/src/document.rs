//! What an analysis is given: one version of a page, with every coding removed.

/// One document. Its character set is untouched.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// Its number in the job.
    pub number: u64,
    /// What was asked for, as it was requested.
    pub url: &'a str,
    /// What the index knows of it, as the members of a JSON object: `"url":"http://…","at":"…"`, without braces.
    pub fields: &'a str,
    /// The head of the answer, with its empty line; empty when there was none.
    pub http_head: &'a [u8],
    /// The body with every coding removed.
    pub body: &'a [u8],
    /// The bytes that its record takes in the archive.
    pub stored_bytes: u64,
    /// The bytes of the body as it came, without its transfer coding.
    pub payload_bytes: u64,
}
