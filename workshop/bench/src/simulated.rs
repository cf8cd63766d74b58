//! The simulated web of a million pages as a server, beside nginx with some of the same pages as files.
//!
//! Both are asked by the same client over kept connections on loopback, taking turns. The simulated web makes each
//! page when it is asked for; nginx sends files from the page cache. What is compared is pages a second and
//! processor time a page; what must hold is that making pages is never the bottleneck of a later benchmark.

use crate::load::{self, Load, Target};
use crate::process::{Process, write_file};
use anyhow::{Context, Result, ensure};
use base::url::Scheme;
use base::{Chance, PageUrl, Timestamp};
use serde_json::{Value, json};
use sim::{Plan, Web, WebRequest};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Pages of the simulated web
    #[arg(long, default_value_t = 1_000_000)]
    pages: u64,
    /// Servers of the simulated web
    #[arg(long, default_value_t = 10_000)]
    servers: u32,
    /// Different pages that are asked for
    #[arg(long, default_value_t = 20_000)]
    sample: u64,
    /// Connections at once
    #[arg(long, default_value_t = 16)]
    connections: usize,
    /// Seconds a turn
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Turns of each server
    #[arg(long, default_value_t = 3)]
    turns: u32,
    /// Print one object a line
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let plan = Plan { seed: 1, pages: args.pages, servers: args.servers, hostile: 0, ..Plan::default() };
    let web = Web::new(plan);
    let pages = sample(&web, args.sample)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut rivals = vec![simulated(args, &pages)?];
    match nginx(&web, &pages)? {
        Some(nginx) => rivals.push(nginx),
        None => eprintln!(
            "no nginx: run this through `cargo xtask bench sim`, which gets one; showing ours alone"
        ),
    }
    for _ in 0..args.turns {
        for rival in &mut rivals {
            let before = rival.process.cpu_seconds();
            let time = Duration::from_secs(args.seconds);
            let load = runtime.block_on(load::run(&rival.targets, args.connections, time))?;
            rival.cpu_seconds += rival.process.cpu_seconds() - before;
            rival.loads.push(load);
            rival.resident_bytes.push(rival.process.resident_bytes());
        }
    }
    print(args, &rivals);
    drop(rivals);
    // The next run rebuilds what nginx served; a directory that cannot be removed does no harm.
    let _ = std::fs::remove_dir_all(scratch());
    Ok(())
}

/// Where the files for nginx go.
fn scratch() -> PathBuf {
    std::env::temp_dir().join(format!("utsushi-bench-{}", std::process::id()))
}

/// A server under test.
struct Rival {
    name: &'static str,
    process: Process,
    targets: Vec<Target>,
    loads: Vec<Load>,
    /// After each turn: a server whose memory grows with what it was asked shows here.
    resident_bytes: Vec<u64>,
    cpu_seconds: f64,
}

impl Rival {
    fn new(name: &'static str, process: Process, targets: Vec<Target>) -> Self {
        Self { name, process, targets, loads: Vec::new(), resident_bytes: Vec::new(), cpu_seconds: 0.0 }
    }
    /// The best turn: the one that the rest of the machine disturbed least.
    fn pages_per_second(&self) -> f64 {
        self.loads.iter().map(|load| per(load.pages, load.seconds)).fold(0.0, f64::max)
    }
    fn pages(&self) -> u64 {
        self.loads.iter().map(|load| load.pages).sum()
    }
    fn to_json(&self) -> Value {
        let bytes: u64 = self.loads.iter().map(|load| load.bytes).sum();
        json!({
            "system": self.name,
            "pages": self.pages(),
            "pages_per_second": self.pages_per_second().round(),
            "bytes_per_page": bytes / self.pages().max(1),
            "cpu_microseconds_per_page": (self.cpu_seconds * 1e6 / per(self.pages(), 1.0)).round(),
            "resident_bytes_first_turn": self.resident_bytes.first(),
            "resident_bytes": self.resident_bytes.last(),
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate for reading")]
fn per(count: u64, seconds: f64) -> f64 {
    count as f64 / seconds
}

/// Pages of honest servers, spread over the whole web, that exist now and are answered over plain http.
fn sample(web: &Web, count: u64) -> Result<Vec<PageUrl>> {
    let now = now();
    let mut chance = Chance::new(7);
    let mut pages = Vec::new();
    for _ in 0..count * 10 {
        let server = u32::try_from(chance.below(u64::from(web.plan().servers)))?;
        let page = chance.below(web.server_pages(server));
        let url = PageUrl::parse(&web.page_url(server, page, now))?;
        if url.scheme() == Scheme::Http && answer(web, &url).status == 200 {
            pages.push(url);
        }
        if pages.len() as u64 == count {
            break;
        }
    }
    ensure!(!pages.is_empty(), "no page to ask for");
    // Pages of one address in a row, so that connections are kept as a crawler keeps them.
    pages.sort_by_key(|url| web.address(url.host()));
    Ok(pages)
}

fn answer(web: &Web, url: &PageUrl) -> sim::WebResponse {
    let asked = WebRequest {
        scheme: url.scheme(),
        host: url.host(),
        target: url.target(),
        head_only: false,
        if_none_match: None,
        if_modified_since: None,
        accepts_gzip: false,
    };
    web.answer(&asked, now())
}

fn now() -> Timestamp {
    use base::Clock as _;
    base::clock::RealClock::start().now()
}

fn simulated(args: &Args, pages: &[PageUrl]) -> Result<Rival> {
    let program = std::env::var_os("UTSUSHI_PROGRAM").context("run this through `cargo xtask bench sim`")?;
    let mut command = Command::new(program);
    command.args(["--json", "--quiet", "sim", "serve", "--seed", "1", "--for", "10m"]);
    command.args(["--pages", &args.pages.to_string(), "--servers", &args.servers.to_string()]);
    let mut process = Process::start(command.stdout(Stdio::piped()).stdin(Stdio::null()))?;
    let stdout = process.child().stdout.take().context("its output is piped")?;
    let mut first = String::new();
    BufReader::new(stdout).read_line(&mut first)?;
    let said: Value = serde_json::from_str(&first).with_context(|| format!("`sim serve` said `{first}`"))?;
    let port = said["http_port"]
        .as_u64()
        .and_then(|port| u16::try_from(port).ok())
        .context("it reports its port")?;
    let web =
        Web::new(Plan { seed: 1, pages: args.pages, servers: args.servers, hostile: 0, ..Plan::default() });
    let targets = pages.iter().map(|url| {
        let address = web.address(url.host()).context("every server has an address")?;
        let to = SocketAddr::new(address.into(), port);
        Ok(Target { to, host: url.host().to_owned(), path: url.target().to_owned() })
    });
    let targets = targets.collect::<Result<Vec<_>>>()?;
    Ok(Rival::new("utsushi sim serve", process, targets))
}

/// nginx with the same pages as files, if there is an nginx.
fn nginx(web: &Web, pages: &[PageUrl]) -> Result<Option<Rival>> {
    let Some(program) = std::env::var_os("UTSUSHI_NGINX") else { return Ok(None) };
    let directory = scratch();
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    for (number, url) in pages.iter().enumerate() {
        write_file(&directory.join(format!("www/{number}.html")), &answer(web, url).body)?;
    }
    let configuration = write_configuration(&directory, port)?;
    let mut command = Command::new(program);
    command
        .arg("-p")
        .arg(&directory)
        .arg("-c")
        .arg(&configuration)
        .arg("-e")
        .arg(directory.join("error.log"));
    if let Some(libraries) = std::env::var_os("UTSUSHI_NGINX_LIBS") {
        command.env("LD_LIBRARY_PATH", libraries);
    }
    let process = Process::start(command.stdin(Stdio::null()))?;
    wait_for(port)?;
    let to = SocketAddr::from(([127, 0, 0, 1], port));
    let target = |number| Target { to, host: "127.0.0.1".to_owned(), path: format!("/{number}.html") };
    Ok(Some(Rival::new("nginx, files", process, (0..pages.len()).map(target).collect())))
}

fn write_configuration(directory: &Path, port: u16) -> Result<PathBuf> {
    let path = directory.join("nginx.conf");
    let root = directory.join("www");
    let text = format!(
        "daemon off; user root; worker_processes 2; pid {0}/pid; error_log {0}/error.log;\n\
         events {{ worker_connections 1024; }}\n\
         http {{ access_log {0}/access.log; sendfile on; tcp_nodelay on; keepalive_requests 1000000;\n\
         client_body_temp_path {0}/b; proxy_temp_path {0}/p; fastcgi_temp_path {0}/f; uwsgi_temp_path {0}/u; \
         scgi_temp_path {0}/s;\n\
         server {{ listen 127.0.0.1:{port}; root {1}; }} }}\n",
        directory.display(),
        root.display(),
    );
    write_file(&path, text.as_bytes())?;
    Ok(path)
}

fn wait_for(port: u16) -> Result<()> {
    for _ in 0..100 {
        if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    anyhow::bail!("nginx does not answer on port {port}")
}

fn print(args: &Args, rivals: &[Rival]) {
    if args.json {
        rivals.iter().for_each(|rival| println!("{}", rival.to_json()));
        return;
    }
    let names = ["system", "pages/s", "bytes/page", "CPU µs/page", "MB, first turn", "MB, last"];
    let [system, pages, bytes, cpu, first, last] = names;
    println!("{system:<20}{pages:>10}{bytes:>12}{cpu:>13}{first:>15}{last:>13}");
    for rival in rivals {
        let line = rival.to_json();
        let number = |name: &str| line[name].as_f64().unwrap_or(0.0);
        println!(
            "{:<20}{:>10.0}{:>12.0}{:>13.0}{:>15.1}{:>13.1}",
            rival.name,
            number("pages_per_second"),
            number("bytes_per_page"),
            number("cpu_microseconds_per_page"),
            number("resident_bytes_first_turn") / 1e6,
            number("resident_bytes") / 1e6,
        );
    }
    if let [ours, nginx] = rivals {
        println!("ratio of pages/s: {:.2}", ours.pages_per_second() / nginx.pages_per_second());
    }
}
