//! Detection: content is given a format or none, and the reader of that format survives it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pinakes::decode::{detect, read_all};

fuzz_target!(|bytes: &[u8]| {
    if let Some(format) = detect(bytes, "input") {
        let _ = read_all(bytes, format).expect("bytes in memory are readable");
    }
});
