//! The eight ways in which the protocol says no.

/// Why a request has no answer but an `error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    BadArgument,
    BadResumptionToken,
    BadVerb,
    CannotDisseminateFormat,
    IdDoesNotExist,
    NoMetadataFormats,
    NoRecordsMatch,
    NoSetHierarchy,
}

impl Code {
    pub fn name(self) -> &'static str {
        match self {
            Self::BadArgument => "badArgument",
            Self::BadResumptionToken => "badResumptionToken",
            Self::BadVerb => "badVerb",
            Self::CannotDisseminateFormat => "cannotDisseminateFormat",
            Self::IdDoesNotExist => "idDoesNotExist",
            Self::NoMetadataFormats => "noMetadataFormats",
            Self::NoRecordsMatch => "noRecordsMatch",
            Self::NoSetHierarchy => "noSetHierarchy",
        }
    }

    /// Whether the `request` element of the answer may repeat the arguments: it must not where
    /// they are not understood.
    pub fn echoes_arguments(self) -> bool {
        !matches!(self, Self::BadVerb | Self::BadArgument)
    }
}

/// A code and what is wrong, in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub code: Code,
    pub message: String,
}

impl Error {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    pub fn argument(message: impl Into<String>) -> Self {
        Self::new(Code::BadArgument, message)
    }
}
