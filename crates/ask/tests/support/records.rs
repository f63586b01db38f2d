//! Record graphs in the vocabulary of the shipped queries, made up from a seed.

use oxrdf::{BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple};

const BF: &str = "http://id.loc.gov/ontologies/bibframe/";
const BFLC: &str = "http://id.loc.gov/ontologies/bflc/";
const DCTERMS: &str = "http://purl.org/dc/terms/";
const OWL: &str = "http://www.w3.org/2002/07/owl#";
const PIN: &str = "https://w3id.org/pinakes#";
const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
const RDFS: &str = "http://www.w3.org/2000/01/rdf-schema#";
const SKOS: &str = "http://www.w3.org/2004/02/skos/core#";
const REL: &str = "http://id.loc.gov/vocabulary/relators/";
const VOCABULARY: &str = "http://id.loc.gov/vocabulary/";

/// A source of chance that gives the same for the same seed.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % bound
    }

    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub fn of<'t>(&mut self, list: &[&'t str]) -> &'t str {
        list[self.below(list.len())]
    }
}

/// A record that is being written.
struct Record {
    name: String,
    triples: Vec<Triple>,
}

/// An IRI of a prefixed name.
pub fn iri(name: &str) -> NamedNode {
    let (prefix, local) = name.split_once(':').unwrap();
    let base = match prefix {
        "bf" => BF,
        "bflc" => BFLC,
        "dcterms" => DCTERMS,
        "owl" => OWL,
        "pin" => PIN,
        "rdf" => RDF,
        "rdfs" => RDFS,
        "skos" => SKOS,
        "rel" => REL,
        "voc" => VOCABULARY,
        _ => return NamedNode::new(name).unwrap(),
    };
    NamedNode::new(format!("{base}{local}")).unwrap()
}

impl Record {
    fn node(&self, fragment: &str) -> Term {
        match fragment {
            "" => NamedNode::new(&self.name).unwrap().into(),
            _ => NamedNode::new(format!("{}#{fragment}", self.name)).unwrap().into(),
        }
    }

    fn add(&mut self, subject: &str, property: &str, object: impl Into<Term>) {
        let Term::NamedNode(subject) = self.node(subject) else { unreachable!() };
        self.triples.push(Triple::new(subject, iri(property), object.into()));
    }

    fn link(&mut self, subject: &str, property: &str, object: &str) {
        let object = self.node(object);
        self.add(subject, property, object);
    }

    fn is_a(&mut self, subject: &str, class: &str) {
        self.add(subject, "rdf:type", iri(class));
    }

    fn text(&mut self, subject: &str, property: &str, value: &str) {
        self.add(subject, property, Literal::from(value));
    }
}

const TITLES: [&str; 8] = [
    "Walden, or, Life in the woods",
    "Les misérables : adapté pour la scène",
    "A play in three acts about nothing",
    "Bericht der Bundesanstalt für Straßenwesen",
    "The origin of species by means of natural selection, a graphic novel",
    "Преступление и наказание",
    "Proceedings of the annual conference on data bases",
    "Harmonices mundi",
];
const NAMES: [&str; 8] = [
    "Thoreau, Henry David",
    "Hugo, Victor",
    "Müller, Änne",
    "Deutsche Forschungsgemeinschaft (Firm)",
    "United States. Congress. House",
    "Достоевский, Федор Михайлович",
    "IEEE Conference on Data Engineering",
    "Smith, J.",
];
const DATES: [&str; 8] =
    ["1817-1862", "born 1817", "d. 1799", "-1750", "active 1820", "1950-", "19th cent.", "ca. 1604-1670"];
const EXTENTS: [&str; 7] = [
    "xii, 320 p. ; 24 cm",
    "1 online resource (200 pages)",
    "2 sound discs (74 min.)",
    "1 Partitur (56 S.)",
    "350 стр.",
    "1 microfiche",
    "3 maps",
];
const BY: [&str; 4] = [
    "by Henry D. Thoreau ; edited by J. Lyndon Shanley",
    "passed by the General Assembly\nin session, 1867",
    "bearbeitet von Änne Müller",
    "held at Bern, July 12-14, 1987",
];
const CLASSES: [&str; 6] =
    ["bf:Text", "bf:NotatedMusic", "bf:MusicAudio", "bf:Cartography", "bf:NonMusicAudio", "bf:Dataset"];
const AGENT_CLASSES: [&str; 5] =
    ["bf:Person", "bf:Person", "bf:Organization", "bf:Meeting", "bf:Jurisdiction"];
const ROLES: [&str; 7] = ["rel:aut", "rel:trl", "rel:edt", "rel:nrt", "rel:cnd", "rel:cre", "rel:ill"];

/// A bibliographic record, or one in eight times an authority record.
pub fn record(seed: u64) -> (NamedNode, Vec<Triple>) {
    let chance = &mut Chance::new(seed + 1);
    let name = format!("https://library.example/graph/record/catalogue/{:08}", 10_000_000 + seed);
    let mut record = Record { name, triples: Vec::new() };
    match seed % 8 {
        7 => authority(&mut record, chance),
        _ => publication(&mut record, chance),
    }
    (NamedNode::new(record.name).unwrap(), record.triples)
}

fn authority(record: &mut Record, chance: &mut Chance) {
    if chance.one_in(2) {
        record.link("", "pin:describes", "agent");
        record.is_a("agent", chance.of(&AGENT_CLASSES));
        agent(record, chance, "agent");
        for _ in 0..chance.below(6) {
            record.text("agent", "skos:altLabel", chance.of(&NAMES));
        }
        record.add("agent", "owl:sameAs", iri("http://viaf.org/viaf/12345"));
    } else {
        record.link("", "pin:describes", "concept");
        record.is_a("concept", "skos:Concept");
        record.text("concept", "skos:prefLabel", "Forests");
        for _ in 0..chance.below(4) {
            record.text("concept", "skos:altLabel", chance.of(&TITLES));
        }
        record.add("concept", "bf:source", iri("voc:subjectSchemes/lcsh"));
        record.add("concept", "skos:exactMatch", iri("http://d-nb.info/gnd/4062077-6"));
    }
}

fn agent(record: &mut Record, chance: &mut Chance, node: &str) {
    let name = chance.of(&NAMES);
    let dates = chance.of(&DATES);
    if chance.one_in(2) {
        record.text(node, "rdfs:label", &format!("{name}, {dates}"));
        record.text(node, "pin:name", name);
        record.text(node, "pin:dates", dates);
    } else {
        record.text(node, "rdfs:label", name);
    }
    if chance.one_in(3) {
        record.text(node, "pin:authority", &format!("n{}", 79_000_000 + chance.below(1000)));
        record.add(
            node,
            "owl:sameAs",
            iri(&format!("http://id.loc.gov/authorities/names/n{}", chance.below(1000))),
        );
        record.add(node, "skos:exactMatch", iri("https://orcid.org/0000-0002-1825-0097"));
    }
    if chance.one_in(6) {
        record.link(node, "pin:affiliation", "affiliation");
        record.text("affiliation", "rdfs:label", "Universität Zürich");
    }
}

fn publication(record: &mut Record, chance: &mut Chance) {
    record.link("", "pin:describes", "instance");
    record.text("", "pin:source", "catalogue");
    record.text("", "pin:identifier", "ocm12345678");
    if !chance.one_in(4) {
        record.add(
            "",
            "pin:contentType",
            iri(chance.of(&["pin:type/book", "pin:type/scientific-paper", "pin:type/map"])),
        );
    }
    record.is_a("instance", "bf:Instance");
    if chance.one_in(3) {
        record.is_a("instance", "bf:Print");
    }
    let title = chance.of(&TITLES);
    record.text("instance", "rdfs:label", title);
    record.link("instance", "bf:title", "title");
    record.is_a("title", "bf:Title");
    record.text("title", "bf:mainTitle", title);
    if chance.one_in(4) {
        record.text("title", "bf:partNumber", "Bd. 2");
        record.text("title", "bf:partName", "Das Leben im Wald");
    }
    record.text("instance", "bf:responsibilityStatement", chance.of(&BY));
    record.text("instance", "bf:editionStatement", "2nd ed.");
    record.text("instance", "dcterms:issued", "1854");
    record.text("instance", "dcterms:publisher", "Ticknor and Fields");
    if chance.one_in(3) {
        record.text("instance", "bf:copyrightDate", "©1854");
    }
    record.link("instance", "bf:provisionActivity", "publication");
    record.is_a("publication", "bf:Publication");
    record.text("publication", "bflc:simplePlace", "Boston");
    record.text("publication", "bflc:simpleAgent", "Ticknor and Fields");
    record.text("publication", "bflc:simpleDate", "1854");
    record.link("publication", "bf:place", "place");
    record.text("place", "rdfs:label", "Boston (Mass.)");
    for (node, value) in [("isbn-1", "9780691096124"), ("isbn-2", "0691096120")] {
        record.text("instance", "pin:isbn", value);
        record.link("instance", "bf:identifiedBy", node);
        record.is_a(node, "bf:Isbn");
        record.text(node, "rdf:value", value);
        record.text(node, "bf:qualifier", "hardcover");
    }
    for (property, value) in [
        ("pin:oclc", "12345678"),
        ("pin:lccn", "54000123"),
        ("pin:issn", "0028-0836"),
        ("pin:nbn", "GB5401234"),
    ] {
        if chance.one_in(2) {
            record.text("instance", property, value);
        }
    }
    if chance.one_in(5) {
        record.link("instance", "bf:identifiedBy", "number");
        record.is_a("number", chance.of(&["bf:MusicPlate", "bf:Ean", "bf:AudioIssueNumber"]));
        record.text("number", "rdf:value", chance.of(&["B. & H. 4411", "ab", "477 9563"]));
    }
    record.link("instance", "bf:extent", "extent");
    record.is_a("extent", "bf:Extent");
    record.text("extent", "rdfs:label", chance.of(&EXTENTS));
    if chance.one_in(2) {
        record.add(
            "instance",
            "bf:media",
            iri(chance.of(&["voc:mediaTypes/n", "voc:mediaTypes/s", "voc:mediaTypes/c"])),
        );
        record.add("instance", "bf:carrier", iri(chance.of(&["voc:carriers/nc", "voc:carriers/sd"])));
    }
    if !chance.one_in(4) {
        record.add(
            "instance",
            "bf:issuance",
            iri(chance.of(&["voc:issuance/mono", "voc:issuance/serl", "voc:issuance/intg"])),
        );
    }
    for (at, text) in ["Includes index.", "First published 1854.", "Printed on demand.", "Cited in BAL 20106"]
        .iter()
        .enumerate()
    {
        let node = format!("note-{at}");
        record.link("instance", "bf:note", &node);
        record.is_a(&node, "bf:Note");
        record.text(&node, "rdfs:label", text);
        if chance.one_in(3) {
            record.text(&node, "bf:noteType", "references");
        }
    }
    if chance.one_in(3) {
        record.text("instance", "bf:seriesStatement", "Writings of Henry D. Thoreau ; 1");
    }
    if chance.one_in(3) {
        record.add(
            "instance",
            "bf:electronicLocator",
            iri(chance.of(&["https://doi.org/10.1000/182", "http://www.gutenberg.org"])),
        );
    }
    work(record, chance, title);
}

fn work(record: &mut Record, chance: &mut Chance, title: &str) {
    record.link("instance", "bf:instanceOf", "work");
    record.is_a("work", "bf:Work");
    record.is_a("work", chance.of(&CLASSES));
    if chance.one_in(6) {
        record.is_a("work", chance.of(&["pin:ComponentPart", "bf:Collection"]));
    }
    record.text("work", "rdfs:label", title);
    record.text("work", "pin:workKey", "walden thoreau");
    record.add("work", "dcterms:language", iri("voc:languages/eng"));
    if !chance.one_in(3) {
        record.add("work", "bf:content", iri(chance.of(&["voc:contentTypes/txt", "voc:contentTypes/spw"])));
    }
    if chance.one_in(3) {
        record.link("work", "bf:expressionOf", "hub");
        record.is_a("hub", "bf:Hub");
        record.text("hub", "rdfs:label", "Walden. German");
    }
    let agents = 2 + chance.below(5);
    for at in 0..agents {
        let (contribution, node) = (format!("contribution-{at}"), format!("agent-{at}"));
        record.link("work", "bf:contribution", &contribution);
        record.is_a(&contribution, "bf:Contribution");
        record.link(&contribution, "bf:agent", &node);
        if !chance.one_in(4) {
            record.add(&contribution, "bf:role", iri(chance.of(&ROLES)));
        }
        if at == 0 {
            record.link("work", "dcterms:creator", &node);
        }
        record.is_a(&node, "bf:Agent");
        record.is_a(&node, chance.of(&AGENT_CLASSES));
        agent(record, chance, &node);
    }
    for at in 0..4 + chance.below(5) {
        let node = format!("subject-{at}");
        record.link("work", "bf:subject", &node);
        record.is_a(&node, "bf:Topic");
        record.text(&node, "rdfs:label", chance.of(&["Forests", "Solitude", "Wälder", "Massachusetts"]));
        record.add(&node, "bf:source", iri("voc:subjectSchemes/lcsh"));
        if chance.one_in(2) {
            record.add(&node, "skos:exactMatch", iri("http://id.loc.gov/authorities/subjects/sh85050697"));
        }
    }
    if chance.one_in(4) {
        record.link("work", "bf:tableOfContents", "contents");
        record.text("contents", "rdfs:label", "Economy -- Where I lived -- Reading");
    }
    if chance.one_in(6) {
        record.link("work", "bf:cartographicAttributes", "map");
        record.text("map", "bf:coordinates", "W 71°20' / N 42°26'");
    }
    for at in 0..chance.below(3) {
        let (relation, host) = (format!("relation-{at}"), format!("host-{at}"));
        record.link("work", "bf:relation", &relation);
        record.is_a(&relation, "bf:Relation");
        record.add(
            &relation,
            "bf:relationship",
            iri(chance.of(&["bf:partOf", "bf:hasSeries", "bf:supplement"])),
        );
        record.link(&relation, "bf:associatedResource", &host);
        record.text(&host, "rdfs:label", "The Atlantic monthly");
        if chance.one_in(2) {
            record.text(&relation, "bf:seriesEnumeration", "vol. 12");
            record.text(&relation, "bf:part", "vol. 9 (1862), p. 657");
        }
    }
}

/// Changes a record at random places: what is gone, what points elsewhere, what is said otherwise.
pub fn disturbed(seed: u64, changes: &[(u16, u8, u8)]) -> (NamedNode, Vec<Triple>) {
    let (name, mut triples) = record(seed);
    for &(at, how, what) in changes {
        let at = usize::from(at) % triples.len().max(1);
        let what = usize::from(what);
        let Some(triple) = triples.get(at).cloned() else { break };
        let other = triples[what % triples.len()].clone();
        match how % 8 {
            0 => drop(triples.remove(at)),
            1 => triples[at].object = other.object,
            2 => triples[at].object = other.subject.into(),
            3 => triples[at].predicate = other.predicate,
            4 => triples.push(Triple::new(other.subject, triple.predicate, triple.object)),
            5 => {
                let values = [
                    Literal::from("1817-1862"),
                    Literal::new_language_tagged_literal("Wälder", "de").unwrap(),
                    Literal::from(1854),
                    Literal::new_typed_literal("01854", oxrdf::vocab::xsd::INTEGER),
                    Literal::new_typed_literal("1854", oxrdf::vocab::xsd::G_YEAR),
                    Literal::new_typed_literal(
                        "1854~",
                        NamedNode::new("http://id.loc.gov/datatypes/edtf").unwrap(),
                    ),
                    Literal::from(""),
                    Literal::from("two\nlines, held 1923"),
                ];
                triples[at].object = values[what % values.len()].clone().into();
            }
            6 => triples[at].object = BlankNode::new(format!("b{}", what % 3)).unwrap().into(),
            _ => {
                let node = BlankNode::new(format!("b{}", what % 3)).unwrap();
                triples.push(Triple::new(NamedOrBlankNode::from(node), other.predicate, triple.object));
            }
        }
    }
    (name, triples)
}
