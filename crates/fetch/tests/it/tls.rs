//! HTTPS: names, authorities and dates are judged; kept connections work as over plain TCP.

use crate::server::{Act, Script, door_to, serve};
use base::PageUrl;
use base::door::{Cause, Door, Failure, Phase, Request, Truncation};
use fetch::{ExchangeLimits, Settings, WebDoor};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority(name: &str) -> Authority {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A certificate for `name`, valid for ever or since long ago no more.
fn config(authority: &Authority, name: &str, is_expired: bool) -> ServerConfig {
    let mut params = CertificateParams::new([name.to_owned()]).unwrap();
    if is_expired {
        params.not_before = date_time_ymd(2001, 1, 1);
        params.not_after = date_time_ymd(2002, 1, 1);
    }
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, authority).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap()
}

struct TlsServer {
    address: SocketAddr,
    accepts: Arc<AtomicUsize>,
}

/// Serves over TLS; the connection ends with a proper farewell only where the script closes it.
async fn start(config: ServerConfig, script: impl Fn(&str) -> Vec<Act> + Send + Sync + 'static) -> TlsServer {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let script: Script = Arc::new(script);
    let accepts = Arc::new(AtomicUsize::new(0));
    let counted = accepts.clone();
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            let (acceptor, script) = (acceptor.clone(), script.clone());
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(tcp).await else { return };
                if serve(&mut stream, &script).await == Some(crate::server::End::Close) {
                    let _ = stream.shutdown().await;
                }
            });
        }
    });
    TlsServer { address, accepts }
}

fn request(host: &str, target: &str) -> Request {
    Request::get(PageUrl::parse(&format!("https://{host}{target}")).unwrap())
}

#[tokio::test]
async fn a_good_certificate_opens_the_door_and_the_connection_is_kept() {
    let authority = authority("ours");
    let server = start(config(&authority, "name.example", false), |_| vec![]).await;
    let door = door_to(server.address, &authority.pem(), ExchangeLimits::default());
    for _ in 0..4 {
        let exchange = door.exchange(server.address, &request("name.example", "/ok")).await.unwrap();
        assert_eq!((exchange.status, exchange.body.read().unwrap().as_ref()), (200, b"ok".as_slice()));
    }
    assert_eq!(server.accepts.load(Ordering::SeqCst), 1);
    let plain = Request::get(PageUrl::parse("http://name.example/ok").unwrap());
    let failure = door.exchange(server.address, &plain).await.unwrap_err();
    assert_eq!(failure.phase, Phase::Head, "plain HTTP to a TLS server is no HTTP: {failure}");
}

#[track_caller]
fn is_refused(failure: &Failure, because: &str) {
    let refused =
        failure.phase == Phase::Tls && matches!(&failure.cause, Cause::Tls(why) if why.contains(because));
    assert!(refused, "{failure:?}");
}

#[tokio::test]
async fn survives_h26_certificates_of_others_from_strangers_and_of_yesterday() {
    let ours = authority("ours");
    let stranger = authority("a stranger");
    for (config, because) in [
        (config(&ours, "other.example", false), "not valid for name"),
        (config(&stranger, "name.example", false), "UnknownIssuer"),
        (config(&ours, "name.example", true), "expired"),
    ] {
        let server = start(config, |_| vec![]).await;
        let door = door_to(server.address, &ours.pem(), ExchangeLimits::default());
        let failure = door.exchange(server.address, &request("name.example", "/ok")).await.unwrap_err();
        is_refused(&failure, because);
    }
}

#[tokio::test]
async fn survives_h26_what_is_accepted_in_archive_mode_is_marked() {
    let ours = authority("ours");
    for (config, is_in_doubt) in [
        (config(&ours, "name.example", false), false),
        (config(&ours, "other.example", false), true),
        (config(&authority("a stranger"), "name.example", false), true),
        (config(&ours, "name.example", true), true),
    ] {
        let server = start(config, |_| vec![]).await;
        let door = WebDoor::new(Settings {
            addresses: fetch::AddressPolicy::only(vec![fetch::AddressRange::LOOPBACK]),
            extra_roots_pem: ours.pem().into_bytes(),
            certificates: fetch::Certificates::Marked,
            ..Settings::default()
        });
        let door = door.unwrap();
        for _ in 0..2 {
            let exchange = door.exchange(server.address, &request("name.example", "/ok")).await.unwrap();
            assert_eq!((exchange.status, exchange.marks.certificate_in_doubt), (200, is_in_doubt));
        }
        assert_eq!(server.accepts.load(Ordering::SeqCst), 1, "the mark stays with a kept connection");
    }
}

#[tokio::test]
async fn a_handshake_that_hangs_or_is_none_is_a_failure() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let limit = std::time::Duration::from_millis(300);
    let door = door_to(address, "", ExchangeLimits { tls_time_max: limit, ..ExchangeLimits::default() });
    let failure = door.exchange(address, &request("name.example", "/")).await.unwrap_err();
    assert_eq!((failure.phase, failure.cause), (Phase::Tls, Cause::TimeOut(limit)));

    let server = crate::server::Server::start(|_| vec![]).await;
    let greeting = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = greeting.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = greeting.accept().await.unwrap();
        stream.write_all(b"220 mail.example ESMTP\r\n").await.unwrap();
        std::future::pending::<()>().await;
    });
    let door = door_to(address, "", ExchangeLimits::default());
    let failure = door.exchange(address, &request("name.example", "/")).await.unwrap_err();
    assert!(failure.phase == Phase::Tls && matches!(failure.cause, Cause::Tls(_)), "{failure:?}");
    assert!(server.get(&door, "/ok").await.is_ok());
}

#[tokio::test]
async fn a_body_until_close_is_whole_only_if_the_farewell_came() {
    let authority = authority("ours");
    let answer = Act::Send(b"HTTP/1.1 200 OK\r\n\r\npage".to_vec());
    let server = start(config(&authority, "name.example", false), move |target| match target {
        "/farewell" => vec![answer.clone(), Act::Close],
        _ => vec![answer.clone(), Act::Reset],
    })
    .await;
    let door = door_to(server.address, &authority.pem(), ExchangeLimits::default());
    for (target, truncated) in [("/farewell", None), ("/cut", Some(Truncation::Disconnect))] {
        let exchange = door.exchange(server.address, &request("name.example", target)).await.unwrap();
        assert_eq!(
            (exchange.body.read().unwrap().as_ref(), exchange.truncated),
            (b"page".as_slice(), truncated),
            "{target}"
        );
    }
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let refused = |settings| WebDoor::new(settings).unwrap_err().to_string();
    let broken = Settings { user_agent: "a\r\nb".to_owned(), ..Settings::default() };
    assert_eq!(
        refused(broken),
        r"`User-Agent` cannot be sent: `a\r\nb` holds a control character; remove it"
    );
    let no_roots = Settings { extra_roots_pem: b"hello".to_vec(), ..Settings::default() };
    assert_eq!(
        refused(no_roots),
        "the extra root certificates hold no certificate; give at least one in PEM"
    );
}
