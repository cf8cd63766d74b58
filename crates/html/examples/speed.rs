//! How fast pages are read, beside html5gum, in one run: `cargo run --release -p html --example speed [FILE…]`.
//!
//! Without files it reads pages of the simulated web. The last lines are then hostile pages of one mebibyte each.
#![expect(clippy::print_stdout, reason = "an example prints what it measured")]

#[path = "../tests/it/hostile.rs"]
mod hostile;
#[path = "../tests/it/oracle.rs"]
mod oracle;

use base::PageUrl;
use sim::{ORIGIN, Plan, Web, WebRequest};

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let bodies: Vec<Vec<u8>> = if files.is_empty() {
        simulated()
    } else {
        files.iter().filter_map(|file| std::fs::read(file).ok()).collect()
    };
    let bytes: usize = bodies.iter().map(Vec::len).sum();
    println!("{} pages, {} bytes each", bodies.len(), bytes / bodies.len().max(1));
    let url = PageUrl::parse("http://a.example/dir/page.html").expect("a URL");
    let tell = |what: &str, read: &dyn Fn(&[u8]) -> usize| {
        let (mut best, mut links) = (f64::INFINITY, 0);
        for _ in 0..7 {
            let start = cpu_seconds();
            links = bodies.iter().map(|body| read(body)).sum();
            best = best.min(cpu_seconds() - start);
        }
        println!(
            "{what:<28} {:>7.0} MB/s  {:>7.1} us a page  {links} links",
            bytes as f64 / best / 1e6,
            best * 1e6 / bodies.len() as f64
        );
    };
    tell("ours: links, title, text", &|body| html::read(&url, None, body, "utsushi").links.len());
    tell("html5gum: links, title", &|body| {
        oracle::read(&url, &String::from_utf8_lossy(body), "utsushi").links.len()
    });
    // Only beside the simulated pages, so that instructions can be counted for the files alone.
    for (name, body) in hostile::shapes().into_iter().filter(|_| files.is_empty()) {
        let start = cpu_seconds();
        let links = html::read(&url, None, body.as_bytes(), "utsushi").links.len();
        println!(
            "{name:<28} {:>7.1} ms for {} bytes, {links} links",
            (cpu_seconds() - start) * 1e3,
            body.len()
        );
    }
}

/// What this thread has spent of the processor, which others on the machine do not change.
fn cpu_seconds() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    told.split(' ').next().and_then(|nanos| nanos.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e9
}

/// Pages in UTF-8 from all over a simulated web.
fn simulated() -> Vec<Vec<u8>> {
    let web = Web::new(Plan::default());
    let mut bodies = Vec::new();
    for number in 0..web.plan().servers {
        for page in 0..web.server_pages(number).min(20) {
            let Ok(url) = PageUrl::parse(&web.page_url(number, page, ORIGIN)) else { continue };
            let asked = WebRequest {
                scheme: url.scheme(),
                host: url.host(),
                target: url.target(),
                head_only: false,
                if_none_match: None,
                if_modified_since: None,
                accepts_gzip: false,
            };
            let body = web.answer(&asked, ORIGIN).body;
            bodies.extend(Some(body).filter(|body| std::str::from_utf8(body).is_ok() && body.len() > 2_000));
        }
    }
    bodies
}
