//! The `spider` crate fetching pages into WARC files: `peers-fetch crawl|list LIST DIRECTORY`, `peers-fetch walk URL
//! DIRECTORY`.
//!
//! Given a list it works, like ours, in one thread, on all servers at once, with one request under way on each and one
//! file for each: so it takes the least processor time. It has no mode in which it fetches a list alone.
//!
//! * `crawl`: its crawl, as its documentation has it. The list is given as links found before, and the crawl ends when as
//!   many pages are visited, so that it never follows the links it finds; but it reads them.
//! * `list`: its HTTP client and its writer put together without its crawl.
//! * `walk`: its crawl from one page on, following every link on that server, in as many threads as there are
//!   processors and with as many requests at once as it is told: what it is made for.
//!
//! It writes responses without digests and without compression, and no requests.

use anyhow::{Context, Result, bail};
use spider::CaseInsensitiveString;
use spider::hashbrown::HashSet;
use spider::page::Page;
use spider::utils::warc::{WarcConfig, WarcWriter};
use spider::website::Website;
use std::path::Path;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[1..] {
        ["walk", url, directory] => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(walk(url, warc_file(directory, 0)))
        }
        [how, list, directory] => fetch_list(how, list, directory),
        _ => {
            bail!("say `crawl` or `list`, the list and the directory; or `walk`, the page and the directory")
        }
    }
}

fn warc_file(directory: &str, number: usize) -> WarcConfig {
    let path = Path::new(directory).join(format!("{number}.warc")).to_string_lossy().into_owned();
    WarcConfig { path, ..WarcConfig::default() }
}

fn fetch_list(how: &str, list: &str, directory: &str) -> Result<()> {
    let text = std::fs::read_to_string(list).with_context(|| format!("cannot read `{list}`"))?;
    let urls: Vec<&str> = text.lines().collect();
    let servers = urls.chunk_by(|one, next| server(one) == server(next));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut tasks = Vec::new();
        for (number, pages) in servers.enumerate() {
            let pages: Vec<String> = pages.iter().map(ToString::to_string).collect();
            let warc = warc_file(directory, number);
            tasks.push(match how {
                "crawl" => tokio::spawn(crawl(pages, warc)),
                "list" => tokio::spawn(fetch(pages, warc)),
                other => bail!("there is no `{other}`"),
            });
        }
        for task in tasks {
            task.await.context("a server's task stopped")??;
        }
        Ok(())
    })
}

/// As many requests at once as the others make.
const WIDTH: usize = 32;

async fn walk(url: &str, warc: WarcConfig) -> Result<()> {
    let mut website = Website::new(url);
    website.configuration.with_warc(warc);
    website.with_concurrency_limit(Some(WIDTH)).with_delay(0);
    website.crawl_raw().await;
    let writer = website.get_warc_writer().context("there is a writer")?.clone();
    website.unsubscribe();
    Ok(writer.flush().await?)
}

/// The part of a URL that names the server.
fn server(url: &str) -> Option<&str> {
    url.split('/').nth(2)
}

async fn crawl(pages: Vec<String>, warc: WarcConfig) -> Result<()> {
    let mut website = Website::new(pages.first().context("a server has pages")?);
    website.configuration.with_warc(warc);
    // The page that it would begin with counts, though it is skipped when there are links already.
    website.with_concurrency_limit(Some(1)).with_limit(u32::try_from(pages.len() + 1)?);
    let links: HashSet<CaseInsensitiveString> = pages.iter().map(|url| url.as_str().into()).collect();
    website.set_extra_links(links);
    website.persist_links();
    website.crawl_raw().await;
    let writer = website.get_warc_writer().context("there is a writer")?.clone();
    website.unsubscribe();
    Ok(writer.flush().await?)
}

async fn fetch(pages: Vec<String>, warc: WarcConfig) -> Result<()> {
    let (client, _) = Website::new(pages.first().context("a server has pages")?).setup_base();
    let (writer, written) = WarcWriter::create(&warc)?;
    for url in &pages {
        writer.write_page(&Page::new_page(url, &client).await);
    }
    drop(writer);
    Ok(written.await??)
}
