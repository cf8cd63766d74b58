//! The sites: their packages, their directories, and how nginx serves them.

use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

/// A site that is made of a package.
#[derive(Debug)]
pub(super) struct Site {
    pub(super) package: &'static str,
    /// Its files are in PARENT/NAME/BELOW, where NAME begins with [`Self::name`]: some names end with a version.
    parent: &'static str,
    name: &'static str,
    below: &'static str,
    /// The target of the page at which the walker and the crawler begin.
    pub(super) start: &'static str,
    /// The last byte of its address.
    number: u8,
}

/// All sites.
pub(super) const SITES: [Site; 6] = [
    Site::new("rust-doc", 1, ["usr/share/doc", "rust-doc", "html"], "/"),
    Site::new("lilypond-doc-html", 2, ["usr/share/doc", "lilypond", "html"], "/"),
    Site::new(
        "libreoffice-help-ja",
        3,
        ["usr/share", "libreoffice", "help"],
        "/ja/text/swriter/main0000.html",
    ),
    Site::new("libboost-doc", 4, ["usr/share/doc", "libboost", "doc/html"], "/"),
    Site::new("cppreference-doc-en-html", 5, ["usr/share", "cppreference", "doc/html"], "/en/"),
    Site::new("python3-doc", 6, ["usr/share/doc", "python3.", "html"], "/"),
];

impl Site {
    const fn new(package: &'static str, number: u8, place: [&'static str; 3], start: &'static str) -> Self {
        let [parent, name, below] = place;
        Self { package, parent, name, below, start, number }
    }
    /// The address on which it is served.
    pub(super) fn address(&self) -> IpAddr {
        Ipv4Addr::new(127, 0, 77, self.number).into()
    }
    /// Where walker and crawler begin.
    pub(super) fn url(&self, port: u16) -> String {
        format!("http://{}:{port}{}", self.address(), self.start)
    }
    /// The directory of its files below `tree`.
    fn root(&self, tree: &Path) -> Result<PathBuf> {
        let parent = tree.join(self.parent);
        let entries = std::fs::read_dir(&parent).into_iter().flatten().flatten();
        let fits = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with(self.name);
        let mut roots: Vec<PathBuf> = entries
            .filter(fits)
            .map(|entry| entry.path().join(self.below))
            .filter(|root| root.is_dir())
            .collect();
        roots.sort();
        roots.pop().with_context(|| {
            format!("package `{}` brought no site below `{}`", self.package, parent.display())
        })
    }
}

/// The configuration of an nginx that serves `sites` from `tree` and keeps its own files in `directory`.
pub(super) fn configure(directory: &Path, tree: &Path, sites: &[&Site], port: u16) -> Result<String> {
    let mut servers = String::new();
    for site in sites {
        let (address, root) = (site.address(), site.root(tree)?);
        writeln!(
            servers,
            "server {{ listen {address}:{port}; root \"{}\"; index index.html index.en.html; }}",
            root.display()
        )?;
    }
    Ok(format!(
        "daemon off; user root; worker_processes 1; pid {0}/pid; error_log {0}/error.log;\n\
         events {{ worker_connections 1024; }}\n\
         http {{ log_format short '$connection $status $body_bytes_sent $request_uri'; access_log {0}/access.log short;\n\
         types {{ {TYPES} }} default_type application/octet-stream; charset utf-8;\n\
         sendfile on; tcp_nodelay on; keepalive_requests 1000000;\n\
         client_body_temp_path {0}/b; proxy_temp_path {0}/p; fastcgi_temp_path {0}/f; uwsgi_temp_path {0}/u; \
         scgi_temp_path {0}/s;\n{servers}}}\n",
        directory.display(),
    ))
}

/// The media types of the files in the packages.
const TYPES: &str = "text/html html htm; application/xhtml+xml xhtml; text/css css; application/javascript js; \
    application/json json; text/xml xml; text/plain txt ly; image/svg+xml svg svgz; image/png png; image/gif gif; \
    image/jpeg jpg jpeg; image/x-icon ico; application/pdf pdf; audio/midi mid midi; font/woff woff; font/woff2 woff2; \
    font/ttf ttf;";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_found_whatever_the_version_in_its_name() {
        let tree = std::env::temp_dir().join(format!("utsushi-sites-{}", std::process::id()));
        let root = tree.join("usr/share/doc/libboost1.99-doc/doc/html");
        std::fs::create_dir_all(&root).unwrap();
        std::fs::create_dir_all(tree.join("usr/share/doc/libboost-doc")).unwrap();
        let boost = SITES.iter().find(|site| site.package == "libboost-doc").unwrap();
        assert_eq!(boost.root(&tree).unwrap(), root);
        assert!(SITES[0].root(&tree).unwrap_err().to_string().contains("`rust-doc`"));
        let text = configure(Path::new("/nginx"), &tree, &[boost], 8_080).unwrap();
        assert!(text.contains("listen 127.0.77.4:8080"), "{text}");
        std::fs::remove_dir_all(tree).unwrap();
    }
}
