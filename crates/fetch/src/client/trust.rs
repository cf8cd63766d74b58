//! Verifies certificates (H26): name, validity and chain, by strict rules.
//!
//! In marked mode the handshake accepts any certificate whose key signs it; then the certificate is judged by the same
//! strict rules, and a failure marks the response.

use super::{Certificates, Roots, Settings, SettingsError};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Where systems store their trusted certificates, in one file.
const SYSTEM_FILES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];
/// The variable that names another such file.
const SYSTEM_VARIABLE: &str = "SSL_CERT_FILE";

/// Opens TLS connections and judges their certificates.
pub(super) struct Trust {
    pub(super) connector: TlsConnector,
    /// Judges after the handshake; `None` if the handshake itself was strict.
    afterwards: Option<Arc<WebPkiServerVerifier>>,
}

impl Trust {
    pub(super) fn new(settings: &Settings) -> Result<Self, SettingsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let roots = Arc::new(roots(settings)?);
        let strict = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider))
            .build()
            .map_err(|error| SettingsError::Tls(Error::General(error.to_string())))?;
        let is_strict = settings.certificates == Certificates::Strict;
        let verifier: Arc<dyn ServerCertVerifier> =
            if is_strict { Arc::clone(&strict) as _ } else { Arc::new(Anyone(Arc::clone(&strict))) };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(SettingsError::Tls)?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        let afterwards = (!is_strict).then_some(strict);
        Ok(Self { connector: TlsConnector::from(Arc::new(config)), afterwards })
    }

    /// Whether the peer's certificate fails the strict rules.
    pub(super) fn doubts(&self, stream: &TlsStream<TcpStream>, name: &ServerName<'_>) -> bool {
        let Some(strict) = &self.afterwards else { return false };
        let Some([own, others @ ..]) = stream.get_ref().1.peer_certificates() else { return true };
        strict.verify_server_cert(own, others, name, &[], UnixTime::now()).is_err()
    }
}

fn roots(settings: &Settings) -> Result<RootCertStore, SettingsError> {
    let mut roots = match settings.roots {
        Roots::Bundled => RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Roots::System => system_roots()?,
    };
    let mut added = 0;
    for certificate in CertificateDer::pem_slice_iter(&settings.extra_roots_pem) {
        roots.add(certificate.map_err(SettingsError::RootsPem)?).map_err(SettingsError::Tls)?;
        added += 1;
    }
    let is_missing = added == 0 && !settings.extra_roots_pem.is_empty();
    if is_missing { Err(SettingsError::RootsEmpty) } else { Ok(roots) }
}

/// The roots of the system. Systems contain a few certificates that strict parsers refuse; those are skipped.
fn system_roots() -> Result<RootCertStore, SettingsError> {
    // A named file is used alone: others would be trusted by mistake.
    let files = match std::env::var_os(SYSTEM_VARIABLE) {
        Some(named) => vec![PathBuf::from(named)],
        None => SYSTEM_FILES.map(PathBuf::from).to_vec(),
    };
    let pem = files.iter().find_map(|file| std::fs::read(file).ok()).ok_or(SettingsError::RootsSystem)?;
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(CertificateDer::pem_slice_iter(&pem).flatten());
    if roots.is_empty() { Err(SettingsError::RootsSystem) } else { Ok(roots) }
}

/// Accepts any certificate; the signatures of the handshake are still checked.
#[derive(Debug)]
struct Anyone(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
