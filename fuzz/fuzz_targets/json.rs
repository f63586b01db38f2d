//! JSON, as records of its own and as MARC-in-JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pinakes::decode::read_all;
use pinakes::record::Format;

fuzz_target!(|bytes: &[u8]| {
    for format in [Format::Json, Format::MarcJson] {
        let _ = read_all(bytes, format).expect("bytes in memory are readable");
    }
});
