//! Character sets: any bytes are text in all of them, and delimiters stay where they are.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pinakes::decode::charset::{self, Charset};

fuzz_target!(|bytes: &[u8]| {
    for charset in Charset::ALL {
        let (mut text, mut faults) = (String::new(), charset::Faults::default());
        charset::decode(bytes, charset, &mut text, &mut faults);
        assert!(faults.iter().all(|fault| fault.offset < bytes.len()));
        charset::detect(bytes, charset);
    }
});
