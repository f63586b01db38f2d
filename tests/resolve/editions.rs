//! What belongs to one edition stays with it: a novel on paper twice, read aloud, and as a film.

use super::{resolve, rows};
use crate::support::{Desk, server::Server};
use std::collections::{BTreeMap, BTreeSet};

/// Two paperbacks of one text, the second illustrated and in a series; the text read aloud; a film of it.
const NOVEL: &str = r"=LDR  00000nam a2200000 i 4500
=001  plain
=008  990101s1995\\\\enk\\\\\\\\\\\\000\1\eng\d
=020  \\$a9780140434262
=100  1\$aAusten, Jane,$d1775-1817,$eauthor.
=245  10$aPersuasion /$cJane Austen.
=264  \1$aLondon :$bHarbour Press,$c1995.
=300  \\$a249 pages
=336  \\$atext$btxt$2rdacontent
=337  \\$aunmediated$bn$2rdamedia
=338  \\$avolume$bnc$2rdacarrier

=LDR  00000nam a2200000 i 4500
=001  illustrated
=008  990101s2008\\\\enk\\\\\\\\\\\\000\1\eng\d
=020  \\$a9780141439686
=100  1\$aAusten, Jane,$d1775-1817,$eauthor.
=245  10$aPersuasion /$cJane Austen ; illustrated by Clara Thornbury.
=264  \1$aLondon :$bMeadow Books,$c2008.
=300  \\$a312 pages
=336  \\$atext$btxt$2rdacontent
=337  \\$aunmediated$bn$2rdamedia
=338  \\$avolume$bnc$2rdacarrier
=490  1\$aMeadow illustrated classics ;$v12
=700  1\$aThornbury, Clara,$eillustrator.
=830  \0$aMeadow illustrated classics ;$v12.

=LDR  00000nim a2200000 i 4500
=001  aloud
=008  990101s2010\\\\enk\\\\\\\\\\\\000\1\eng\d
=100  1\$aAusten, Jane,$d1775-1817,$eauthor.
=245  10$aPersuasion /$cJane Austen ; read by Edmund Vale.
=264  \1$aLondon :$bListening House,$c2010.
=300  \\$a7 audio discs
=336  \\$aspoken word$bspw$2rdacontent
=337  \\$aaudio$bs$2rdamedia
=338  \\$aaudio disc$bsd$2rdacarrier
=700  1\$aVale, Edmund,$enarrator.

=LDR  00000ngm a2200000 i 4500
=001  film
=008  990101s1999\\\\enk090\\\\\\\\\\\\vleng\d
=245  00$aPersuasion /$cdirected by Ottilie Grey ; screenplay by Hugh Fenn.
=264  \1$aLondon :$bLantern Films,$c1999.
=300  \\$a1 videodisc (104 min.)
=336  \\$atwo-dimensional moving image$btdi$2rdacontent
=337  \\$avideo$bv$2rdamedia
=338  \\$avideodisc$bvd$2rdacarrier
=700  1\$aGrey, Ottilie,$efilm director.
=700  1\$iMotion picture adaptation of (work):$aAusten, Jane,$d1775-1817.$tPersuasion.
";

fn catalogue() -> Desk {
    let desk = Desk::new();
    desk.write("novel.mrk", NOVEL);
    desk.run("pinakes import --quiet --source library novel.mrk").ok();
    resolve(&desk);
    desk
}

/// By record: the entry of this level that the record is in.
fn entries(desk: &Desk, class: &str) -> BTreeMap<String, String> {
    let found = rows(desk, &format!("SELECT ?m ?entry {{ ?entry a {class} ; pin:member ?m }}"));
    let by_record = |row: &String| {
        let (member, entry) = row.split_once(',').unwrap();
        let record = member.rsplit('/').next().and_then(|node| node.split('#').next()).unwrap();
        (record.to_owned(), entry.to_owned())
    };
    found.iter().map(by_record).collect()
}

/// Who a publication is cited by, in every role, and the kind of the citation.
fn cited(server: &Server, instance: &str) -> String {
    let id = instance.rsplit('/').next().unwrap();
    let ask = |format: &str| {
        server.ask("GET", &format!("/api/cite/instance/{id}?format={format}"), &[], b"").is(200).text()
    };
    format!("{}\n{}", ask("ris"), ask("csl-json"))
}

#[test]
fn form_and_carrier_make_other_expressions_and_a_film_another_work() {
    let desk = catalogue();
    let hubs = entries(&desk, "bf:Hub");
    let works = entries(&desk, "bf:Work");
    let instances = entries(&desk, "bf:Instance");
    assert_eq!(instances.values().collect::<BTreeSet<_>>().len(), 4, "{instances:#?}");
    assert_eq!(works["plain"], works["illustrated"]);
    assert_ne!(works["plain"], works["aloud"]);
    assert_eq!(hubs["plain"], hubs["aloud"]);
    assert_ne!(hubs["plain"], hubs["film"]);
    // No expression is text and sound at once.
    let mixed = "SELECT ?w { ?w a bf:Text , ?other FILTER(?other IN (bf:Audio, bf:NonMusicAudio, bf:MusicAudio, bf:MovingImage)) }";
    assert_eq!(rows(&desk, mixed), [] as [&str; 0]);
}

#[test]
fn a_publication_is_cited_by_what_its_own_records_say() {
    let desk = catalogue();
    let instances = entries(&desk, "bf:Instance");
    let server = Server::start(&desk, &[]);
    let foreign = [
        ("Thornbury", "illustrated"),
        ("Meadow illustrated", "illustrated"),
        ("Vale", "aloud"),
        ("Grey", "film"),
    ];
    for (record, instance) in &instances {
        let said = cited(&server, instance);
        for (name, owner) in foreign {
            let is_own = record == owner;
            assert_eq!(said.contains(name), is_own, "`{name}` in the citation of {record}:\n{said}");
        }
        assert_eq!(said.contains("TY  - SOUND"), record == "aloud", "{said}");
        assert_eq!(said.contains("Austen"), record != "film", "{said}");
    }
}

#[test]
fn a_name_of_one_edition_finds_that_edition() {
    let desk = catalogue();
    let instances = entries(&desk, "bf:Instance");
    let server = Server::start(&desk, &[]);
    for (name, record) in [("Thornbury", "illustrated"), ("Edmund+Vale", "aloud"), ("Ottilie+Grey", "film")] {
        let found =
            server.ask("GET", &format!("/api/search?q={name}&kind=instance"), &[], b"").is(200).json();
        let hits: Vec<&str> =
            found["hits"].as_array().unwrap().iter().map(|hit| hit["iri"].as_str().unwrap()).collect();
        assert_eq!(hits, [instances[record].as_str()], "{name}: {found:#}");
    }
    // What is common to the work finds all of them.
    let found = server.ask("GET", "/api/search?q=austen&kind=instance", &[], b"").is(200).json();
    assert!(found["total"].as_u64() >= Some(3), "{found:#}");
}
