//! Answers in, what they hold out: sound ones, odd ones, hostile ones.

use super::*;
use crate::decode::{self, Piece};
use proptest::prelude::*;

const DC: &str = "<oai_dc:dc xmlns:oai_dc=\"http://www.openarchives.org/OAI/2.0/oai_dc/\" \
                  xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><dc:title>t</dc:title></oai_dc:dc>";

fn record(id: &str) -> String {
    let header = format!("<identifier>{id}</identifier><datestamp>2024-01-01</datestamp>");
    format!("<record><header>{header}</header><metadata>{DC}</metadata></record>")
}

fn answer(body: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<OAI-PMH xmlns=\"http://www.openarchives.org/OAI/2.0/\" \
         xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'><responseDate>2024-01-02T03:04:05Z</responseDate>\
         <request verb=\"ListRecords\" metadataPrefix=\"oai_dc\">http://r.example/oai</request>{body}</OAI-PMH>"
    )
}

fn list(body: &str) -> String {
    answer(&format!("<ListRecords>{body}</ListRecords>"))
}

fn read(text: &str) -> Response {
    Response::read(text.as_bytes().to_vec()).unwrap()
}

fn refusal(text: &str) -> Unreadable {
    Response::read(text.as_bytes().to_vec()).unwrap_err()
}

fn identifiers(response: &Response) -> Vec<&str> {
    response.records.iter().map(|record| record.header.identifier.as_deref().unwrap_or("-")).collect()
}

/// What the import of the same bytes from a file makes of them: where, which bytes, and the
/// identifier and whether it is deleted, or why it is refused.
type Taken = (u64, Vec<u8>, Result<(Option<String>, bool), Code>);

fn imported(bytes: &[u8]) -> Vec<Taken> {
    let taken = |piece| match piece {
        Piece::Record(payload, mut said) => {
            let options = decode::Options::default();
            let record = decode::decode(&payload.bytes, super::super::FORMAT, &options, &mut said);
            let code = said.last().map_or(Code::NotARecord, |said| said.code);
            let what = record.map(|record| (record.id, record.withdrawn)).ok_or(code);
            Some((payload.offset, payload.bytes, what))
        }
        // Beside records import also keeps tags that do not match.
        Piece::Reject(payload, _) if !payload.bytes.starts_with(b"<record") => None,
        Piece::Reject(payload, reason) => Some((payload.offset, payload.bytes, Err(reason.code))),
    };
    let pieces = decode::split(Box::new(bytes), super::super::FORMAT, "");
    pieces.filter_map(|piece| taken(piece.unwrap())).collect()
}

#[track_caller]
fn check_as_imported(bytes: &[u8]) {
    let Ok(response) = Response::read(bytes.to_vec()) else { return };
    let Response { records, mut rejects, broken, .. } = response;
    rejects.extend(broken.filter(|broken| !broken.payload.is_empty()));
    let taken = records
        .into_iter()
        .map(|record| (record.offset, record.payload, Ok((record.header.identifier, record.header.deleted))));
    let refused =
        rejects.into_iter().map(|reject| (reject.offset, reject.payload, Err(reject.diagnostic.code)));
    let mut ours: Vec<Taken> = taken.chain(refused).collect();
    ours.sort_by_key(|(offset, ..)| *offset);
    let theirs = imported(bytes);
    let shown = String::from_utf8_lossy(bytes);
    // Where a document is cut before a header, import does not know the record for one; the
    // harvest keeps its bytes.
    if ours.len() == theirs.len() + 1 && ours.last().is_some_and(|(.., what)| what.is_err()) {
        ours.pop();
    }
    assert_eq!(ours.len(), theirs.len(), "{shown}");
    for (ours, theirs) in ours.into_iter().zip(theirs) {
        assert_eq!((ours.0, &ours.1), (theirs.0, &theirs.1), "{shown}");
        match (ours.2, theirs.2) {
            // Whether a record is sound inside, only its decoder knows.
            (Ok(_) | Err(Code::NotARecord), Err(_)) => {}
            (ours, theirs) => assert_eq!(ours, theirs, "{shown}"),
        }
    }
}

#[test]
fn an_answer_is_taken_apart() {
    let token = "<resumptionToken completeListSize='10' cursor=\"0\" expirationDate='2024-01-03T00:00:00Z'> a b\n\
         </resumptionToken>";
    let deleted = "<record><header status=\"deleted\"><identifier>oai:x:2</identifier>\
         <datestamp>2024-01-02</datestamp><setSpec>s</setSpec></header></record>";
    let text = list(&format!("{}{deleted}{token}", record("oai:x:1")));
    let response = read(&text);
    assert_eq!(response.response_date.as_deref(), Some("2024-01-02T03:04:05Z"));
    assert_eq!(response.arguments.len(), 2);
    assert_eq!(response.verb, Some(Verb::ListRecords));
    assert_eq!(identifiers(&response), ["oai:x:1", "oai:x:2"]);
    assert_eq!(
        response.records[1].header,
        Header {
            identifier: Some("oai:x:2".to_owned()),
            datestamp: Some("2024-01-02".to_owned()),
            sets: vec!["s".to_owned()],
            deleted: true
        }
    );
    assert_eq!(
        response.token,
        Some(ResumptionToken {
            text: "a b".to_owned(),
            too_long: false,
            complete_list_size: Some(10),
            cursor: Some(0),
            expiration_date: Some("2024-01-03T00:00:00Z".to_owned()),
        })
    );
    assert_eq!((response.broken, response.notices, response.rejects), (None, vec![], vec![]));
}

#[test]
fn a_payload_stands_alone_as_the_import_of_a_file_makes_it() {
    let marc = "<record xmlns=\"http://www.loc.gov/MARC21/slim\"><leader/></record>";
    let odd = format!("<record xmlns:xsi='urn:other'><header/><metadata>{marc}</metadata></record>");
    let text = list(&format!("{}{odd}{}", record("1"), record("2")));
    let response = read(&text);
    assert!(response.records[0].payload.starts_with(
        b"<record xmlns=\"http://www.openarchives.org/OAI/2.0/\" \
          xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"><header>"
    ));
    assert_eq!(response.rejects[0].offset as usize, text.find("<record xmlns:xsi").unwrap());
    assert_eq!(response.records[1].number, 3);
    check_as_imported(text.as_bytes());
    let prefixed = text.replace("<OAI-PMH xmlns=", "<o:OAI-PMH xmlns:o=").replace("</OAI", "</o:OAI");
    let prefixed = prefixed.replace("<header", "<o:header").replace("</header", "</o:header");
    check_as_imported(prefixed.as_bytes());
}

#[test]
fn other_character_sets_are_read_as_the_import_of_a_file_reads_them() {
    let text = list(&record("é")).replace("UTF-8", "ISO-8859-1");
    let latin1: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    let response = Response::read(latin1.clone()).unwrap();
    assert_eq!(identifiers(&response), ["é"]);
    check_as_imported(&latin1);
    // UTF-8 that says it is something else.
    let response = read(&text);
    assert_eq!(identifiers(&response), ["é"]);
    assert_eq!(response.records[0].diagnostics[0].code, Code::CharsetMismatch);
    let utf16: Vec<u8> = format!("\u{FEFF}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(identifiers(&Response::read(utf16.clone()).unwrap()), ["é"]);
    check_as_imported(&utf16);
}

#[test]
fn bad_bytes_stay_in_their_record_for_its_decoder_to_judge() {
    let text = list(&format!("{}{}{}", record("1"), record("2"), record("3")));
    let at = text.match_indices("<dc:title>").nth(1).unwrap().0 + "<dc:title>".len();
    for damage in [b"\xFF".as_slice(), b"\x01", b"& 1 < 2 </b>", b"<i>"] {
        let mut bytes = text.clone().into_bytes();
        bytes.splice(at..at, damage.iter().copied());
        let response = Response::read(bytes.clone()).unwrap();
        assert_eq!(identifiers(&response), ["1", "2", "3"]);
        check_as_imported(&bytes);
    }
}

#[test]
fn an_unclosed_record_costs_no_neighbour() {
    let open = record("2").replace("</record>", "");
    let text = list(&format!("{}{open}{}<resumptionToken>t</resumptionToken>", record("1"), record("3")));
    let response = read(&text);
    assert_eq!(identifiers(&response), ["1", "3"]);
    let reject = &response.rejects[0];
    assert_eq!((reject.identifier.as_deref(), reject.number), (Some("2"), 2));
    assert_eq!(reject.diagnostic.code, Code::XmlSyntax);
    assert_eq!(reject.offset as usize, text.find(&open).unwrap());
    assert_eq!(response.broken, None);
    assert_eq!(response.token.map(|token| token.text).as_deref(), Some("t"));
    check_as_imported(text.as_bytes());
}

#[test]
fn an_answer_that_breaks_off_gives_its_whole_records() {
    let text = list(&format!("{}{}<resumptionToken>t</resumptionToken>", record("1"), record("2")));
    let first = text.find("</record>").unwrap() + "</record>".len();
    let second = text.rfind("</record>").unwrap() + "</record>".len();
    let token = text.find("</resumptionToken>").unwrap() + "</resumptionToken>".len();
    let root = text.find("<OAI-PMH").unwrap();
    for length in 0..text.len() {
        let cut = text.get(..length).unwrap();
        let Ok(response) = Response::read(cut.as_bytes().to_vec()) else {
            assert!(length < text.find("<responseDate").unwrap(), "{cut}");
            continue;
        };
        assert!(length > root);
        let whole = usize::from(length >= first) + usize::from(length >= second);
        assert_eq!(response.records.len(), whole, "{cut}");
        assert_eq!(response.broken.is_none(), length >= token, "{cut}");
        check_as_imported(cut.as_bytes());
    }
}

#[test]
fn namespaces_are_taken_as_they_come() {
    let one = list(&record("1"));
    for (namespace, other) in [
        ("http://www.openarchives.org/OAI/2.0/", "http://www.openarchives.org/OAI/1.1/"),
        ("http://www.openarchives.org/OAI/2.0/", "urn:anything"),
        (" xmlns=\"http://www.openarchives.org/OAI/2.0/\"", ""),
    ] {
        let text = one.replacen(namespace, other, 1);
        assert_eq!(identifiers(&read(&text)), ["1"]);
        check_as_imported(text.as_bytes());
    }
}

#[test]
fn what_is_no_answer_is_told_apart() {
    assert_eq!(refusal(""), Unreadable::Empty);
    assert_eq!(refusal(" \n"), Unreadable::Empty);
    assert_eq!(refusal("<?xml version='1.0'?><OAI-PMH/>"), Unreadable::Empty);
    assert_eq!(refusal("broken xml"), Unreadable::NotXml);
    assert_eq!(refusal("<html><head><title>Login</title></head></html>"), Unreadable::WebPage);
    assert_eq!(refusal("<!DOCTYPE html PUBLIC 'x'><html/>"), Unreadable::WebPage);
    assert_eq!(refusal("<!doctype HTML>\n<p>"), Unreadable::WebPage);
    assert_eq!(refusal("<rss version='2.0'/>"), Unreadable::OtherXml { root: "rss".to_owned() });
    assert_eq!(refusal("<!DOCTYPE a [<!ENTITY b 'c'>]><OAI-PMH><x>&b;</x></OAI-PMH>"), Unreadable::Doctype);
    assert_eq!(refusal(&list(&format!("{}<!DOCTYPE a>", record("1")))), Unreadable::Doctype);
}

#[test]
fn what_a_server_prints_before_its_answer_is_passed_over() {
    let text = format!("<br />\n<b>Warning</b>: something in line 3<br />\n{}", list(&record("1")));
    let response = read(&text);
    assert_eq!(identifiers(&response), ["1"]);
    assert_eq!(response.notices[0].code, Code::OaiProtocol);
}

#[test]
fn errors_are_read_with_and_without_words() {
    let text =
        answer("<error code=\"badResumptionToken\"> expired </error><error code='x'/><error>?</error>");
    let errors: Vec<_> = read(&text).errors.into_iter().map(|error| (error.code, error.message)).collect();
    let expected = [("badResumptionToken", "expired"), ("x", ""), ("", "?")];
    assert_eq!(errors, expected.map(|(code, message)| (code.to_owned(), message.to_owned())));
    let both =
        answer(&format!("<error code=\"badArgument\">?</error><ListRecords>{}</ListRecords>", record("1")));
    let response = read(&both);
    assert_eq!((response.errors.len(), identifiers(&response)), (1, vec!["1"]));
}

#[test]
fn a_repository_says_what_it_is() {
    let text = answer(
        "<Identify><repositoryName>&lt;img src=x onerror=alert(1)&gt;</repositoryName>\
         <baseURL>http://169.254.169.254/oai</baseURL><protocolVersion>2.0</protocolVersion>\
         <adminEmail>a@b</adminEmail><adminEmail>c@d</adminEmail><earliestDatestamp>0000</earliestDatestamp>\
         <deletedRecord>maybe</deletedRecord><granularity>sometimes</granularity><compression>gzip</compression>\
         <description><x><baseURL>urn:inner</baseURL><granularity>YYYY-MM-DD</granularity></x></description></Identify>",
    );
    let identify = read(&text).identify.unwrap();
    assert_eq!(identify.repository_name.as_deref(), Some("<img src=x onerror=alert(1)>"));
    assert_eq!(identify.admin_emails, ["a@b", "c@d"]);
    assert_eq!(identify.base_url.as_deref(), Some("http://169.254.169.254/oai"));
    assert_eq!(identify.granularity.as_deref(), Some("sometimes"));
    assert_eq!((identify.granularity(), identify.deleted_records()), (None, DeletedRecords::Unknown));
    assert_eq!(identify.compression, ["gzip"]);
}

#[test]
fn formats_and_headers_are_listed() {
    let text = answer(
        "<ListMetadataFormats><metadataFormat><metadataPrefix>oai_dc</metadataPrefix><schema>urn:s</schema>\
         <metadataNamespace>urn:n</metadataNamespace></metadataFormat><metadataFormat/></ListMetadataFormats>",
    );
    let formats = read(&text).formats;
    assert_eq!(formats.len(), 2);
    assert_eq!((formats[0].prefix.as_str(), formats[0].namespace.as_str()), ("oai_dc", "urn:n"));
    let text = answer(
        "<ListIdentifiers><header><identifier>1</identifier></header>\
         <header status='deleted'><identifier>2</identifier></header></ListIdentifiers>",
    );
    let headers = read(&text).headers;
    assert_eq!(headers.iter().map(|header| header.deleted).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn many_and_deep_sets_are_bounded() {
    let deep = "a:".repeat(3000);
    let set = format!(
        "<set><setSpec>{deep}</setSpec><setName>n</setName><setDescription><setSpec>no</setSpec></setDescription></set>"
    );
    let response = read(&answer(&format!("<ListSets>{}</ListSets>", set.repeat(10_000))));
    assert_eq!(response.sets.len(), 10_000);
    assert_eq!(response.sets[0].spec.len(), TEXT_LIMIT);
    let many = read(&answer(&format!("<ListSets>{}</ListSets>", "<set/>".repeat(SETS_LIMIT + 1))));
    assert_eq!(many.sets.len(), SETS_LIMIT);
}

#[test]
fn tokens_are_trimmed_resolved_and_bounded() {
    for (inside, text) in [
        ("\n   next page/1+2=3 \n", "next page/1+2=3"),
        ("a&amp;verb=Identify&amp;x=%0d%0aHost:%20evil#frag", "a&verb=Identify&x=%0d%0aHost:%20evil#frag"),
        ("<![CDATA[a&b]]>", "a&b"),
        ("", ""),
    ] {
        let response = read(&list(&format!("<resumptionToken>{inside}</resumptionToken>")));
        assert_eq!(response.token.unwrap().text, text);
    }
    for size in [TOKEN_LIMIT + 1, 20 * TOKEN_LIMIT] {
        let token = format!("<resumptionToken>{}</resumptionToken>", "T".repeat(size));
        let token = read(&list(&token)).token.unwrap();
        assert_eq!((token.too_long, token.text.len()), (true, TOKEN_LIMIT));
    }
    let lies = "<resumptionToken completeListSize=\"-5\" cursor=\"99999999999999999999\">N</resumptionToken>";
    let token = read(&list(lies)).token.unwrap();
    assert_eq!((token.complete_list_size, token.cursor), (None, None));
    assert_eq!(read(&list("<resumptionToken/>")).token, Some(ResumptionToken::default()));
    assert_eq!(read(&list(&record("1"))).token, None);
}

#[test]
fn a_record_without_identifier_is_refused_and_the_next_is_kept() {
    let metadata = format!("<metadata>{DC}</metadata>");
    let text = list(&format!(
        "<record>{metadata}</record><record><header><datestamp>2024-01-01</datestamp></header>{metadata}</record>\
         <record/>{}",
        record("3")
    ));
    let response = read(&text);
    assert_eq!(identifiers(&response), ["3"]);
    let codes: Vec<_> = response.rejects.iter().map(|reject| reject.diagnostic.code).collect();
    assert_eq!(codes, [Code::NotARecord; 3]);
    check_as_imported(text.as_bytes());
}

#[test]
fn an_identifier_is_read_as_its_decoder_reads_it() {
    for header in [
        "<identifier>a&amp;b &#65;&#x42; &nbsp; &</identifier>",
        "<identifier>\r\n a\r\nb\rc \r\n</identifier>",
        "<identifier><![CDATA[a&b]]><!-- no -->c<i>d</i></identifier>",
        "<identifier>a</identifier><identifier> </identifier><identifier>b</identifier>",
        "<x><identifier>no</identifier></x><identifier>yes</identifier>",
        "<identifier>\u{1}\u{FFFF}\u{FEFF}é</identifier>",
        "<identifier>a</identifier></header><header status=' deleted '><identifier>b</identifier>",
        "<identifier>a</identifier></header><header status='deleted'>",
        "<identifier>a</identifier></header><header x:status='deleted' xmlns:x='u'>",
        "<identifier>&#0;&#X41;&#0000000000000000000000065;</identifier>",
    ] {
        let one = record("x").replace("<identifier>x</identifier>", header);
        check_as_imported(list(&one).as_bytes());
    }
    // Characters of another set, in the header and beside it.
    for damage in ["<identifier>caf\u{F0E9}</identifier>", "<identifier>\u{F0C3}(\u{F0FF}</identifier>"] {
        let text = list(&record("x").replace("<identifier>x</identifier>", damage));
        let mut bytes = Vec::new();
        for c in text.chars() {
            match u32::from(c) {
                code @ 0xF080..=0xF0FF => bytes.push(u8::try_from(code - 0xF000).unwrap()),
                _ => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        check_as_imported(&bytes);
    }
}

#[test]
fn limits_hold_around_records() {
    let deep = format!("<OAI-PMH>{}", "<a>".repeat(300));
    assert!(matches!(refusal(&deep), Unreadable::Limit(_)));
    let attributes: String = (0..300).map(|n| format!(" a{n}=''")).collect();
    assert!(matches!(refusal(&format!("<OAI-PMH><a{attributes}></a></OAI-PMH>")), Unreadable::Limit(_)));
    let spaces: String = (0..100).map(|n| format!(" xmlns:a{n}='u'")).collect();
    assert!(matches!(refusal(&format!("<OAI-PMH{spaces}><a></a></OAI-PMH>")), Unreadable::Limit(_)));
    let name = "a".repeat(limits::NAME + 1);
    assert!(matches!(refusal(&format!("<OAI-PMH><{name}></{name}></OAI-PMH>")), Unreadable::Limit(_)));
    assert_eq!(Response::read(vec![b' '; PAGE_LIMIT + 1]), Err(Unreadable::TooLarge));
}

#[test]
fn a_record_beyond_the_limit_is_refused_and_the_next_is_kept() {
    let huge = record("1").replace("<dc:title>t", &format!("<dc:title>{}", "x".repeat(RECORD_LIMIT)));
    let text = list(&format!("{huge}{}", record("2")));
    let response = read(&text);
    assert_eq!(identifiers(&response), ["2"]);
    assert_eq!(response.rejects[0].diagnostic.code, Code::OversizeRecord);
    assert_eq!(response.rejects[0].identifier.as_deref(), Some("1"));
    check_as_imported(text.as_bytes());
}

#[test]
fn a_flood_of_records_is_no_page() {
    let sound = "<record><header><identifier>1</identifier></header></record>";
    for piece in ["<record/>", "<record><header>", "<record><header/></record>", sound] {
        assert!(matches!(refusal(&list(&piece.repeat(300_000))), Unreadable::Limit(_)), "{piece}");
    }
    let headers = answer(&format!("<ListIdentifiers>{}</ListIdentifiers>", "<header/>".repeat(600_000)));
    assert!(matches!(refusal(&headers), Unreadable::Limit(_)));
    // Declarations are written into every record.
    let space = format!("<ListRecords xmlns:x='{}'>", "u".repeat(8000));
    let text = answer(&format!("{space}{}</ListRecords>", "<record/>".repeat(10_000)));
    assert!(matches!(refusal(&text), Unreadable::Limit(_)));
}

/// Each of these takes minutes where the time grows with the square of the length.
#[test]
fn time_is_linear_in_what_is_never_closed() {
    for piece in
        ["<set>", "<error>", "<record>", "<record><header>", "<a b='", "<!--", "<![CDATA[", "</x>", "<?", "<"]
    {
        let many = piece.repeat(2_000_000 / piece.len());
        for text in [format!("<OAI-PMH><ListSets>{many}"), format!("<OAI-PMH>{many}"), list(&many), many] {
            let _ = Response::read(text.into_bytes());
        }
    }
}

fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z0-9]{1,3}".prop_map(|id| record(&id)),
        1 => Just("<record>".to_owned()),
        1 => Just("</record>".to_owned()),
        1 => Just("<header>".to_owned()),
        1 => Just("<!-- <record> -->".to_owned()),
        1 => Just("<![CDATA[</record>]]>".to_owned()),
        1 => Just("<record xmlns:x='urn:x' xmlns='urn:y'><header/></record>".to_owned()),
        1 => Just(" < & ".to_owned()),
        1 => Just("<resumptionToken>t</resumptionToken>".to_owned()),
        1 => Just("<record><header/><metadata><record><leader/></record></metadata></record>".to_owned()),
    ]
}

proptest! {
    /// A response that is harvested and the same response imported from a file give the same
    /// payloads, whatever is wrong with it.
    #[test]
    fn harvest_and_import_cut_alike(
        pieces in prop::collection::vec(fragment(), 0..8),
        cut in any::<prop::sample::Index>(),
        whole in any::<bool>(),
        put in prop::option::of((any::<prop::sample::Index>(), 0..5_usize, any::<u8>())),
    ) {
        let mut bytes = list(&pieces.concat()).into_bytes();
        // Damage to tags around records is read with more tolerance than import has, so a byte
        // is put where it matters most: into an identifier.
        let tag = b"<identifier>";
        let starts: Vec<usize> = memmem::find_iter(&bytes, tag).map(|at| at + tag.len()).collect();
        if let Some((at, further, byte)) = put && !starts.is_empty() {
            bytes.insert(starts[at.index(starts.len())] + further, byte);
        }
        let length = if whole { bytes.len() } else { cut.index(bytes.len()) };
        check_as_imported(bytes.get(..length).unwrap());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Response::read(bytes);
    }

    #[test]
    fn any_markup_is_read_or_refused(
        text in "(<|>|/|!|-|\\[|\\]|\\?|OAI-PMH|record|header|ListRecords|resumptionToken| |a|=|'|\"){0,60}"
    ) {
        let _ = Response::read(format!("<OAI-PMH><ListRecords>{text}").into_bytes());
        let _ = Response::read(text.into_bytes());
    }
}
