//! Which format some bytes are in, told from their first bytes.
//!
//! Content decides; the file's name is asked only where content cannot tell (Turtle and TriG
//! share their beginnings, a table of one column has no delimiter).

use super::foreign::{self, Foreign};
use crate::record::Format;

/// The format of content that begins with `head`, or `None` when it shows none we read.
pub fn detect(head: &[u8], name: &str) -> Option<Format> {
    if container(head).is_some() {
        return None;
    }
    // The delimiters of ISO 2709 occur in no text format; a long directory may hide them.
    if looks_like_leader(head) {
        return Some(Format::Iso2709);
    }
    if head.iter().any(|byte| (0x1D..=0x1F).contains(byte)) && !is_utf16(head) {
        return Some(Format::Iso2709);
    }
    if is_utf16(head) {
        return Some(Format::MarcXml);
    }
    let text = String::from_utf8_lossy(head);
    let text = text.trim_start_matches('\u{FEFF}').trim_start();
    if looks_binary(text) {
        return None;
    }
    let lower = text.to_ascii_lowercase();
    match text.chars().next()? {
        '<' if starts_with_iri(text) => Some(rdf_lines(text, name)),
        '<' => xml(&lower),
        '{' | '[' if json_ld(&lower, name) => Some(Format::JsonLd),
        '{' | '[' => Some(json(&lower)),
        '=' if lower.starts_with("=ldr") || lower.starts_with("=0") => Some(Format::Mrk),
        '@' if lower.starts_with("@prefix") || lower.starts_with("@base") => Some(turtle(text, name)),
        '_' if text.starts_with("_:") => Some(rdf_lines(text, name)),
        _ if lower.starts_with("prefix ") || lower.starts_with("base <") => Some(turtle(text, name)),
        '#' if rdf_extension(name).is_some() => rdf_extension(name),
        _ if is_aleph(text) => Some(Format::Aleph),
        _ => rdf_extension(name).or_else(|| table(text, name)),
    }
}

/// What content is that is none of our formats, for the message.
pub(super) fn describe(head: &[u8]) -> Foreign {
    known_foreign(head).unwrap_or_else(|| {
        let what = if looks_binary(&String::from_utf8_lossy(head)) {
            "binary data of no format that is read"
        } else {
            "text of no format that is read"
        };
        Foreign {
            what,
            advice: "name the format with `--format`, if it is one that `pinakes import --help` lists",
        }
    })
}

/// What content is that is known to hold no records, whatever somebody says about it.
pub(super) fn known_foreign(head: &[u8]) -> Option<Foreign> {
    container(head).or_else(|| {
        let text = String::from_utf8_lossy(head).to_ascii_lowercase();
        is_web_page(text.trim_start_matches('\u{FEFF}').trim_start()).then_some(Foreign {
            what: "a web page, not records",
            advice: "download the records that the page shows or links to; \
                     `pinakes source probe` looks at an address for a way to harvest it",
        })
    })
}

/// A prolog may stand before the element that tells.
fn is_web_page(lower: &str) -> bool {
    lower.starts_with("<!doctype html") || lower.starts_with('<') && local_name(root(lower)) == "html"
}

/// Containers and documents are told by how they begin; what is in them must come out first.
fn container(head: &[u8]) -> Option<Foreign> {
    foreign::recognize(head).or_else(|| {
        (is_utf16(head) && !utf16_markup(head))
            .then_some(Foreign { what: "UTF-16 text, which is read only as XML", advice: "save it as UTF-8" })
    })
}

/// Whether content that is of one format cannot be meant by another. Formats that are cut and read
/// alike, or that differ in what their fields mean, are not told apart.
pub(super) fn differ(one: Format, other: Format) -> bool {
    let family = |format: Format| match format {
        Format::MarcXml | Format::OaiDc | Format::Mods => Format::MarcXml,
        Format::MarcJson | Format::Json => Format::Json,
        Format::Csv | Format::Tsv => Format::Csv,
        Format::Turtle | Format::NTriples | Format::NQuads | Format::TriG => Format::TriG,
        Format::Iso2709 | Format::Mrk | Format::Aleph | Format::RdfXml | Format::JsonLd => format,
    };
    family(one) != family(other)
}

/// Whether UTF-16 text begins with `<`, after its mark and blanks.
fn utf16_markup(head: &[u8]) -> bool {
    head.iter().find(|byte| !matches!(byte, 0 | 0xFE | 0xFF | b' ' | b'\t' | b'\r' | b'\n')) == Some(&b'<')
}

/// `00714cam a2200205 a 4500`: lengths are numbers, the last four characters hardly vary.
fn looks_like_leader(head: &[u8]) -> bool {
    let digits =
        |from: usize, to: usize| head.get(from..to).is_some_and(|bytes| bytes.iter().all(u8::is_ascii_digit));
    digits(0, 5) && digits(12, 17) && head.get(20..22) == Some(b"45")
}

fn is_utf16(head: &[u8]) -> bool {
    matches!(head, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [b'<', 0, ..] | [0, b'<', ..])
}

fn looks_binary(text: &str) -> bool {
    let odd =
        text.chars().take(512).filter(|c| *c == '\u{FFFD}' || (c.is_control() && !c.is_whitespace())).count();
    odd * 4 > text.chars().take(512).count()
}

/// `<http://…>` or `<urn:…>`: an IRI, not a tag, which has no `//` in its name.
fn starts_with_iri(text: &str) -> bool {
    text.split_once('>').is_some_and(|(iri, _)| {
        !iri.contains(char::is_whitespace) && (iri.contains("://") || iri.starts_with("<urn:"))
    })
}

/// By the root element; the prolog, a DOCTYPE among it, is not asked.
fn xml(lower: &str) -> Option<Format> {
    if is_web_page(lower) {
        return None;
    }
    let root = root(lower);
    Some(match local_name(root) {
        // A document of one resource needs no rdf:RDF around it.
        "rdf" => Format::RdfXml,
        _ if root.contains(" rdf:about=") => Format::RdfXml,
        "oai-pmh" | "dc" | "listrecords" | "getrecord" => Format::OaiDc,
        "mods" | "modscollection" => Format::Mods,
        // Any other XML is searched for records and refused there with what was found.
        _ => Format::MarcXml,
    })
}

/// The name of a start tag, without its prefix.
fn local_name(tag: &str) -> &str {
    let name = tag.split(|c: char| c.is_whitespace() || c == '>' || c == '/').next().unwrap_or_default();
    name.rsplit(':').next().unwrap_or_default()
}

/// The first start tag, without its `<`.
fn root(text: &str) -> &str {
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let tag = rest.get(start + 1..).unwrap_or_default();
        let end = match tag {
            _ if tag.starts_with("!--") => "-->",
            _ if tag.starts_with('?') => "?>",
            // An internal subset holds tags of its own and ends with `]>`.
            _ if tag.starts_with('!') && tag.find('[') < tag.find('>') && tag.contains('[') => "]>",
            _ if tag.starts_with('!') => ">",
            _ => return tag.split_inclusive('>').next().unwrap_or(tag),
        };
        rest = tag.find(end).and_then(|place| tag.get(place + end.len()..)).unwrap_or_default();
    }
    rest
}

fn json_ld(lower: &str, name: &str) -> bool {
    name.contains(".jsonld")
        || ["\"@context\"", "\"@graph\"", "\"@id\""].iter().any(|key| lower.contains(key))
}

fn json(lower: &str) -> Format {
    if lower.contains("\"leader\"") && (lower.contains("\"fields\"") || lower.contains("\"datafield\"")) {
        Format::MarcJson
    } else {
        Format::Json
    }
}

/// `000000001 24510 L $$a…`
fn is_aleph(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default().as_bytes();
    line.len() > 18
        && line.iter().take(9).all(u8::is_ascii_digit)
        && line.get(9) == Some(&b' ')
        && line.get(15) == Some(&b' ')
        && line.get(17) == Some(&b' ')
}

fn rdf_extension(name: &str) -> Option<Format> {
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
    match name.rsplit_once('.')?.1 {
        "ttl" => Some(Format::Turtle),
        "nt" => Some(Format::NTriples),
        "nq" => Some(Format::NQuads),
        "trig" => Some(Format::TriG),
        _ => None,
    }
}

fn turtle(text: &str, name: &str) -> Format {
    rdf_extension(name).unwrap_or(if text.contains('{') { Format::TriG } else { Format::Turtle })
}

/// Statements on lines of their own: three terms or four, or Turtle without prefixes.
fn rdf_lines(text: &str, name: &str) -> Format {
    if let Some(format) = rdf_extension(name) {
        return format;
    }
    let line = text.lines().next().unwrap_or_default().trim_end();
    let Some(statement) = line.strip_suffix('.') else {
        return Format::Turtle;
    };
    let iris = statement.matches('<').count() + statement.matches("_:").count();
    let literal = usize::from(statement.contains('"'));
    // The datatype of a literal is an IRI too, and not a term of its own.
    match iris + literal - statement.matches("^^<").count() {
        3 => Format::NTriples,
        4 => Format::NQuads,
        _ => Format::Turtle,
    }
}

fn table(text: &str, name: &str) -> Option<Format> {
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst").to_ascii_lowercase();
    let header = text.lines().next().unwrap_or_default();
    if name.ends_with(".tsv") || (!name.ends_with(".csv") && header.contains('\t')) {
        return Some(Format::Tsv);
    }
    // A sentence has commas too: a header has no blank after them, or the next line as many.
    let columns = |line: &str| line.matches([',', ';', '|']).count();
    let second = text.lines().nth(1).unwrap_or_default();
    let tabular = columns(header) > 0 && columns(second) >= columns(header);
    (name.ends_with(".csv") || tabular).then_some(Format::Csv)
}
