//! TLS for the comparison: certificates for the servers, and a plain client for the bare loop.

use crate::fetch_pages::address;
use crate::process::write_file;
use anyhow::{Context, Result};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files in PEM.
#[derive(Clone, Debug)]
pub(crate) struct Certificates {
    /// The certificates that the clients trust.
    pub(crate) authority: PathBuf,
    /// The certificate of the servers.
    pub(crate) server: PathBuf,
    pub(crate) key: PathBuf,
}

impl Certificates {
    /// Makes an authority and a certificate for the addresses of all servers.
    pub(crate) fn make(directory: &Path, servers: u8) -> Result<Self> {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let names: Vec<String> = (0..servers).map(|server| address(server).to_string()).collect();
        let key = KeyPair::generate()?;
        let server = CertificateParams::new(names)?.signed_by(&key, &authority)?;
        let write = |name: &str, pem: String| {
            let path = directory.join(name);
            write_file(&path, pem.as_bytes()).map(|()| path)
        };
        Ok(Self {
            authority: write("authority.pem", authority.pem())?,
            server: write("server.pem", server.pem())?,
            key: write("key.pem", key.serialize_pem())?,
        })
    }
}

/// A connection over `stream` to the server called `host`, trusting only the authority in `roots_pem`.
pub(crate) fn connect(
    stream: TcpStream,
    host: &str,
    roots_pem: &[u8],
) -> Result<StreamOwned<ClientConnection, TcpStream>> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(roots_pem) {
        roots.add(certificate.context("cannot read the authority")?)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned())?;
    Ok(StreamOwned::new(ClientConnection::new(Arc::new(config), name)?, stream))
}
