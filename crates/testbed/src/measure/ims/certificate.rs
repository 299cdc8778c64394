//! The certificate of the P-CSCF: made for one run, and trusted by its browsers alone.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertificateParams, KeyPair, PublicKeyData as _};
use ring::digest::{SHA256, digest};
use std::net::Ipv4Addr;

/// A self-signed certificate and its key, in PEM.
pub(super) struct Certificate {
    pub(super) certificate: String,
    pub(super) key: String,
    /// The SHA-256 of the public key in base64, by which Chromium can be told to trust it
    /// (`--ignore-certificate-errors-spki-list`).
    pub(super) fingerprint: String,
}

impl Certificate {
    pub(super) fn new(address: Ipv4Addr) -> Result<Self, rcgen::Error> {
        let key = KeyPair::generate()?;
        let params = CertificateParams::new(vec![address.to_string()])?;
        let hash = digest(&SHA256, &key.subject_public_key_info());
        Ok(Self {
            certificate: params.self_signed(&key)?.pem(),
            key: key.serialize_pem(),
            fingerprint: STANDARD.encode(hash),
        })
    }
}
