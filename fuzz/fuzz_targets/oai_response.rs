//! An answer of an OAI-PMH repository: read, or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pinakes::harvest::oai::Response;

fuzz_target!(|bytes: &[u8]| {
    let _ = Response::read(bytes.to_vec());
});
