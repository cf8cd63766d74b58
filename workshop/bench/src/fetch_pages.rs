//! The list of pages that every client of the comparison fetches: the HTML of documentation packages, shared out among
//! several servers.
//!
//! **Invariant:** no two pages have the same content. Ours stores a body once, and would otherwise have less work than
//! the others.

use crate::warc_pages::{cannot, find_html};
use anyhow::{Context, Result, ensure};
use base::{PageUrl, Sha1Digest};
use std::collections::HashSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

/// The pages to fetch.
#[derive(Debug)]
pub(crate) struct List {
    /// All URLs, grouped by server.
    pub(crate) urls: Vec<String>,
    /// Total length of all bodies.
    pub(crate) body_bytes: u64,
}

/// The address of a server, counted from 0.
pub(crate) fn address(server: u8) -> IpAddr {
    Ipv4Addr::new(127, 0, 0, server + 1).into()
}

impl List {
    /// At most `pages_max` pages below `root`, shared out among `servers` that listen on `port`.
    pub(crate) fn of(root: &Path, pages_max: usize, servers: u8, port: u16, scheme: &str) -> Result<Self> {
        let mut paths = Vec::new();
        find_html(root, &mut paths)?;
        // By a digest of the path: a short list has pages of every package.
        paths.sort_by_cached_key(|path| {
            let name = path.strip_prefix(root).unwrap_or(path);
            Sha1Digest::of(&[name.as_os_str().as_encoded_bytes()]).to_string()
        });
        let (mut seen, mut body_bytes) = (HashSet::new(), 0);
        let mut by_server = vec![Vec::new(); usize::from(servers)];
        for path in paths {
            if seen.len() == pages_max {
                break;
            }
            let body = fs::read(&path).with_context(|| cannot("read", &path))?;
            if !seen.insert(Sha1Digest::of(&[&body])) {
                continue;
            }
            body_bytes += body.len() as u64;
            let server = (seen.len() - 1) % usize::from(servers);
            let host = address(u8::try_from(server)?);
            let path = path.strip_prefix(root)?.to_string_lossy();
            let url = PageUrl::parse(&format!("{scheme}://{host}:{port}/{path}"))?;
            by_server[server].push(url.as_str().to_owned());
        }
        ensure!(!seen.is_empty(), "no HTML below `{}`", root.display());
        Ok(Self { urls: by_server.into_iter().flatten().collect(), body_bytes })
    }

    /// Writes the list, one URL a line.
    pub(crate) fn write(&self, to: &Path) -> Result<()> {
        fs::write(to, self.urls.join("\n") + "\n").with_context(|| cannot("write", to))
    }
}

/// Reads a list, the pages of each server by themselves.
pub(crate) fn read(from: &Path) -> Result<Vec<Vec<PageUrl>>> {
    let text = fs::read_to_string(from).with_context(|| cannot("read", from))?;
    let urls = text.lines().map(PageUrl::parse).collect::<Result<Vec<_>, _>>()?;
    Ok(urls.chunk_by(|one, next| one.origin() == next.origin()).map(<[PageUrl]>::to_vec).collect())
}
