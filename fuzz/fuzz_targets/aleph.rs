//! Aleph sequential.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pinakes::decode::read_all;
use pinakes::record::Format;

fuzz_target!(|bytes: &[u8]| {
    let _ = read_all(bytes, Format::Aleph).expect("bytes in memory are readable");
});
