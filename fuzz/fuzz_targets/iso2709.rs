//! ISO 2709: leader, directory and fields of any bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pinakes::decode::read_all;
use pinakes::record::Format;

fuzz_target!(|bytes: &[u8]| {
    let _ = read_all(bytes, Format::Iso2709).expect("bytes in memory are readable");
});
