//! Why a repository could not be harvested.

use super::response::{OaiError, Unreadable};
use crate::fetch::{Fault, FaultKind};

/// Why a harvest stopped. Bad records are not errors; they are rejects of a page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HarvestError {
    #[error(transparent)]
    Fault(#[from] Fault),
    #[error("`{url}` does not answer as an OAI-PMH repository: {reason}")]
    NotOai { url: String, reason: Unreadable },
    #[error("`{url}` breaks its answer off: {reason}")]
    Broken { url: String, reason: String },
    #[error("`{url}` refuses: {}{}{}", .error.code, if .error.message.is_empty() { "" } else { ", " }, .error.message)]
    Refused { url: String, error: OaiError },
    #[error("`{url}` no longer accepts its own resumption token: {reason}")]
    TokenRefused { url: String, reason: String },
    #[error("`{url}` offers no metadata format")]
    NoFormat { url: String },
    #[error("{failures} requests in a row failed, the last one so: {last}")]
    Exhausted { failures: u32, last: String },
}

impl HarvestError {
    /// Whether it may go better later, with nothing changed here.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Fault(fault) => match fault.kind {
                FaultKind::PrivateAddress
                | FaultKind::Scheme
                | FaultKind::Downgrade
                | FaultKind::RobotsDenied
                | FaultKind::BadUrl => false,
                FaultKind::Status(status) => !matches!(status, 401 | 403 | 404 | 405 | 407 | 410),
                _ => true,
            },
            Self::NotOai { .. }
            | Self::Broken { .. }
            | Self::Exhausted { .. }
            | Self::TokenRefused { .. } => true,
            Self::Refused { error, .. } => !STANDARD.contains(&error.code.as_str()),
            Self::NoFormat { .. } => false,
        }
    }
}

/// The error codes of OAI-PMH 2.0.
pub(super) const STANDARD: [&str; 8] = [
    "badArgument",
    "badResumptionToken",
    "badVerb",
    "cannotDisseminateFormat",
    "idDoesNotExist",
    "noMetadataFormats",
    "noRecordsMatch",
    "noSetHierarchy",
];
