//! An answer as a tree, read by another hand than the one that wrote it.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Node {
    pub name: String,
    pub attributes: Vec<(String, String)>,
    pub children: Vec<Node>,
    pub text: String,
}

impl Node {
    /// Fails by panicking where a text is not well-formed.
    pub fn read(xml: &str) -> Self {
        let mut reader = Reader::from_str(xml);
        let mut open = vec![Self::default()];
        loop {
            match reader.read_event().unwrap_or_else(|error| panic!("{error}: {xml}")) {
                Event::Start(tag) => open.push(Self::of(&tag)),
                Event::Empty(tag) => open.last_mut().unwrap().children.push(Self::of(&tag)),
                Event::End(_) => {
                    let node = open.pop().unwrap();
                    open.last_mut().unwrap().children.push(node);
                }
                Event::Text(text) => open.last_mut().unwrap().text.push_str(&text.xml10_content()),
                Event::GeneralRef(reference) => {
                    let c = match &*reference.xml10_content() {
                        "amp" => '&',
                        "lt" => '<',
                        "gt" => '>',
                        "quot" => '"',
                        "apos" => '\'',
                        _ => reference.resolve_char_ref().unwrap().unwrap(),
                    };
                    open.last_mut().unwrap().text.push(c);
                }
                Event::Eof => break,
                _ => {}
            }
        }
        assert_eq!(open.len(), 1, "an element is not closed: {xml}");
        let mut document = open.pop().unwrap();
        assert_eq!(document.children.len(), 1, "not one element: {xml}");
        document.children.pop().unwrap()
    }

    fn of(tag: &BytesStart<'_>) -> Self {
        let attributes = tag.attributes().map(|attribute| {
            let attribute = attribute.unwrap();
            let value = attribute.normalized_value(XmlVersion::Implicit1_0).unwrap().into_owned();
            (attribute.key.as_ref().to_owned(), value)
        });
        Self { name: tag.name().as_ref().to_owned(), attributes: attributes.collect(), ..Self::default() }
    }

    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    #[track_caller]
    pub fn one(&self, name: &str) -> &Self {
        let found: Vec<&Self> = self.children.iter().filter(|child| child.name == name).collect();
        assert_eq!(found.len(), 1, "{name} in {self:?}");
        found[0]
    }

    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}
