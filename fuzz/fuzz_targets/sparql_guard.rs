//! The guard before queries: what passes it does not exhaust the parser's stack.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pinakes::catalogue::guard;

fuzz_target!(|query: &str| {
    if guard::check(query).is_ok() {
        let _ = spargebra::SparqlParser::new().parse_query(query);
    }
});
