//! A list of entries as an Atom feed.
//!
//! A reader of feeds shows what it has not seen: `published` is when an entry was first seen, and
//! `updated` when it last changed. A batch that touches old entries must not make them new, so
//! whoever makes the list orders it by the first, not by the second.

use super::oai::Datestamp;
use super::write::xml::{attribute, text};

/// A feed, or one page of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feed {
    /// An IRI that stays the same.
    pub id: String,
    pub title: String,
    pub updated: Datestamp,
    /// Whose feed it is: every entry without authors of its own is theirs.
    pub author: String,
    /// Where this page is found.
    pub own_link: String,
    /// The same list for people.
    pub alternate: Option<String>,
    /// The page behind this one.
    pub next: Option<String>,
    pub entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// An IRI that stays the same.
    pub id: String,
    pub title: String,
    pub link: String,
    pub updated: Datestamp,
    /// When it was first seen.
    pub published: Datestamp,
    pub authors: Vec<String>,
    pub summary: Option<String>,
    pub categories: Vec<Category>,
}

/// A subject or a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Category {
    pub term: String,
    pub label: Option<String>,
}

/// The media type of a feed.
pub const CONTENT_TYPE: &str = "application/atom+xml; charset=utf-8";

/// The feed in Atom 1.0.
pub fn atom(feed: &Feed) -> String {
    let mut out = String::with_capacity(1024 + feed.entries.len() * 512);
    out.push_str(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n",
    );
    text(&mut out, "id", &feed.id);
    text(&mut out, "title", &feed.title);
    text(&mut out, "updated", &feed.updated.to_string());
    author(&mut out, &feed.author);
    link(&mut out, "self", &feed.own_link);
    for (rel, href) in [("alternate", &feed.alternate), ("next", &feed.next)] {
        if let Some(href) = href {
            link(&mut out, rel, href);
        }
    }
    for one in &feed.entries {
        entry(&mut out, one);
    }
    out.push_str("</feed>\n");
    out
}

fn entry(out: &mut String, entry: &Entry) {
    out.push_str("<entry>\n");
    text(out, "id", &entry.id);
    text(out, "title", &entry.title);
    link(out, "alternate", &entry.link);
    text(out, "updated", &entry.updated.to_string());
    text(out, "published", &entry.published.to_string());
    for name in entry.authors.iter().filter(|name| !name.trim().is_empty()) {
        author(out, name);
    }
    if let Some(summary) = &entry.summary {
        text(out, "summary", summary);
    }
    for category in entry.categories.iter().filter(|category| !category.term.trim().is_empty()) {
        out.push_str("<category");
        attribute(out, "term", &category.term);
        if let Some(label) = &category.label {
            attribute(out, "label", label);
        }
        out.push_str("/>\n");
    }
    out.push_str("</entry>\n");
}

fn author(out: &mut String, name: &str) {
    out.push_str("<author>\n");
    text(out, "name", name);
    out.push_str("</author>\n");
}

fn link(out: &mut String, rel: &str, href: &str) {
    out.push_str("<link");
    attribute(out, "rel", rel);
    attribute(out, "href", href);
    out.push_str("/>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use quick_xml::Reader;
    use quick_xml::events::Event;

    fn feed(hostile: &str) -> Feed {
        let text = || format!("a{hostile}b");
        let stamp = |seconds| Datestamp::from_unix(seconds).unwrap();
        let entry = Entry {
            id: "urn:1".to_owned(),
            title: text(),
            link: text(),
            updated: stamp(200),
            published: stamp(100),
            authors: vec![text(), " ".to_owned(), text()],
            summary: Some(text()),
            categories: vec![
                Category { term: text(), label: Some(text()) },
                Category { term: String::new(), label: None },
            ],
        };
        Feed {
            id: "urn:feed".to_owned(),
            title: text(),
            updated: stamp(200),
            author: text(),
            own_link: text(),
            alternate: Some(text()),
            next: None,
            entries: vec![entry.clone(), entry],
        }
    }

    /// The names of all elements in their order; fails where the text is not well-formed.
    fn elements(xml: &str) -> Vec<String> {
        let mut reader = Reader::from_str(xml);
        let (mut names, mut depth) = (Vec::new(), 0);
        loop {
            match reader.read_event().unwrap() {
                Event::Start(tag) => {
                    depth += 1;
                    names.push(tag.name().as_ref().to_owned());
                }
                Event::Empty(tag) => {
                    assert!(tag.attributes().all(|attribute| attribute.is_ok()));
                    names.push(tag.name().as_ref().to_owned());
                }
                Event::End(_) => depth -= 1,
                Event::GeneralRef(name) => {
                    assert!(["amp", "lt", "gt", "quot"].contains(&&*name.xml10_content()));
                }
                Event::Eof => break,
                _ => {}
            }
        }
        assert_eq!(depth, 0);
        names
    }

    #[test]
    fn a_feed_has_what_atom_demands() {
        let entry = "entry id title link updated published author name author name summary category";
        let expected = format!("feed id title updated author name link link {entry} {entry}");
        assert_eq!(elements(&atom(&feed(""))).join(" "), expected);
        let xml = atom(&Feed { next: Some("p?page=2&q=\"x\"".to_owned()), entries: Vec::new(), ..feed("") });
        assert!(xml.contains("<link rel=\"next\" href=\"p?page=2&amp;q=&quot;x&quot;\"/>"), "{xml}");
        assert!(xml.contains("<updated>1970-01-01T00:03:20Z</updated>"));
    }

    proptest! {
        #[test]
        fn no_text_changes_the_shape(hostile in "[\\PC\u{0}-\u{1f}\u{fffe}<>&\"']{0,20}") {
            prop_assert_eq!(elements(&atom(&feed(&hostile))), elements(&atom(&feed(""))));
        }
    }
}
