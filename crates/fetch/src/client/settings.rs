//! What the door is told once, before the first request.

use super::request::is_field_value;
use super::{ExchangeLimits, Proxy};
use crate::{AddressPolicy, Resolver};
use std::borrow::Cow;
use std::path::PathBuf;

/// How the door introduces itself, what it may visit and how far it goes.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Who visits: the first word of `User-Agent`.
    pub user_agent: String,
    /// A page or an address for whoever has a question; it stands in `User-Agent`. Without it no public address is
    /// visited (D18).
    pub contact: Option<String>,
    /// `Accept`; left out when empty, like the next two.
    pub accept: String,
    /// `Accept-Language`.
    pub accept_language: String,
    /// `Accept-Encoding`: only what [`coding`] reads.
    pub accept_encoding: String,
    /// Whose certificates are trusted.
    pub roots: Roots,
    /// Certificates that are trusted beside the roots, in PEM; empty for none.
    pub extra_roots_pem: Vec<u8>,
    /// What happens when a certificate is not acceptable (H26).
    pub certificates: Certificates,
    /// Where the servers with fixed names are.
    pub resolver: Resolver,
    /// Which addresses may be visited.
    pub addresses: AddressPolicy,
    /// What stands between the door and the web, if anything does.
    pub proxy: Option<Proxy>,
    /// Where bodies lie that are too large for memory; the system's place for temporary files without it.
    pub spool: Option<PathBuf>,
    /// How long an exchange may take and how much it may bring.
    pub limits: ExchangeLimits,
}

/// Whose certificates are trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Roots {
    /// Those that browsers trust, as compiled in.
    #[default]
    Bundled,
    /// Those that the operating system trusts.
    System,
}

/// What happens when a certificate is not acceptable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Certificates {
    /// The visit fails.
    #[default]
    Strict,
    /// The visit goes on and its answer is marked: an archive may want what a browser would warn of.
    Marked,
}

/// Visits nothing: no address is allowed, no name is known.
impl Default for Settings {
    fn default() -> Self {
        Self {
            user_agent: concat!("utsushi/", env!("CARGO_PKG_VERSION")).to_owned(),
            contact: None,
            accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8".to_owned(),
            accept_language: "ja,en;q=0.8,*;q=0.5".to_owned(),
            accept_encoding: "gzip".to_owned(),
            roots: Roots::default(),
            extra_roots_pem: Vec::new(),
            certificates: Certificates::default(),
            resolver: Resolver::default(),
            addresses: AddressPolicy::default(),
            proxy: None,
            spool: None,
            limits: ExchangeLimits::default(),
        }
    }
}

/// Why a door cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// A setting would break the request apart.
    #[error("`{name}` cannot be sent: `{value}` holds a control character; remove it")]
    Field {
        /// The name of the field.
        name: &'static str,
        /// Its value, made printable.
        value: String,
    },
    /// The extra roots are not PEM.
    #[error("cannot read the extra root certificates; give certificates in PEM")]
    RootsPem(#[source] rustls::pki_types::pem::Error),
    /// The extra roots hold no certificate at all.
    #[error("the extra root certificates hold no certificate; give at least one in PEM")]
    RootsEmpty,
    /// The system's roots are nowhere to be found.
    #[error(
        "cannot find the certificates that this system trusts; install `ca-certificates`, name a file in `SSL_CERT_FILE`, or use the bundled ones"
    )]
    RootsSystem,
    /// An extra root is no certificate, or TLS cannot be set up.
    #[error("cannot set up TLS; check the extra root certificates")]
    Tls(#[source] rustls::Error),
}

impl Settings {
    /// What is said in `User-Agent`.
    pub(super) fn introduction(&self) -> Cow<'_, str> {
        match &self.contact {
            Some(contact) => Cow::Owned(format!("{} (+{contact})", self.user_agent)),
            None => Cow::Borrowed(&self.user_agent),
        }
    }
    /// Refuses values that would break a request apart.
    pub(super) fn check(&self) -> Result<(), SettingsError> {
        let fields = [
            ("User-Agent", &self.introduction().into_owned()),
            ("Accept", &self.accept),
            ("Accept-Language", &self.accept_language),
            ("Accept-Encoding", &self.accept_encoding),
        ];
        match fields.into_iter().find(|(_, value)| !is_field_value(value)) {
            Some((name, value)) => {
                Err(SettingsError::Field { name, value: base::printable(value).into_owned() })
            }
            None => Ok(()),
        }
    }
}
