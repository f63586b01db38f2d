//! RDF: the first byte chooses the syntax.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pinakes::decode::read_all;
use pinakes::record::Format;

const SYNTAXES: [Format; 6] =
    [Format::Turtle, Format::NTriples, Format::NQuads, Format::TriG, Format::RdfXml, Format::JsonLd];

fuzz_target!(|bytes: &[u8]| {
    if let Some((choice, bytes)) = bytes.split_first() {
        let format = SYNTAXES[usize::from(*choice) % SYNTAXES.len()];
        let _ = read_all(bytes, format).expect("bytes in memory are readable");
    }
});
