//! The server of the comparison: nginx with the pages as files, on several addresses of this machine.
//!
//! It logs every answer, so the reports of clients need not be trusted.

use crate::fetch_pages::address;
use crate::fetch_tls::Certificates;
use crate::process::{Process, write_file};
use crate::warc_pages::cannot;
use anyhow::{Context, Result};
use std::collections::HashSet;
use std::fs::{self, File};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// nginx, until it is dropped.
pub(crate) struct Server {
    _process: Process,
    log: PathBuf,
}

/// What the server saw of one client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Answers with a page.
    pub(crate) pages: u64,
    /// Other answers.
    pub(crate) others: u64,
    /// Bytes of bodies.
    pub(crate) body_bytes: u64,
    pub(crate) connections: usize,
}

impl Server {
    /// Starts nginx in `directory` with the files below `root`, on the first `servers` addresses.
    pub(crate) fn start(
        directory: &Path,
        root: &Path,
        servers: u8,
        port: u16,
        tls: Option<&Certificates>,
    ) -> Result<Self> {
        let configuration = configure(directory, root, servers, port, tls);
        Self::start_with(directory, &configuration, (address(0), port).into())
    }

    /// Starts nginx in `directory` with this configuration, and waits until it answers at `probe`.
    pub(crate) fn start_with(directory: &Path, configuration: &str, probe: SocketAddr) -> Result<Self> {
        let program =
            std::env::var_os("UTSUSHI_NGINX").context("run this through `cargo xtask bench NAME`")?;
        let (text, configuration) = (configuration, directory.join("nginx.conf"));
        write_file(&configuration, text.as_bytes())?;
        let mut command = Command::new(program);
        command.arg("-p").arg(directory).arg("-c").arg(&configuration);
        command.arg("-e").arg(directory.join("error.log"));
        if let Some(libraries) = std::env::var_os("UTSUSHI_NGINX_LIBS") {
            command.env("LD_LIBRARY_PATH", libraries);
        }
        let process = Process::start(command.stdin(Stdio::null()))?;
        wait_for(probe)?;
        Ok(Self { _process: process, log: directory.join("access.log") })
    }

    /// Clears the log.
    pub(crate) fn forget(&self) -> Result<()> {
        let log = File::options().write(true).open(&self.log).with_context(|| cannot("open", &self.log))?;
        log.set_len(0).with_context(|| cannot("empty", &self.log))
    }

    /// What it saw since the log was cleared.
    pub(crate) fn seen(&self) -> Result<Seen> {
        let log = fs::read_to_string(&self.log).with_context(|| cannot("read", &self.log))?;
        let (mut seen, mut connections) = (Seen::default(), HashSet::new());
        for line in log.lines() {
            let mut words = line.split(' ');
            let mut next = || words.next().unwrap_or_default();
            connections.insert(next());
            if next() == "200" {
                seen.pages += 1;
            } else {
                seen.others += 1;
            }
            seen.body_bytes += next().parse::<u64>().unwrap_or(0);
        }
        Ok(Seen { connections: connections.len(), ..seen })
    }
}

/// One answer in the server's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    /// Path and query as requested.
    pub(crate) target: String,
}

impl Server {
    /// Every answer since the log was cleared.
    pub(crate) fn answers(&self) -> Result<Vec<Answered>> {
        let log = fs::read_to_string(&self.log).with_context(|| cannot("read", &self.log))?;
        let answer = |line: &str| {
            let mut words = line.split(' ').skip(1);
            let status = words.next().and_then(|status| status.parse().ok())?;
            Some(Answered { status, target: words.nth(1)?.to_owned() })
        };
        Ok(log.lines().filter_map(answer).collect())
    }
}

fn configure(directory: &Path, root: &Path, servers: u8, port: u16, tls: Option<&Certificates>) -> String {
    let how = if tls.is_some() { " ssl" } else { "" };
    let mut listen: String =
        (0..servers).map(|server| format!("listen {}:{port}{how}; ", address(server))).collect();
    if let Some(Certificates { server, key, .. }) = tls {
        listen += &format!("ssl_certificate {}; ssl_certificate_key {}; ", server.display(), key.display());
    }
    format!(
        "daemon off; user root; worker_processes 2; pid {0}/pid; error_log {0}/error.log;\n\
         events {{ worker_connections 1024; }}\n\
         http {{ log_format short '$connection $status $body_bytes_sent $request_uri'; access_log {0}/access.log short;\n\
         types {{ text/html html; }} sendfile on; tcp_nodelay on; keepalive_requests 1000000;\n\
         client_body_temp_path {0}/b; proxy_temp_path {0}/p; fastcgi_temp_path {0}/f; uwsgi_temp_path {0}/u; \
         scgi_temp_path {0}/s;\n\
         server {{ {listen} root {1}; index none; location = / {{ try_files /start.html =404; }} }} }}\n",
        directory.display(),
        root.display(),
    )
}

fn wait_for(probe: SocketAddr) -> Result<()> {
    for _ in 0..100 {
        if TcpStream::connect(probe).is_ok() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    anyhow::bail!("nginx does not answer at {probe}")
}
