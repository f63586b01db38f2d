//! A certificate for the occasion.

use rcgen::{CertifiedKey, generate_simple_self_signed};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// What accepts TLS for `127.0.0.1` and `localhost`, and the certificate to trust, as PEM.
pub fn acceptor() -> (TlsAcceptor, String) {
    let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    // The provider is named, since a program may have compiled in two.
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    (TlsAcceptor::from(Arc::new(config)), cert.pem())
}
