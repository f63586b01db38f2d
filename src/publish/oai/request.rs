//! What a harvester asked: arguments as they came, repeated ones too.

use url::form_urlencoded;

/// Longer requests are not read.
const LONGEST: usize = 64 * 1024;
const MOST_ARGUMENTS: usize = 100;

/// A request: the address of the repository and the arguments in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub base_url: String,
    pub arguments: Vec<(String, String)>,
    /// Why the arguments are not all that was sent.
    pub excess: Option<&'static str>,
}

impl Request {
    pub fn new(base_url: impl Into<String>, arguments: Vec<(String, String)>) -> Self {
        Self { base_url: base_url.into(), arguments, excess: None }
    }

    /// Reads the query of an address (GET) or the form in a body (POST). What is too long is left
    /// out and refused by [`answer`](super::answer); nothing else is refused here.
    pub fn parse(base_url: impl Into<String>, encoded: &[u8]) -> Self {
        let mut request = Self::new(base_url, Vec::new());
        if encoded.len() > LONGEST {
            request.excess = Some("a request may be 64 kB long");
            return request;
        }
        let mut arguments = form_urlencoded::parse(encoded);
        for (key, value) in arguments.by_ref().take(MOST_ARGUMENTS) {
            request.arguments.push((key.into_owned(), value.into_owned()));
        }
        if arguments.next().is_some() {
            request.excess = Some("a request may have 100 arguments");
        }
        request
    }

    /// All values of an argument.
    pub fn values<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.arguments.iter().filter(move |(known, _)| known == key).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn arguments_are_decoded_and_repeated_ones_kept() {
        let request = Request::parse("b", b"verb=GetRecord&identifier=oai%3Aa+b&x&x=%C3%A9&y=%FF");
        let expected =
            [("verb", "GetRecord"), ("identifier", "oai:a b"), ("x", ""), ("x", "é"), ("y", "\u{fffd}")];
        let found: Vec<(&str, &str)> =
            request.arguments.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(found, expected);
        assert_eq!(request.values("x").collect::<Vec<_>>(), ["", "é"]);
    }

    #[test]
    fn too_much_is_said_and_not_read() {
        let long = Request::parse("b", format!("verb=Identify&x={}", "a".repeat(LONGEST)).as_bytes());
        assert_eq!((long.arguments.len(), long.excess.is_some()), (0, true));
        let many = Request::parse("b", "x=1&".repeat(101).as_bytes());
        assert_eq!((many.arguments.len(), many.excess.is_some()), (100, true));
        let enough = Request::parse("b", "x=1&".repeat(100).as_bytes());
        assert_eq!((enough.arguments.len(), enough.excess.is_some()), (100, false));
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_asked(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            Request::parse("b", &bytes);
        }
    }
}
