#!/usr/bin/env python3
"""Write `ontologies/terms/*.tsv` from a folder of public vocabulary files.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install rdflib
    /tmp/venv/bin/python scripts/term-lists.py FOLDER

A term list holds plain facts only: which terms a vocabulary defines, of what kind,
and between what they stand. Labels, definitions and comments stay with their publishers.

Columns: term, kind, domain, range, status. Domain and range are prefixed names (or IRIs
where `ontologies/prefixes.tsv` has no prefix), separated by blanks; several mean "any of
these", whether the vocabulary says so by a union or by schema.org's `domainIncludes`.
Status is empty or `deprecated`. Rows are sorted by code point, so that two runs agree.

Lists with no file in FOLDER (see `ontologies/SOURCES.md`) are kept by hand. They are not
rewritten, only checked: header, kinds, order, known prefixes.

Exit status: 0 all lists written and checked; 1 a hand-kept list has mistakes; 2 could not run
"""

import logging
import re
import sys
from pathlib import Path

from rdflib import BNode, Graph, Literal, Namespace, URIRef
from rdflib.collection import Collection
from rdflib.namespace import OWL, RDF, RDFS

ONTOLOGIES = Path(__file__).resolve().parent.parent / "ontologies"
HEADER = ["term", "kind", "domain", "range", "status"]
SCHEMA = Namespace("http://schema.org/")
DCAM = Namespace("http://purl.org/dc/dcam/")

# Which files define which vocabulary.
VOCABULARIES = {
    "bf": "bibframe-2.rdf",
    "bflc": "bflc.rdf",
    "dcterms": "dublin-core-terms.ttl",
    "fabio": "fabio.ttl",
    "foaf": "foaf.ttl",
    "frbr": "frbr-core.ttl",
    "prov": "prov-o.ttl",
    "schema": "schema-org.ttl",
    "skos": "skos.ttl",
}

# The RDA element sets are not at hand, only maps from them to other vocabularies. What a map
# names exists; what it does not name may exist too, so these lists are open.
RDA_MAPS = [
    "rda-mapMRC2RDA.ttl",
    "rda-mapRDA2DCT.ttl",
    "rda-mapRDA2LRM.ttl",
    "rda-mapRDAEntity2LRM.ttl",
    "rda-mapUnc2MRC.ttl",
]
# Each constrained element set describes one entity. `rdaa` mixes agents, persons, families and
# corporate bodies, and `rdau` is unconstrained by definition: both stay without a domain.
RDA_DOMAINS = {
    "rdaa": "",
    "rdac": None,
    "rdae": "rdac:C10006",
    "rdai": "rdac:C10003",
    "rdam": "rdac:C10007",
    "rdan": "rdac:C10012",
    "rdap": "rdac:C10009",
    "rdat": "rdac:C10010",
    "rdau": "",
    "rdaw": "rdac:C10001",
    "rdax": "rdac:C10013",
}

# The first type found decides: a term may be both an rdf:Property and something more precise.
KINDS = [
    (SCHEMA.DataType, "datatype"),
    (RDFS.Datatype, "datatype"),
    (OWL.Class, "class"),
    (RDFS.Class, "class"),
    (OWL.ObjectProperty, "object-property"),
    (OWL.DatatypeProperty, "datatype-property"),
    (OWL.SymmetricProperty, "object-property"),
    (OWL.TransitiveProperty, "object-property"),
    (OWL.AnnotationProperty, "annotation-property"),
    (OWL.FunctionalProperty, "property"),
    (RDF.Property, "property"),
]
KIND_NAMES = {kind for _, kind in KINDS} | {"individual"}


def main(arguments):
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print(__doc__, file=sys.stderr)
        return 2
    # Some vocabularies pad their dates with blanks, which rdflib reports at length.
    logging.getLogger("rdflib").setLevel(logging.CRITICAL)
    folder = Path(arguments[0])
    prefixes = read_prefixes()
    written = set()
    for prefix, file in VOCABULARIES.items():
        write(prefix, vocabulary_terms(parse(folder / file), prefix, prefixes))
        written.add(prefix)
    for prefix, rows in rda_terms(folder, prefixes).items():
        write(prefix, rows)
        written.add(prefix)
    mistakes = []
    for path in sorted((ONTOLOGIES / "terms").glob("*.tsv")):
        mistakes += check(path, prefixes)
        origin = "written" if path.stem in written else "kept by hand"
        print(f"{path.stem}\t{len(path.read_text().splitlines()) - 1}\t{origin}")
    for mistake in mistakes:
        print(mistake, file=sys.stderr)
    return 1 if mistakes else 0


def read_prefixes():
    lines = (ONTOLOGIES / "prefixes.tsv").read_text().splitlines()[1:]
    return {prefix: namespace for prefix, namespace, _ in (line.split("\t") for line in lines)}


def parse(path):
    text = path.read_text()
    # schema.org publishes the same terms under both schemes; ours are those of its JSON-LD context.
    if path.name == "schema-org.ttl":
        text = text.replace("https://schema.org/", "http://schema.org/")
    graph = Graph()
    graph.parse(data=text, format="xml" if path.suffix == ".rdf" else "turtle", publicID="urn:x-base:")
    return graph


def vocabulary_terms(graph, prefix, prefixes):
    namespace = prefixes[prefix]
    rows = []
    for subject in {s for s in graph.subjects() if isinstance(s, URIRef)}:
        name = str(subject).removeprefix(namespace)
        if name == subject or not re.fullmatch(r"[\w.-]+", name):
            continue
        kind = kind_of(graph, subject)
        if kind:
            domain = related(graph, subject, [RDFS.domain, SCHEMA.domainIncludes, DCAM.domainIncludes], prefixes)
            range_ = related(graph, subject, [RDFS.range, SCHEMA.rangeIncludes, DCAM.rangeIncludes], prefixes)
            rows.append([name, kind, domain, range_, status_of(graph, subject)])
    # A class that its own vocabulary names but never defines is a slip of the publisher
    # (dcterms:format leads to dcterms:Extent, which does not exist).
    defined = {f"{prefix}:{row[0]}" for row in rows}
    for row in rows:
        for column in (2, 3):
            names = row[column].split()
            row[column] = " ".join(n for n in names if not n.startswith(f"{prefix}:") or n in defined)
    return rows


def kind_of(graph, subject):
    types = set(graph.objects(subject, RDF.type))
    if OWL.Ontology in types:
        return None
    for type_, kind in KINDS:
        if type_ in types:
            return kind
    if types:
        return "individual"
    # PROV names the inverses of its properties without giving them a type.
    return "object-property" if (subject, OWL.inverseOf, None) in graph else None


def related(graph, subject, predicates, prefixes):
    names = set()
    for predicate in predicates:
        for value in graph.objects(subject, predicate):
            for iri in members(graph, value):
                names.add(shorten(iri, prefixes))
    return " ".join(sorted(names))


def members(graph, value):
    """The named classes a domain or range stands for, unions taken apart."""
    if isinstance(value, URIRef):
        return [value]
    union = graph.value(value, OWL.unionOf) if isinstance(value, BNode) else None
    return [m for m in Collection(graph, union) if isinstance(m, URIRef)] if union else []


def shorten(iri, prefixes):
    # BFLC publishes some prefixed names unexpanded, as in `…/bflc/bf:AdminMetadata`.
    iri = re.sub(r"^http.*/(\w+):(?=\w+$)", lambda m: prefixes.get(m[1], m[0]), str(iri))
    for prefix, namespace in prefixes.items():
        name = str(iri).removeprefix(namespace)
        if name != str(iri) and re.fullmatch(r"[\w.-]+", name):
            return f"{prefix}:{name}"
    return str(iri)


def status_of(graph, subject):
    if (subject, OWL.deprecated, Literal(True)) in graph or (subject, SCHEMA.supersededBy, None) in graph:
        return "deprecated"
    if (subject, SCHEMA.isPartOf, URIRef("http://attic.schema.org")) in graph:
        return "deprecated"
    for predicate, value in graph.predicate_objects(subject):
        if predicate.endswith("status") and re.search("deprecated|archaic", str(value)):
            return "deprecated"
    return ""


def rda_terms(folder, prefixes):
    named = set()
    for file in RDA_MAPS:
        for subject, _, value in parse(folder / file):
            named |= {str(subject), str(value)}
    lists = {}
    for prefix, domain in RDA_DOMAINS.items():
        names = {iri.removeprefix(prefixes[prefix]) for iri in named if iri.startswith(prefixes[prefix])}
        kind = "class" if domain is None else "property"
        lists[prefix] = [[name, kind, domain or "", "", ""] for name in names]
    return lists


def write(prefix, rows):
    lines = ["\t".join(row) for row in [HEADER, *sorted(rows)]]
    (ONTOLOGIES / "terms" / f"{prefix}.tsv").write_text("\n".join(lines) + "\n")


def check(path, prefixes):
    mistakes = []

    def mistake(number, text):
        mistakes.append(f"{path}:{number}: {text}")

    if path.stem not in prefixes:
        mistake(1, f"`{path.stem}` has no row in prefixes.tsv")
    lines = [line.split("\t") for line in path.read_text().splitlines()]
    if lines[0] != HEADER:
        mistake(1, f"the header should be {' '.join(HEADER)}")
    previous = ""
    for number, row in enumerate(lines[1:], start=2):
        if len(row) != len(HEADER):
            mistake(number, f"expected {len(HEADER)} columns, found {len(row)}")
            continue
        if row[0] <= previous:
            mistake(number, f"`{row[0]}` should stand before `{previous}`, or stands twice")
        if row[1] not in KIND_NAMES:
            mistake(number, f"`{row[1]}` is no kind of term")
        for name in (row[2] + " " + row[3]).split():
            if "://" not in name and name.split(":")[0] not in prefixes:
                mistake(number, f"`{name}` has a prefix that prefixes.tsv lacks")
        if row[4] not in ("", "deprecated"):
            mistake(number, f"`{row[4]}` is no status")
        previous = row[0]
    return mistakes


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
