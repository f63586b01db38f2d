//! The metadata formats: one description as Dublin Core, MARC 21 and MODS.

use super::description::Description;
use super::xml::{element, escape};

/// A format by its prefix.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    pub prefix: &'static str,
    pub schema: &'static str,
    pub namespace: &'static str,
    write: fn(&mut String, &Description),
}

/// Every format a repository can be asked to have. `marcxml` is `marc21` under the name that
/// some repositories give it.
const FORMATS: [Format; 4] = [
    Format {
        prefix: "oai_dc",
        schema: "http://www.openarchives.org/OAI/2.0/oai_dc.xsd",
        namespace: "http://www.openarchives.org/OAI/2.0/oai_dc/",
        write: dublin_core,
    },
    Format { prefix: "marc21", schema: MARC_SCHEMA, namespace: MARC, write: marcxml },
    Format { prefix: "marcxml", schema: MARC_SCHEMA, namespace: MARC, write: marcxml },
    Format {
        prefix: "mods",
        schema: "http://www.loc.gov/standards/mods/v3/mods-3-8.xsd",
        namespace: MODS,
        write: mods,
    },
];

const MARC: &str = "http://www.loc.gov/MARC21/slim";
const MARC_SCHEMA: &str = "http://www.loc.gov/standards/marcxml/schema/MARC21slim.xsd";
const MODS: &str = "http://www.loc.gov/mods/v3";

impl Format {
    pub fn named(prefix: &str) -> Option<Self> {
        FORMATS.into_iter().find(|format| format.prefix == prefix)
    }

    /// The content of a `metadata` element.
    pub fn metadata(self, description: &Description) -> String {
        let mut out = String::with_capacity(1536);
        (self.write)(&mut out, description);
        out
    }
}

fn dublin_core(out: &mut String, book: &Description) {
    out.push_str(
        "        <oai_dc:dc xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" \
         xmlns:dc=\"http://purl.org/dc/elements/1.1/\" \
         xsi:schemaLocation=\"http://www.openarchives.org/OAI/2.0/oai_dc/ \
         http://www.openarchives.org/OAI/2.0/oai_dc.xsd\">\n",
    );
    let mut add = |name: &str, text: &str| element(out, 10, name, text);
    add(&format!("dc:title xml:lang=\"{}\"", book.xml_lang), &book.title);
    for creator in &book.creators {
        add("dc:creator", creator);
    }
    for subject in &book.subjects {
        add("dc:subject", subject);
    }
    add("dc:description xml:lang=\"en\"", &book.summary);
    add("dc:publisher", book.publisher);
    add("dc:date", &book.year.to_string());
    add("dc:type", "Text");
    add("dc:format", &format!("{} pages", book.pages));
    add("dc:identifier", &book.url);
    add("dc:identifier", &format!("urn:isbn:{}", book.isbn));
    add("dc:language", book.language);
    out.push_str("        </oai_dc:dc>\n");
}

fn marcxml(out: &mut String, book: &Description) {
    out.push_str(&format!("        <record xmlns=\"{MARC}\">\n"));
    element(out, 10, "leader", "00000nam a2200000 i 4500");
    element(out, 10, "controlfield tag=\"001\"", &format!("{:06}", book.number));
    element(out, 10, "controlfield tag=\"003\"", "XX-Repo");
    let fixed = format!("240101s{}    xx {:>17}{} d", book.year, "000 0 ", book.language);
    element(out, 10, "controlfield tag=\"008\"", &fixed);
    let mut field = |tag: &str, indicators: &str, subfields: &[(char, &str)]| {
        let (first, second) = indicators.split_at(1);
        out.push_str(&format!("          <datafield tag=\"{tag}\" ind1=\"{first}\" ind2=\"{second}\">\n"));
        for (code, text) in subfields {
            element(out, 12, &format!("subfield code=\"{code}\""), text);
        }
        out.push_str("          </datafield>\n");
    };
    let (main, rest) = book.title.split_once(" : ").unwrap_or((&book.title, ""));
    field("020", "  ", &[('a', &book.isbn)]);
    field("041", "0 ", &[('a', book.language)]);
    field("100", "1 ", &[('a', &book.creators[0]), ('e', "author")]);
    field("245", "10", &[('a', &format!("{main} :")), ('b', &format!("{rest}."))]);
    field(
        "264",
        " 1",
        &[
            ('a', &format!("{} :", book.place)),
            ('b', &format!("{},", book.publisher)),
            ('c', &format!("{}.", book.year)),
        ],
    );
    field("300", "  ", &[('a', &format!("{} pages", book.pages))]);
    field("336", "  ", &[('a', "text"), ('b', "txt"), ('2', "rdacontent")]);
    field("520", "  ", &[('a', &book.summary)]);
    for subject in &book.subjects {
        match subject.split_once(" -- ") {
            None => field("650", " 4", &[('a', subject)]),
            Some((topic, place)) => field("650", " 4", &[('a', topic), ('z', place)]),
        }
    }
    for creator in &book.creators[1..] {
        field("700", "1 ", &[('a', creator), ('e', "author")]);
    }
    field("856", "40", &[('u', &book.url)]);
    out.push_str("        </record>\n");
}

fn mods(out: &mut String, book: &Description) {
    out.push_str(&format!("        <mods xmlns=\"{MODS}\" version=\"3.8\">\n"));
    let line = |out: &mut String, xml: String| out.push_str(&format!("          {xml}\n"));
    line(out, format!("<titleInfo><title>{}</title></titleInfo>", escape(&book.title)));
    for creator in &book.creators {
        line(
            out,
            format!(
                "<name type=\"personal\"><namePart>{}</namePart>\
                 <role><roleTerm type=\"text\">author</roleTerm></role></name>",
                escape(creator)
            ),
        );
    }
    line(out, "<typeOfResource>text</typeOfResource>".to_owned());
    line(
        out,
        format!(
            "<originInfo><place><placeTerm type=\"text\">{}</placeTerm></place>\
             <publisher>{}</publisher><dateIssued encoding=\"w3cdtf\">{}</dateIssued></originInfo>",
            escape(book.place),
            escape(book.publisher),
            book.year
        ),
    );
    line(
        out,
        format!(
            "<language><languageTerm type=\"code\" authority=\"iso639-2b\">{}</languageTerm></language>",
            book.language
        ),
    );
    line(out, format!("<physicalDescription><extent>{} pages</extent></physicalDescription>", book.pages));
    line(out, format!("<abstract>{}</abstract>", escape(&book.summary)));
    for subject in &book.subjects {
        line(out, format!("<subject><topic>{}</topic></subject>", escape(subject)));
    }
    line(out, format!("<identifier type=\"isbn\">{}</identifier>", book.isbn));
    line(out, format!("<location><url>{}</url></location>", escape(&book.url)));
    out.push_str("        </mods>\n");
}
