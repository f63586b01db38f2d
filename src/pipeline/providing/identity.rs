//! What a repository says of itself when nobody said it.

use crate::config::Home;

/// Who provides the records.
#[derive(Debug)]
pub struct Identity {
    pub name: String,
    pub email: String,
    /// The host in the names of records.
    pub namespace: String,
}

impl Identity {
    /// What the settings say, or else the base IRI.
    pub fn of(home: &Home) -> Self {
        let base = home.graphs.base();
        let address = url::Url::parse(base).ok();
        let host = address.as_ref().and_then(url::Url::host_str).unwrap_or("localhost");
        // The protocol's schema wants a full stop; `.invalid` is nobody's, and never will be.
        let domain = if host.contains('.') { host.to_owned() } else { format!("{host}.invalid") };
        let settings = &home.settings.oai;
        Self {
            name: settings.name.clone().unwrap_or_else(|| format!("The catalogue {base}")),
            // Every host that takes mail has this address (RFC 5321, 4.5.1).
            email: settings.email.clone().unwrap_or_else(|| format!("postmaster@{domain}")),
            namespace: host.to_owned(),
        }
    }
}
