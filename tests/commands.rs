//! Every command's standard output, standard error and exit status.
//!
//! A case is a few command lines, run one after the other at one desk; what they gave is
//! compared with `tests/commands/<case>.txt`. `UPDATE_EXPECT=1 cargo test --test commands`
//! writes the files again, and a person reads the diff. What differs from run to run (times,
//! sizes on disk, process numbers) is replaced by a word.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use expect_test::expect_file;
use pinakes::config::{Home, Lock};
use pinakes::pipeline::{Session, Unwatched};
use std::fmt::Write;
use std::time::{Duration, Instant};
use support::{CATALOGUE, Desk, Ran, SAMPLE, close, marc};

/// A desk with an empty catalogue and the files that the cases name.
fn desk() -> Desk {
    let desk = Desk::new();
    for (_, file) in SAMPLE {
        desk.copy(&format!("examples/{file}"), file);
    }
    let two = [marc::book("b1", "Walden"), marc::book("b2", "Erewhon")].concat();
    desk.write("two.mrc", &two);
    desk.write(
        "more/two.mrc",
        [marc::book("b1", "Walden; or, Life in the woods"), marc::book("b2", "Erewhon")].concat(),
    );
    desk.write("less/two.mrc", marc::book("b2", "Erewhon"));
    desk.write("deleted.mrc", marc::deleted("b2"));
    desk.write("twice.mrc", [marc::book("b3", "Faust"), marc::book("b3", "Hamlet")].concat());
    desk.write(
        "garbage.mrc",
        [&two[..], b"this is no record, and it says so\x1D", &marc::book("b3", "Faust")].concat(),
    );
    desk.write("empty.mrc", "");
    desk.write(
        "page.html",
        "<!DOCTYPE html>\n<html><head><title>404</title></head><body>gone</body></html>\n",
    );
    let gzip = gzip(&two);
    desk.write("two.mrc.gz", &gzip);
    desk.write("cut.mrc.gz", &gzip[..gzip.len() / 2]);
    desk.write("two.mrc.zst", zstd::encode_all(&two[..], 3).unwrap());
    desk.write("people.ttl", PEOPLE);
    desk
}

const PEOPLE: &str = "\
@prefix ex: <https://people.example/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
ex:bob foaf:age 35 ; foaf:name \"Bob\"@en ; foaf:knows ex:fred .
ex:fred foaf:name \"Fred\" .
";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, bytes).unwrap();
    encoder.finish().unwrap()
}

/// Runs the lines of a script and compares what they gave with the file of the case.
#[track_caller]
fn check_commands(case: &str, script: &str) {
    check_commands_at(&desk(), case, script);
}

#[track_caller]
fn check_commands_at(desk: &Desk, case: &str, script: &str) {
    let mut transcript = String::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let ran = desk.run(line);
        assert!(
            !ran.stdout.contains(&0x1B) && !ran.stderr.contains(&0x1B),
            "`{line}` colours without a terminal"
        );
        write_ran(&ran, &mut transcript);
    }
    expect_file![format!("commands/{case}.txt")].assert_eq(&steady(&transcript));
}

fn write_ran(ran: &Ran, out: &mut String) {
    writeln!(out, "$ {}", ran.line).unwrap();
    for (mark, text) in [("", ran.text()), ("! ", ran.complaint())] {
        for line in text.lines() {
            writeln!(out, "{}", format!("{mark}{line}").trim_end()).unwrap();
        }
    }
    writeln!(out, "= {}\n", ran.code.map_or_else(|| "killed".to_owned(), |code| code.to_string())).unwrap();
}

/// Replaces what differs from run to run.
fn steady(transcript: &str) -> String {
    let mut out = String::new();
    for line in transcript.lines() {
        // The table of prefixes has its own tests.
        if line.starts_with("@prefix ") {
            if !out.ends_with("@prefix …\n") {
                out.push_str("@prefix …\n");
            }
            continue;
        }
        if line.starts_with("<rdf:RDF ") {
            out.push_str("<rdf:RDF …>\n");
            continue;
        }
        let line = match line.split_once(' ') {
            Some((name @ ("archive" | "store"), rest)) if rest.ends_with('B') => format!("{name:<13} SIZE"),
            Some(("archive:", rest)) => match rest.split(", ").collect::<Vec<_>>()[..] {
                [entries, _, holds @ "every hash holds"] => format!("archive: {entries}, SIZE, {holds}"),
                _ => line.to_owned(),
            },
            _ => line.to_owned(),
        };
        let line = after(&line, "\"archive\": ", "N", |c| c.is_ascii_digit());
        let line = after(&line, "\"store\": ", "N", |c| c.is_ascii_digit());
        let line = after(&line, "\"bytes\": ", "N", |c| c.is_ascii_digit());
        let line = after(&line, "process ", "PID", |c| c.is_ascii_digit());
        out.push_str(&times(&line));
        out.push('\n');
    }
    out
}

/// Replaces the characters that follow a mark.
fn after(line: &str, mark: &str, word: &str, part: impl Fn(char) -> bool) -> String {
    match line.split_once(mark) {
        Some((before, rest)) if rest.starts_with(&part) => {
            format!("{before}{mark}{word}{}", rest.trim_start_matches(&part))
        }
        _ => line.to_owned(),
    }
}

/// Replaces times as RFC 3339 writes them.
fn times(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find("202") {
        let (before, time) = rest.split_at(at);
        let end = time.find(|c: char| !(c.is_ascii_digit() || "-:.TZ".contains(c))).unwrap_or(time.len());
        let (time, after) = time.split_at(end);
        out.push_str(before);
        out.push_str(if time.len() >= 20 && time.ends_with('Z') { "TIME" } else { time });
        rest = after;
    }
    out + rest
}

#[test]
fn init_makes_a_catalogue_once() {
    check_commands(
        "init",
        "pinakes init made --base https://made.example/
         cat made/pinakes.toml
         pinakes init made --base https://made.example/
         pinakes init local
         pinakes init quiet --quiet
         pinakes init json --base https://json.example --json
         pinakes init bad --base not-an-iri
         pinakes init two.mrc --base https://made.example/
         mkdir there && pinakes init there --base https://there.example/
         pinakes --catalogue named init --base https://named.example/
         pinakes status --catalogue made",
    );
}

#[test]
fn every_command_says_when_there_is_no_catalogue() {
    check_commands(
        "no-catalogue",
        "pinakes -c nowhere import --source a two.mrc
         pinakes -c nowhere status
         pinakes -c nowhere query report/titles
         pinakes -c nowhere export
         pinakes -c nowhere record list a
         pinakes -c nowhere rejects
         pinakes -c nowhere source list
         pinakes -c nowhere source add --from loc
         pinakes -c nowhere rebuild
         pinakes -c nowhere verify
         pinakes -c nowhere backup copy
         pinakes -c new restore nowhere
         ls nowhere new",
    );
}

/// Rules of one's own, from the first mistake to the last record.
#[test]
fn rules_are_checked_loaded_explained_and_taken_back() {
    let desk = desk();
    let rules = |field: &str, property: &str| {
        format!(
            "[concordance]\nformat = \"marc21\"\nabout = \"Local\"\n\n[[rule]]\nname = \"local-title\"\nfield = {field}\nbind.main = ':isbd($a)'\nconstruct = '$instance {property} $main .'\n\n  [[rule.example]]\n  given = \"245 10 $a Walden\"\n  gives = '$instance bf:acquisitionTerms \"Walden\" .'\n"
        )
    };
    desk.write("mine.toml", rules("\"245\"", "bf:acquisitionTerms"));
    desk.write("unquoted.toml", rules("245", "bf:acquisitionTerms"));
    desk.write("upper.toml", rules("\"245\"", "bf:acquisitionTerms").replace(":isbd(", "UPPER("));
    desk.write("failing.toml", rules("\"245\"", "bf:custodialHistory"));
    desk.write("mine.json", "{}");
    desk.write("subtitle.rq", "CONSTRUCT { $work rdfs:label ?o } WHERE { ?s bf:title ?o }");
    check_commands_at(
        &desk,
        "mapping",
        "pinakes mapping check mine.toml
         pinakes mapping check unquoted.toml
         pinakes mapping check upper.toml
         pinakes mapping check mine.json
         pinakes import --source shop two.mrc
         pinakes mapping load failing.toml
         pinakes mapping load mine.toml unquoted.toml
         pinakes mapping load mine.toml
         pinakes mapping load mine.toml
         pinakes mapping explain shop b1 bf:Text
         pinakes mapping explain shop b1 245
         pinakes mapping explain shop b1 acquisitionTerms
         pinakes mapping explain shop b1 http://id.loc.gov/ontologies/bibframe/mainTitle
         pinakes query report/origin --bind value=Walden --format csv
         pinakes query report/origin --bind nothing=Walden
         pinakes query report/origin --bind Walden
         pinakes mapping load subtitle.rq --as bibframe/titles
         pinakes mapping load mine.toml subtitle.rq --as bibframe/titles
         pinakes mapping unload titles
         pinakes mapping unload mine --json
         pinakes mapping unload mine",
    );
}

#[test]
fn import_takes_every_file_of_the_sample() {
    let script: Vec<String> =
        SAMPLE.iter().map(|(source, file)| format!("pinakes import --source {source} {file}")).collect();
    check_commands("import-sample", &script.join("\n"));
}

#[test]
fn import_tells_new_changed_unchanged_and_withdrawn() {
    check_commands(
        "import-again",
        "pinakes import --source shop two.mrc
         pinakes import --source shop two.mrc
         pinakes import --source shop more/two.mrc
         pinakes import --source shop deleted.mrc
         pinakes import --source shop two.mrc --json
         pinakes import --source shop twice.mrc
         pinakes import --source shop twice.mrc --messages short
         pinakes import --source shop twice.mrc --messages json --quiet
         pinakes record list shop --json",
    );
}

#[test]
fn import_replace_withdraws_what_is_gone() {
    check_commands(
        "import-replace",
        "pinakes import --source shop two.mrc
         pinakes import --source other two.mrc
         pinakes import --source shop --replace less/two.mrc
         pinakes record list shop
         pinakes record list other
         pinakes import --source shop --replace two.mrc
         pinakes record list shop",
    );
}

/// A dump that could not be read says nothing about what is gone: it once withdrew everything.
#[test]
fn import_replace_withdraws_nothing_when_data_was_refused() {
    check_commands(
        "import-replace-refused",
        "pinakes import --source shop two.mrc
         pinakes import --source shop --replace cut.mrc.gz
         pinakes import --source shop --replace less/two.mrc page.html
         pinakes import --source shop --replace empty.mrc --json
         pinakes record list shop",
    );
}

#[test]
fn import_dry_run_writes_nothing() {
    check_commands(
        "import-dry-run",
        "pinakes import --source shop --dry-run two.mrc
         pinakes import --source shop --dry-run garbage.mrc
         pinakes status",
    );
}

#[test]
fn import_refuses_what_it_cannot_read() {
    check_commands(
        "import-refused",
        "pinakes import --source shop missing.mrc
         pinakes import --source shop more
         pinakes import --source shop empty.mrc
         pinakes import --source shop page.html
         pinakes import --source shop cut.mrc.gz
         pinakes import --source shop garbage.mrc
         pinakes import --source shop --format marcxml two.mrc
         pinakes import --source shop --format papyrus two.mrc
         pinakes import --source shop --charset runes two.mrc
         pinakes import --source shop --content-type scroll two.mrc
         pinakes import --source 'my shop' two.mrc
         pinakes import two.mrc
         pinakes import --source shop
         pinakes status",
    );
}

/// What people take for records: each is named for what it is, with what to do about it.
#[test]
fn files_that_hold_no_records_are_named() {
    let desk = desk();
    desk.write("books.pdf", "%PDF-1.7\n1 0 obj\n");
    desk.write("books.zip", b"PK\x03\x04\x14\0\0\0\x08\0books.mrc");
    desk.write("books.xlsx", b"PK\x03\x04\x14\0\x06\0\x08\0[Content_Types].xml xl/workbook.xml");
    desk.write("cover.png", b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR");
    desk.write("books.mrc.xz", b"\xFD7zXZ\0\0\x04");
    desk.write("letter.txt", "Dear colleagues\n\nplease find the records attached.\n");
    check_commands_at(
        &desk,
        "import-foreign",
        "pinakes import --source shop books.pdf
         pinakes import --source shop --quiet books.zip
         pinakes import --source shop --quiet books.xlsx
         pinakes import --source shop --quiet cover.png
         pinakes import --source shop --quiet books.mrc.xz
         pinakes import --source shop --quiet letter.txt
         pinakes import --source shop --quiet page.html
         pinakes import --source shop --quiet empty.mrc
         pinakes import --source shop more
         pinakes import --source shop missing.mrc
         pinakes import --source shop --format iso2709 books.pdf",
    );
}

#[test]
fn a_format_that_the_content_does_not_look_like_is_questioned() {
    check_commands(
        "import-wrong-format",
        "pinakes import --source shop --format marcxml two.mrc
         pinakes import --source shop --format csv --dry-run two.mrc
         pinakes import --source shop --format iso2709 bookshop.csv
         pinakes import --source shop --format json verbund.marcxml
         pinakes import --source shop --format trig people.ttl",
    );
}

/// Each line of this record is a fault.
#[test]
fn a_record_of_many_faults_is_counted_and_not_printed_in_full() {
    let desk = desk();
    let head = "000000001 LDR   L 00000nam^a2200000^a^4500\n000000001 24510 L $$aWalden\n";
    desk.write("many.aleph", format!("{head}{}", "c\n".repeat(1000)));
    check_commands_at(
        &desk,
        "import-many-faults",
        "pinakes import --source shop many.aleph
         pinakes import --source shop many.aleph --json --quiet
         pinakes import --source other many.aleph --messages short -v 2>&1 | grep -c line-syntax
         pinakes import --source other many.aleph --messages json 2>&1 | grep more",
    );
}

/// It once overflowed the stack and ended the process.
#[test]
fn a_context_that_is_a_chain_of_terms_is_refused() {
    let desk = desk();
    let chain: Vec<String> = (0..50_000).map(|n| format!("\"t{n}\":\"t{}\"", n + 1)).collect();
    desk.write("chain.jsonld", format!("{{\"@context\":{{{}}},\"t0\":\"v\"}}", chain.join(",")));
    check_commands_at(
        &desk,
        "import-refused-context",
        "pinakes import --source chain chain.jsonld
         pinakes rejects",
    );
}

/// Whatever a command opens, the message names it.
#[test]
fn a_file_that_cannot_be_opened_is_named() {
    check_commands(
        "unopened-files",
        "mkdir all.nq && pinakes export --output all.nq
         pinakes export --output nowhere/all.nq
         pinakes query more
         pinakes man two.mrc
         pinakes mapping check more
         pinakes resolve train --labels missing.tsv
         pinakes vocabulary load missing.ttl
         rm -f catalogue/pinakes.lock && mkdir catalogue/pinakes.lock
         pinakes import --source shop two.mrc
         pinakes status
         rmdir catalogue/pinakes.lock
         rm catalogue/pinakes.toml && mkdir catalogue/pinakes.toml
         pinakes status",
    );
}

#[test]
fn a_wrong_setting_is_named_with_what_is_wanted() {
    check_commands(
        "settings",
        "cp catalogue/pinakes.toml good.toml
         sed -i 's/^query_seconds = .*/query_seconds = \"sixty\"/' catalogue/pinakes.toml
         pinakes status
         sed 's/^query_rows = .*/query_rows = -5/' good.toml > catalogue/pinakes.toml
         pinakes status
         sed 's/^query_rows/query_row/' good.toml > catalogue/pinakes.toml
         pinakes status
         sed 's/^base = .*//' good.toml > catalogue/pinakes.toml
         pinakes status
         sed 's/^base = .*/base = https:library/' good.toml > catalogue/pinakes.toml
         pinakes status",
    );
}

#[test]
fn a_bad_file_does_not_stop_the_next() {
    check_commands(
        "import-two-files",
        "pinakes import --source shop page.html two.mrc
         pinakes import --source shop missing.mrc two.mrc
         pinakes record list shop",
    );
}

#[test]
fn import_reads_standard_input_and_compressed_files() {
    check_commands(
        "import-compressed",
        "cat two.mrc | pinakes import --source stdin -
         cat two.mrc.gz | pinakes import --source stdin -
         cat two.mrc.zst | pinakes import --source stdin -
         pinakes import --source gzip two.mrc.gz
         pinakes import --source zstd two.mrc.zst
         pinakes import --source stdin - < empty.mrc",
    );
}

#[test]
fn status_shows_an_empty_and_a_filled_catalogue() {
    check_commands(
        "status",
        "pinakes status
         pinakes status --json
         pinakes import --source shop two.mrc
         pinakes import --source people people.ttl
         pinakes import --source shop garbage.mrc --quiet
         pinakes status
         pinakes status --json",
    );
}

#[test]
fn query_answers_in_every_format() {
    let ask = "SELECT ?name ?age { ?who foaf:name ?name OPTIONAL { ?who foaf:age ?age } } ORDER BY ?name";
    check_commands(
        "query",
        &format!(
            "pinakes import --source people people.ttl
             pinakes query -e '{ask}'
             pinakes query -e '{ask}' --format table
             pinakes query -e '{ask}' --format json
             pinakes query -e '{ask}' --format csv
             pinakes query -e '{ask}' --format tsv
             pinakes query -e '{ask}' --format xml
             pinakes query -e '{ask}' --json --quiet
             echo '{ask}' > names.rq
             pinakes query names.rq --format csv --quiet
             pinakes query - --format csv --quiet < names.rq
             pinakes query report/records-by-source --quiet
             pinakes query queries/report/records-by-source.rq --quiet
             pinakes query --list
             pinakes query -e 'ASK {{ ?who foaf:name \"Fred\" }}' --quiet
             pinakes query -e 'ASK {{ ?who foaf:name \"Ann\" }}' --format json --quiet
             pinakes query -e 'CONSTRUCT {{ ?b foaf:knows ?a }} WHERE {{ ?a foaf:knows ?b }}' --quiet
             pinakes query -e 'DESCRIBE <https://people.example/fred>' --quiet
             pinakes query -e 'SELECT ?s {{ ?s ?p ?o }} LIMIT 0' --quiet"
        ),
    );
}

#[test]
fn query_refuses_what_is_wrong_or_dangerous() {
    let deep = "{".repeat(600);
    let desk = desk();
    desk.write("deep.rq", format!("SELECT * WHERE {deep}{}", "}".repeat(600)));
    check_commands_at(
        &desk,
        "query-refused",
        "pinakes import --source people people.ttl
         pinakes query -e 'SELECT ?s WHERE { ?s ?p }'
         pinakes query -e 'SELECT * { ?s unknown:p ?o }'
         pinakes query -e 'SELECT * { SERVICE <https://elsewhere.example/sparql> { ?s ?p ?o } }'
         pinakes query -e 'SELECT * { SERVICESILENT <https://elsewhere.example/sparql> { ?s ?p ?o } }'
         pinakes query -e 'INSERT DATA { <a:a> <a:b> <a:c> }'
         pinakes query deep.rq
         pinakes query -e 'SELECT * { ?s ?p ?o }' --max-rows 3 --format csv > rows.csv
         pinakes query missing.rq
         pinakes query -e 'ASK {}' names.rq
         pinakes query
         pinakes query -e 'ASK {}' --format papyrus",
    );
}

#[test]
fn query_names_the_word_that_is_wrong() {
    check_commands(
        "query-misspelt",
        "pinakes query --quiet -e 'SELCT ?s WHERE { ?s ?p ?o }'
         pinakes query --quiet -e 'SELECT ?s WHRE { ?s ?p ?o }'
         pinakes query --quiet -e 'SELECT ?s { ?s bff:title ?o }'
         pinakes query --quiet -e 'SELECT ?s { ?s entirely:unknown ?o }'
         pinakes query --quiet -e 'SELECT ?s { ?s ?p ?o . FILTR (?o > 1) }'
         pinakes query --quiet -e 'SELECT ?s { ?s ?p \"open }'",
    );
}

/// Oxigraph does not look at its time limit inside a join; the process that evaluates is ended.
#[test]
fn a_query_that_does_not_end_is_ended() {
    let desk = desk();
    desk.run("pinakes import --source library library.mrc").ok();
    let heavy = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(STR(?a) < STR(?i)) }";
    let begun = Instant::now();
    let ran = desk.run(&format!("pinakes query --timeout 1 -e '{heavy}'")).exits(2);
    assert!(begun.elapsed() < Duration::from_secs(8), "it took {:?}", begun.elapsed());
    let mut transcript = String::new();
    write_ran(&ran, &mut transcript);
    expect_file!["commands/query-timeout.txt"].assert_eq(&transcript);
}

#[test]
fn export_writes_every_format() {
    check_commands(
        "export",
        "pinakes export
         pinakes import --source people people.ttl
         pinakes export --graph records --format nquads
         pinakes export --graph records --format ntriples
         pinakes export --graph records --format turtle
         pinakes export --graph records --format trig
         pinakes export --graph records --format rdfxml
         pinakes export --graph records --format jsonld
         pinakes export --graph master
         pinakes export --graph https://catalogue.example/record/people/https%3A%2F%2Fpeople.example%2Ffred
         pinakes export --graph 'not an iri'
         pinakes export --graph records --output people.nq.gz
         gzip -dc people.nq.gz | wc -l
         pinakes export --graph records --output people.nt.zst --quiet
         pinakes export --graph records --output people.ttl --quiet
         head -1 people.ttl
         pinakes export --output people.papyrus
         pinakes export --output missing/people.nq
         pinakes export --canonical --format turtle
         ls people.papyrus",
    );
}

#[test]
fn canonical_exports_of_one_catalogue_are_equal() {
    check_commands(
        "export-canonical",
        "pinakes import --source people people.ttl
         pinakes export --canonical
         pinakes export --canonical --output one.nq
         pinakes export --canonical --output two.nq
         cmp one.nq two.nq
         sha256sum one.nq",
    );
}

#[test]
fn record_shows_and_lists() {
    check_commands(
        "record",
        "pinakes import --source shop two.mrc
         pinakes import --source shop more/two.mrc
         pinakes import --source people people.ttl
         pinakes record list shop
         pinakes record list shop --json
         pinakes record show shop b1
         pinakes record show shop b1 --decoded
         pinakes record show shop b1 --decoded --version 1
         pinakes record show shop b1 --version 1
         pinakes record show shop b1 --version 3
         pinakes record show shop b1 --version 0
         pinakes record show shop b1 --json
         pinakes record show people https://people.example/fred --turtle
         pinakes record show people https://people.example/bob --decoded
         pinakes record show people https://people.example/bob --raw
         pinakes record show shop b9
         pinakes record show bakery b1
         pinakes record list bakery
         pinakes record show shop b1 --raw --turtle
         pinakes import --source shop deleted.mrc
         pinakes record show shop b2
         pinakes record list shop",
    );
}

#[test]
fn the_raw_record_is_what_was_received() {
    let desk = desk();
    desk.run("pinakes import --source shop two.mrc").ok();
    desk.run("pinakes import --source library library.mrc").ok();
    assert_eq!(desk.run("pinakes record show shop b1 --raw").ok().stdout, marc::book("b1", "Walden"));
    let first = desk.run("pinakes record show library lib0001 --raw").ok().stdout;
    assert!(desk.read("library.mrc").starts_with(&first));
    assert_eq!(first.last(), Some(&0x1D));
}

#[test]
fn rejects_are_listed_with_their_bytes() {
    check_commands(
        "rejects",
        "pinakes rejects
         pinakes import --source shop garbage.mrc
         pinakes import --source pages page.html
         pinakes rejects
         pinakes rejects --messages short
         pinakes rejects --source shop
         pinakes rejects --source bakery
         pinakes rejects --json
         pinakes rejects --raw 4
         pinakes rejects --raw 1
         pinakes rejects --raw 99",
    );
}

#[test]
fn resolve_merges_explains_and_takes_back() {
    let desk = desk();
    desk.write(
        "north.csv",
        "id,title,author,year,isbn\n1,Walden,\"Thoreau, Henry David\",1854,9780691096124\n\
         2,Emma,\"Austen, Jane\",1815,9780141439587\n",
    );
    desk.write("south.csv", "id,title,author,year,isbn\na,Walden,Henry D. Thoreau,1854,0691096120\n");
    check_commands_at(
        &desk,
        "resolve",
        "pinakes resolve
         pinakes import --quiet --source north north.csv
         pinakes import --quiet --source south south.csv
         pinakes resolve --dry-run
         pinakes resolve
         pinakes resolve
         pinakes resolve explain north/1 south/a
         pinakes resolve explain north/1 north/2
         pinakes resolve explain north/1 north/9
         pinakes resolve show south/a
         pinakes resolve show instance/1234
         pinakes resolve review
         pinakes resolve split north/1 south/a --note wrong
         pinakes resolve split north/1 south/a
         pinakes resolve decisions
         pinakes resolve show south/a
         pinakes resolve undo 1
         pinakes resolve undo 1
         pinakes resolve undo 7
         pinakes resolve join north/1 north/2
         pinakes resolve never north/1 north/2
         pinakes resolve train
         pinakes resolve evaluate --truth nowhere.csv
         pinakes resolve --profile agents",
    );
}

#[test]
fn source_describes_lists_and_removes() {
    check_commands(
        "source",
        "pinakes source list
         pinakes source profiles
         pinakes source profiles discogs
         pinakes source profiles discos
         pinakes source add --from discogs
         pinakes source add --from europeana
         pinakes source add --from discos
         pinakes source add --from discogs
         pinakes source add shop name='The \"Bookshop\"' website=https://shop.example technique=file file.paths=two.mrc subjects.music=0.2 amount=2000
         pinakes source add box name=Box website=https://box.example technique=manual --json
         cat catalogue/sources/shop.toml
         pinakes source list
         pinakes source list --format csv
         pinakes source list --subject music --format json
         pinakes source list --subject Music --keys
         pinakes source list --subject musik
         pinakes source list --subject alchemy
         pinakes source list --format ttl --subject music
         pinakes source list --keys
         pinakes source show shop
         pinakes source show europeana
         pinakes source show shop --json
         pinakes source show box --format nt
         pinakes source show shpo
         pinakes source edit shop complexity=2 schedule=daily note='Closed on Sundays'
         pinakes source edit shop note=
         cat catalogue/sources/shop.toml
         pinakes source disable shop box
         pinakes source enable shop
         pinakes source list --keys
         pinakes import --source shop two.mrc
         pinakes source remove shop
         pinakes source remove shop --keep-records --withdraw-records
         pinakes source remove shop --withdraw-records
         pinakes source remove box --keep-records --json
         pinakes source remove box
         pinakes record list shop
         pinakes query --quiet report/sources",
    );
}

#[test]
fn source_refuses_field_by_field() {
    let desk = desk();
    desk.write("catalogue/sources/broken.toml", "name = \"B\"\nwebsite = \"b.example\"\ncompexity = 2\n");
    desk.write("catalogue/sources/half.toml", "name = \"H\n");
    check_commands_at(
        &desk,
        "source-refused",
        "pinakes source list
         pinakes source list --messages short --quiet
         pinakes source show broken
         pinakes source add
         pinakes source add 'my shop' name=x
         pinakes source add status name=x
         pinakes source add shop
         pinakes source add shop name=Shop website=shop.example technique=telepathy complexity=9
         pinakes source add shop name
         pinakes source add shop name=Shop website=https://shop.example technique=manual access.bearer.token=hunter2
         pinakes source add shop name=Shop website=https://shop.example technique=manual --messages short
         pinakes source edit shop technique=oai-pmh --messages short
         pinakes source edit shop name.first=x
         pinakes source edit half name=x
         pinakes source edit broken website=https://b.example technique=manual compexity=
         pinakes source list --keys
         pinakes import --source shop two.mrc
         rm catalogue/sources/half.toml
         pinakes source list",
    );
}

#[test]
fn rebuild_and_verify_agree_with_the_archive() {
    check_commands(
        "maintain",
        "pinakes verify
         pinakes import --source shop two.mrc
         pinakes verify
         pinakes verify --json
         pinakes rebuild
         pinakes rebuild --json
         pinakes verify",
    );
}

#[test]
fn verify_finds_what_the_store_lost_and_what_it_has_too_much() {
    let desk = desk();
    desk.store_records();
    desk.run("pinakes import --source shop two.mrc").ok();
    let session = Session::write(Home::open(&desk.path(CATALOGUE)).unwrap(), &mut Unwatched).unwrap();
    let graphs = &session.home.graphs;
    let walden = session.catalogue.graph(&graphs.record("shop", "b1")).unwrap();
    session
        .catalogue
        .backend()
        .rewrite(vec![(graphs.record("shop", "b1"), None), (graphs.record("shop", "b9"), Some(walden))])
        .unwrap();
    close(session);
    check_commands_at(
        &desk,
        "verify-tampered",
        "pinakes verify
         pinakes verify --json
         pinakes rebuild
         pinakes verify",
    );
}

#[test]
fn backup_and_restore_copy_the_catalogue() {
    check_commands(
        "backup",
        "pinakes import --source shop two.mrc
         pinakes export --canonical --output before.nq --quiet
         pinakes backup copy
         pinakes backup copy
         pinakes backup missing/deep/copy
         pinakes status --catalogue copy
         pinakes restore copy
         pinakes restore missing --catalogue restored
         pinakes restore copy --catalogue restored
         pinakes export --catalogue restored --canonical --output after.nq --quiet
         cmp before.nq after.nq
         rm -r copy/store
         pinakes restore copy --catalogue without-store
         pinakes verify --catalogue without-store
         ls",
    );
}

#[test]
fn shells_can_read_the_completions_and_man_the_manual() {
    check_commands(
        "shell",
        "pinakes completions bash > pinakes.bash && bash -n pinakes.bash
         grep -c 'record__subcmd__show\\|record__show' pinakes.bash > /dev/null && echo subcommands too
         pinakes completions zsh > pinakes.zsh && head -1 pinakes.zsh
         pinakes completions fish > pinakes.fish && grep -c . pinakes.fish > /dev/null && echo fish
         pinakes completions papyrus
         pinakes man manual
         ls manual",
    );
}

#[test]
fn a_typing_mistake_is_met_with_a_suggestion() {
    check_commands(
        "typos",
        "pinakes
         pinakes imprt --source shop two.mrc
         pinakes import --sorce shop two.mrc
         pinakes record shwo shop b1
         pinakes status --jason
         pinakes --version
         pinakes import --version",
    );
}

#[test]
fn help_is_one_page_for_each_command() {
    let commands = [
        "",
        "init",
        "import",
        "status",
        "query",
        "export",
        "record",
        "record show",
        "record list",
        "rejects",
        "source",
        "source add",
        "source edit",
        "source disable",
        "source enable",
        "source remove",
        "source list",
        "source show",
        "source profiles",
        "rebuild",
        "verify",
        "backup",
        "restore",
        "completions",
        "man",
    ];
    let script: Vec<String> =
        commands.iter().map(|command| format!("pinakes {command} --help").replace("  ", " ")).collect();
    check_commands("help", &script.join("\n"));
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let script: Vec<String> = [
        "export",
        "export --canonical",
        "export --format turtle",
        "query -e 'SELECT * { ?s ?p ?o }' --quiet",
        "query -e 'CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }' --quiet",
        "record list library",
        "record show library lib0001 --turtle",
        "record show library lib0001 --raw",
        "status",
        "completions bash",
    ]
    .iter()
    .map(|command| format!("{{ pinakes {command} --quiet; echo exit $? >&2; }} | head -1 > /dev/null"))
    .collect();
    let script = script.join("\n").replace("--quiet --quiet", "--quiet");
    check_commands("closed-pipe", &format!("pinakes import --source library library.mrc\n{script}"));
}

#[test]
fn one_writes_or_many_read() {
    let desk = desk();
    desk.run("pinakes import --source shop two.mrc").ok();
    let writer = Lock::write(&desk.path(CATALOGUE), "test", &mut |_| false).unwrap();
    let refused = desk.run("pinakes import --wait 0 --source shop two.mrc").exits(2);
    let holder = format!("`pinakes test`, process {}", std::process::id());
    assert!(refused.complaint().contains(&holder), "{}", refused.complaint());
    let lines = "pinakes import --wait 0 --source shop two.mrc
         pinakes rebuild --wait 0
         pinakes status --wait 0
         pinakes query --wait 0 report/titles";
    check_commands_at(&desk, "locked-by-a-writer", lines);
    close(writer);
    let _reader = Lock::read(&desk.path(CATALOGUE), &mut |_| false).unwrap();
    check_commands_at(&desk, "locked-by-a-reader", &format!("{lines}\npinakes verify --wait 0"));
}

/// `NO_COLOR`, a dumb terminal and no terminal at all give the same plain text.
#[test]
fn no_escape_bytes_without_a_terminal() {
    let desk = desk();
    for setting in ["NO_COLOR=1", "TERM=dumb", "TERM=xterm-256color", "CLICOLOR_FORCE=0"] {
        let ran = desk.run(&format!("{setting} pinakes import --source shop garbage.mrc page.html"));
        assert_eq!(ran.code, Some(1), "{}", ran.complaint());
        assert!(!ran.stderr.contains(&0x1B) && !ran.stdout.contains(&0x1B), "{setting}");
    }
}

/// It once said how many statements it wrote, and exited with 0.
#[test]
fn an_export_that_does_not_fit_is_an_error() {
    let desk = Desk::with_sample();
    for more in ["--format nquads", "--format turtle", "--canonical"] {
        let ran = desk.run(&format!("pinakes export --output /dev/full {more}")).exits(2);
        assert!(ran.complaint().contains("/dev/full"), "{more}: {}", ran.complaint());
    }
}

/// The process that evaluates a query once outlived the one that asked, and kept its lock.
#[test]
fn a_query_ends_with_whoever_asked() {
    let desk = Desk::with_sample();
    let endless =
        "SELECT (COUNT(*) AS ?n) { GRAPH ?g { ?a ?b ?c } GRAPH ?h { ?d ?e ?f } GRAPH ?i { ?j ?k ?l } }";
    let ask = || support::spawn(desk.pinakes().args(["query", "--timeout", "600", "-e", endless]));
    let mut asking = ask();
    // The lock is taken when the worker reads; until then a writer may come first.
    let busy =
        || desk.run("pinakes import --wait 0 --source late late.mrc").complaint().contains("being read");
    desk.write("late.mrc", support::marc::book("1", "Late"));
    for attempt in 0.. {
        if busy() {
            break;
        }
        // The import may have come first and kept the query out.
        if asking.try_wait().unwrap().is_some() {
            assert!(attempt < 20, "the query ended by itself");
            asking = ask();
        }
    }
    asking.kill().unwrap();
    asking.wait().unwrap();
    let free = (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        !busy()
    });
    assert!(free, "the worker still reads");
}
