//! The whole visible text of a page, one block per line.

use super::block::Block;
use super::blocks::Blocks;
use crate::token::{Token, Tokenizer};
use crate::{TEXT_BYTES_MAX, charset};

/// The visible text of a page from a host under this top-level domain: white space folded, one block per line, at most
/// [`TEXT_BYTES_MAX`] bytes.
///
/// ```
/// let html = b"<title>Hi</title><p>One <b>two</b>\n  three<p hidden>no<p>four &amp; five";
/// assert_eq!(html::visible_text(None, None, html), "One two three\nfour & five");
/// ```
#[must_use]
pub fn visible_text(domain: Option<&str>, content_type: Option<&str>, bytes: &[u8]) -> String {
    let charset = charset::find_from(domain, content_type, bytes);
    walk(&charset::text(charset, bytes)).0
}

/// The same for a decoded page; also returns how many bytes were read.
fn walk(text: &str) -> (String, usize) {
    let mut tag = Tokenizer::html(text);
    let (mut blocks, mut lines, mut raw) = (Blocks::default(), Lines::default(), 0);
    while !lines.is_full
        && let Some(token) = tag.next()
    {
        match token {
            Token::Text(text) => blocks.text(text, |block, _| lines.add(block)),
            Token::Raw(text) => blocks.raw(raw, text, |block, _| lines.add(block)),
            Token::End(name) => blocks.end(name, |block, _| lines.add(block)),
            Token::Start(name) => {
                raw = name.key;
                blocks.start(name, &tag, |block, _| lines.add(block));
            }
        }
    }
    blocks.finish(|block, _| lines.add(block));
    (lines.text, tag.work)
}

/// Collects blocks.
#[derive(Default)]
struct Lines {
    text: String,
    /// The next block continues the last one.
    goes_on: bool,
    /// A block did not fit, and none is added after the gap.
    is_full: bool,
}

impl Lines {
    fn add(&mut self, block: &Block) {
        let room = TEXT_BYTES_MAX.saturating_sub(self.text.len() + 1);
        let text = block.text();
        let fits = text.get(..text.floor_char_boundary(room)).unwrap_or_default();
        if self.is_full || fits.is_empty() {
            self.is_full = true;
            return;
        }
        if !self.text.is_empty() && !self.goes_on {
            self.text.push('\n');
        }
        self.text.push_str(fits);
        (self.goes_on, self.is_full) = (block.goes_on, fits.len() < text.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(html: &str, expected: &str) {
        assert_eq!(walk(html).0, expected, "{html}");
    }

    #[test]
    fn what_is_shown_is_the_text_and_each_block_has_a_line() {
        check("", "");
        check("<title>no</title><p>One <b>two</b>\n  three<p>four", "One two three\nfour");
        check("a<script>no</script>b<style>no</style>c<!-- no -->d<template>no</template>e", "abcde");
        check("<div hidden>no<p>no</div><ul><li>1<li> 2 </ul>", "1\n2");
        check("a<br>b<td>c</td>d<xmp><i>&amp;</xmp>", "a b\nc\nd\n<i>&amp;");
        check("<plaintext>a\n<b>", "a <b>");
    }

    #[test]
    fn a_block_that_is_cut_stays_on_its_line() {
        let words = "word ".repeat(100_000);
        check(&words, words.trim_end());
        check(
            &format!("<p>{}<p>{words}", "漢".repeat(100_000)),
            &format!("{}\n{}", "漢".repeat(100_000), words.trim_end()),
        );
    }

    #[test]
    fn a_text_that_is_too_long_is_cut_once() {
        let blocks = format!("<p>{}", "𠮷".repeat(1_000));
        let html = format!("{}<p>end", blocks.repeat(TEXT_BYTES_MAX / 4_000 + 5));
        let text = walk(&html).0;
        assert!(text.len() <= TEXT_BYTES_MAX && text.len() > TEXT_BYTES_MAX - 8, "{}", text.len());
        assert!(text.ends_with('𠮷'), "nothing stands behind the gap");
    }

    #[test]
    fn survives_h8_hostile_shapes_in_linear_time() {
        for (name, html) in crate::hostile::shapes() {
            let (text, work) = walk(&html);
            assert!(work <= 4 * html.len(), "{name}: {work} for {} bytes", html.len());
            assert!(text.len() <= html.len(), "{name}");
        }
    }
}
