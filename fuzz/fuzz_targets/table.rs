//! Tables, with the delimiter guessed and with tabs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pinakes::decode::read_all;
use pinakes::record::Format;

fuzz_target!(|bytes: &[u8]| {
    for format in [Format::Csv, Format::Tsv] {
        let _ = read_all(bytes, format).expect("bytes in memory are readable");
    }
});
