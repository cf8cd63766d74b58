//! The settings of the door, fixed before the first request.

use super::request::is_field_value;
use super::{ExchangeLimits, Proxy};
use crate::{AddressPolicy, Resolver};
use std::borrow::Cow;
use std::path::PathBuf;

/// The identity, the allowed addresses and the limits of the door.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The name of the crawler: the first word of `User-Agent`.
    pub user_agent: String,
    /// A page or an email address for questions, sent in `User-Agent`. Without it no public address is
    /// visited (D18).
    pub contact: Option<String>,
    /// `Accept`; omitted if empty, like the next two.
    pub accept: String,
    /// `Accept-Language`.
    pub accept_language: String,
    /// `Accept-Encoding`: only what [`coding`] reads.
    pub accept_encoding: String,
    /// The trusted root certificates.
    pub roots: Roots,
    /// Additional trusted certificates, in PEM; empty for none.
    pub extra_roots_pem: Vec<u8>,
    /// What happens if a certificate is not valid (H26).
    pub certificates: Certificates,
    /// The addresses of servers with fixed names.
    pub resolver: Resolver,
    /// The addresses that may be visited.
    pub addresses: AddressPolicy,
    /// The proxy between the door and the web, if any.
    pub proxy: Option<Proxy>,
    /// The directory for bodies too large for memory; the default is the system's directory for temporary files.
    pub spool: Option<PathBuf>,
    /// The limits of an exchange.
    pub limits: ExchangeLimits,
}

/// The trusted root certificates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Roots {
    /// Those that browsers trust, as compiled in.
    #[default]
    Bundled,
    /// Those that the operating system trusts.
    System,
}

/// What happens if a certificate is not valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Certificates {
    /// The visit fails.
    #[default]
    Strict,
    /// The visit continues and its response is marked: an archive may want what a browser would warn of.
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

/// Why a door cannot be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// A setting would break the request.
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
    /// The additional roots contain no certificate.
    #[error("the extra root certificates hold no certificate; give at least one in PEM")]
    RootsEmpty,
    /// The system's roots cannot be found.
    #[error(
        "cannot find the certificates that this system trusts; install `ca-certificates`, name a file in `SSL_CERT_FILE`, or use the bundled ones"
    )]
    RootsSystem,
    /// An additional root is not a certificate, or TLS cannot be set up.
    #[error("cannot set up TLS; check the extra root certificates")]
    Tls(#[source] rustls::Error),
}

impl Settings {
    /// The value of `User-Agent`.
    pub(super) fn introduction(&self) -> Cow<'_, str> {
        match &self.contact {
            Some(contact) => Cow::Owned(format!("{} (+{contact})", self.user_agent)),
            None => Cow::Borrowed(&self.user_agent),
        }
    }
    /// Refuses values that would break a request.
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
