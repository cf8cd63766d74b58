//! The certificate authority of the simulated web. It is created at each start; a client trusts it only if
//! configured to.
//!
//! **Invariant:** the authority's key never leaves the process; only its certificate does. At most
//! [`LEAVES_MAX`] certificates are kept, and making one again costs less than a millisecond.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair,
    KeyUsagePurpose,
};
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::{CertifiedKey, SigningKey};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of certificates in memory.
pub const LEAVES_MAX: usize = 1_024;
/// The names on the certificate for clients that send no server name.
const NAMELESS: [&str; 2] = ["localhost", "127.0.0.1"];

/// A certificate authority for every simulated name.
pub struct CertificateAuthority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    leaf_key: KeyPair,
    signer: Arc<dyn SigningKey>,
    leaves: Mutex<HashMap<Box<str>, Arc<CertifiedKey>>>,
}

/// The authority could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("cannot make certificates for the simulated web: {0}")]
pub struct TlsError(String);

impl CertificateAuthority {
    /// A new authority with a key of its own.
    pub fn new() -> Result<Arc<Self>, TlsError> {
        let leaf_key = KeyPair::generate().map_err(refuse)?;
        let der = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(leaf_key.serialize_der()));
        let signer = ring::default_provider().key_provider.load_private_key(der).map_err(refuse)?;
        let issuer =
            CertifiedIssuer::self_signed(authority_parameters(), KeyPair::generate().map_err(refuse)?);
        Ok(Arc::new(Self { issuer: issuer.map_err(refuse)?, leaf_key, signer, leaves: Mutex::default() }))
    }

    /// The certificate that a client has to trust, as PEM.
    #[must_use]
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// The configuration of a server that presents a certificate for any requested name.
    pub fn server_config(self: &Arc<Self>) -> Result<Arc<rustls::ServerConfig>, TlsError> {
        let builder = rustls::ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().map_err(refuse)?;
        let mut config = builder.with_no_client_auth().with_cert_resolver(self.clone());
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }

    /// The certificate for `name`, created on first use.
    fn leaf(&self, name: Option<&str>) -> Option<Arc<CertifiedKey>> {
        let key = name.unwrap_or_default();
        let mut leaves = self.leaves.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(leaf) = leaves.get(key) {
            return Some(leaf.clone());
        }
        let names = name.map_or_else(|| NAMELESS.map(str::to_owned).to_vec(), |name| vec![name.to_owned()]);
        let leaf =
            Arc::new(self.sign(names).inspect_err(|error| tracing::debug!(%error, "no certificate")).ok()?);
        if leaves.len() >= LEAVES_MAX {
            forget_one(&mut leaves);
        }
        leaves.insert(key.into(), leaf.clone());
        Some(leaf)
    }

    fn sign(&self, names: Vec<String>) -> Result<CertifiedKey, rcgen::Error> {
        let mut parameters = CertificateParams::new(names)?;
        parameters.distinguished_name = DistinguishedName::new();
        parameters.distinguished_name.push(DnType::OrganizationName, "the simulated web");
        parameters.use_authority_key_identifier_extension = true;
        let certificate = parameters.signed_by(&self.leaf_key, &self.issuer)?;
        Ok(CertifiedKey::new(vec![certificate.der().clone()], self.signer.clone()))
    }
}

fn authority_parameters() -> CertificateParams {
    let mut parameters = CertificateParams::default();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    parameters.distinguished_name.push(DnType::CommonName, "the simulated web (test authority)");
    parameters
}

/// Any one will do: each is cheap to create again.
fn forget_one(leaves: &mut HashMap<Box<str>, Arc<CertifiedKey>>) {
    if let Some(name) = leaves.keys().next().cloned() {
        leaves.remove(&name);
    }
}

fn refuse(error: impl fmt::Display) -> TlsError {
    TlsError(error.to_string())
}

impl ResolvesServerCert for CertificateAuthority {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.leaf(hello.server_name())
    }
}

impl fmt::Debug for CertificateAuthority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CertificateAuthority")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_made_once_and_few_are_kept() {
        let authority = CertificateAuthority::new().unwrap();
        let first = authority.leaf(Some("a.example")).unwrap();
        assert!(Arc::ptr_eq(&first, &authority.leaf(Some("a.example")).unwrap()));
        assert!(!Arc::ptr_eq(&first, &authority.leaf(None).unwrap()));
        for n in 0..LEAVES_MAX + 5 {
            authority.leaf(Some(&format!("s{n}.example"))).unwrap();
        }
        assert_eq!(authority.leaves.lock().unwrap().len(), LEAVES_MAX);
    }

    #[test]
    fn only_the_certificate_leaves() {
        let pem = CertificateAuthority::new().unwrap().pem();
        assert!(pem.starts_with("-----BEGIN CERTIFICATE-----") && !pem.contains("PRIVATE"));
    }
}
