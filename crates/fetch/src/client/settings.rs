//! What the door is told once, before the first request.

use super::Limits;
use super::request::is_field_value;
use crate::{Range, Resolver};

/// How the door introduces itself, what it may visit and how far it goes.
#[derive(Clone, Debug)]
pub struct Settings {
    /// `User-Agent`.
    pub user_agent: String,
    /// `Accept`; left out when empty, like the next two.
    pub accept: String,
    /// `Accept-Language`.
    pub accept_language: String,
    /// `Accept-Encoding`: only what [`coding`] reads.
    pub accept_encoding: String,
    /// Certificates that are trusted beside the public roots, in PEM; empty for none.
    pub extra_roots_pem: Vec<u8>,
    /// Where the servers with fixed names are.
    pub resolver: Resolver,
    /// The only addresses that may be visited.
    pub allowed: Vec<Range>,
    /// How long an exchange may take and how much it may bring.
    pub limits: Limits,
}

/// Visits nothing: no address is allowed, no name is known.
impl Default for Settings {
    fn default() -> Self {
        Self {
            user_agent: concat!("utsushi/", env!("CARGO_PKG_VERSION")).to_owned(),
            accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8".to_owned(),
            accept_language: "ja,en;q=0.8,*;q=0.5".to_owned(),
            accept_encoding: "gzip".to_owned(),
            extra_roots_pem: Vec::new(),
            resolver: Resolver::default(),
            allowed: Vec::new(),
            limits: Limits::default(),
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
    /// An extra root is no certificate, or TLS cannot be set up.
    #[error("cannot set up TLS; check the extra root certificates")]
    Tls(#[source] rustls::Error),
}

impl Settings {
    /// Refuses values that would break a request apart.
    pub(super) fn check(&self) -> Result<(), SettingsError> {
        let fields = [
            ("User-Agent", &self.user_agent),
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
