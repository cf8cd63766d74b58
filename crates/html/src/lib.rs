//! Parsers for web content: pages with their links and text, style sheets, feeds, sitemaps. They never fail.
//!
//! ```
//! let url = base::PageUrl::parse("http://a.example/dir/page.html")?;
//! let page = html::read(&url, None, b"<title>Hi</title><a href=next.html rel=nofollow>on</a>", "utsushi");
//! assert_eq!(page.title, "Hi");
//! assert_eq!(page.links[0].url.as_str(), "http://a.example/dir/next.html");
//! assert!(page.links[0].nofollow);
//! assert_eq!((&*page.links[0].anchor_text, page.links[0].offset), ("on", 17));
//! assert_eq!(page.text.sample, "on");
//! # Ok::<(), base::url::UrlError>(())
//! ```
//!
//! Three ways to read a page, by the same tokenizer:
//!
//! | function | gives | for |
//! |---|---|---|
//! | [`read`] | links, title, digests, a sample of the text | the crawl |
//! | [`read_with_outline`] | the same and, in the same pass, an [`Outline`] | documents |
//! | [`outline()`] | the outline alone | scans, main text |
//!
//! An [`Outline`] gives the title and the blocks of a page: their text, [`BlockKind`], whether they are main text, and for any
//! range of their text the bytes of the page it is written in ([`OutlineBlock::source`]).
//!
//! **Invariant:** every function here is total, takes time linear in its input and keeps at most
//! [`LINKS_MAX`] links (H8). The bytes of the page are never changed.
//!
//! Not here: fetching, sentences, the decision which link to follow.
#![warn(clippy::indexing_slicing)]

mod anchor;
pub mod charset;
mod css;
mod date;
pub mod feed;
mod gzip;
#[cfg(test)]
#[path = "../tests/it/hostile.rs"]
mod hostile;
pub mod kind;
mod links;
mod outline;
mod page;
mod reference;
pub mod sitemap;
mod source;
mod srcset;
mod text;
mod title;
mod token;
mod xml;

pub use css::style_sheet_links;
pub use links::{Link, LinkKind};
pub use outline::{BlockKind, Outline, OutlineBlock, OutlineTitle, outline};
pub use page::{Page, read, read_with_outline};
pub use source::SourceRange;
pub use text::{BLOCKS_MAX, PageText, WORDS_MAX, visible_text};
pub use title::title;

/// The maximum number of links taken from one page: more is a trap or a mistake.
pub const LINKS_MAX: usize = 10_000;
/// The maximum length of a title, in bytes.
pub const TITLE_BYTES_MAX: usize = 1_024;
/// The maximum length of the text that [`visible_text`] returns, in bytes: twice the longest novels; longer text is a
/// table or a trap.
pub const TEXT_BYTES_MAX: usize = 8 * 1024 * 1024;
/// The maximum number of entries taken from one feed or sitemap: the limit of the sitemap protocol.
pub const ENTRIES_MAX: usize = 50_000;
