#!/usr/bin/env python3
"""Measure how far Pinakes and marc2bibframe2 say the same about the same MARC 21 records.

    ~/.cache/pinakes/venv/bin/python scripts/agreement.py DATA PINAKES
        [--paths | --missed PATH | --differences] [--control]

DATA/records holds `marc2bibframe2-output/*.nq.gz` (the graph of record k of file F is
`http://example.org/F/k`), the MARCXML files F in `marcxml/` or below it, and
`bibframe-pairs/*.xml` beside `*.rdf.xml`. PINAKES is the program; it maps the same records
with the rules of this checkout. rdflib is needed for the pairs alone.

Compared are the fields 1XX, 245, 260/264, 300, 6XX and 7XX (SCOPE below). Every literal and
every IRI of an outside vocabulary that their Work or Instance leads to is one value, once for
each record and path. It is found when `benches/agreement/equivalences.tsv` names a path of ours
that means the same, and an equal value stands at its end in the graph of the same record.
Left out: types, MADS/RDF doubles, administrative metadata, and relations that come from other
fields (series of 4XX and 8XX, indexes of 510). Records marked as deleted (leader/05) are not
compared: Pinakes withdraws them.

Columns of the table: their path, our paths (separated by ` | `), comparison, note. Paths are
properties from Work, Instance or Hub on. Comparisons, after NFC, lower case, and without outer
punctuation:

    equal            the same text
    code [LIST]      the same last segment of an IRI, or the same code; LIST names rows of
                     `benches/agreement/codes.tsv`, where two vocabularies have two codes for one thing
    iri              the same IRI
    number           the last segment of their IRI is a part of ours
    part             theirs is a part of ours, at word boundaries
    parts [LIST]     theirs consists of ours, in any order, and of punctuation; LIST, of `mappings/codes`,
                     gives words for our codes
    term LIST ...    theirs, looked up in `mappings/codes/LIST.tsv`, gives our code
    edtf             the same date; their `9999` is our `..`
    skip             theirs counts characters; ours is a title of theirs without them

`--paths` prints every path, `--missed PATH` the values of a path that were not found,
`--differences` the rows of `benches/agreement/differences.tsv` with the counts of this run.
`--control` compares every record with our graph of the next one: what agrees then, agrees by
chance or because most records say it.

Exit status: 0 at least 80 % found; 1 less; 2 could not run
"""

import argparse
import collections
import gzip
import logging
import os
import re
import subprocess
import sys
import tempfile
import unicodedata
import xml.etree.ElementTree as xml
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
TABLES = PROJECT / "benches" / "agreement"
GOAL = 80.0
DEPTH = 6

# The paths the core fields take in their output. 008 states place and date of publication beside 260/264.
SCOPE = re.compile(
    r"""(Work|Instance)/(bf:title|bf:contribution|bf:expressionOf|bf:responsibilityStatement
    |bf:provisionActivity|bf:(publication|distribution|manufacture|production)Statement|bf:copyrightDate
    |bf:extent|bf:dimensions|bf:subject|bf:genreForm|bf:place|bf:relation)(/|$)""",
    re.VERBOSE,
)
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
LEFT_OUT = ("bf:adminMetadata", "bf:instanceOf", "bf:hasInstance", "madsrdf:", "rdf:type")
OTHER_RELATIONS = {
    ("bf:relationship", f"<http://id.loc.gov/vocabulary/relationship/{name}>") for name in ("series", "indexedin")
}
EXAMPLE = "http://example.org/"

STATEMENT = re.compile(
    r'(<[^>]*>|_:\S+) <([^>]*)> (<[^>]*>|_:\S+|"(?:[^"\\]|\\.)*"(?:@\S+|\^\^<[^>]*>)?) (?:<([^>]*)> )?\.'
)
ESCAPE = re.compile(r'\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)')
CONTROL = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}


def prefixes():
    rows = (PROJECT / "ontologies" / "prefixes.tsv").read_text(encoding="utf-8").splitlines()[1:]
    names = {row.split("\t")[1]: row.split("\t")[0] for row in rows if row and not row.startswith("#")}
    names["http://www.loc.gov/mads/rdf/v1#"] = "madsrdf"
    return sorted(names.items(), key=lambda pair: -len(pair[0]))


PREFIXES = prefixes()
SHORT = {}


def give_up(why):
    print(f"agreement: {why}", file=sys.stderr)
    sys.exit(2)


def short(iri):
    if iri not in SHORT:
        SHORT[iri] = next((f"{name}:{iri[len(space):]}" for space, name in PREFIXES if iri.startswith(space)), iri)
    return SHORT[iri]


# Reading graphs. A node is `<iri>` or `_:name`, a literal `"text`.


def unescape(text):
    def one(match):
        code = match.group(1)
        return chr(int(code[1:], 16)) if code[0] in "uU" and len(code) > 1 else CONTROL.get(code, code)

    return ESCAPE.sub(one, text) if "\\" in text else text


def nquads(lines):
    """Graph name -> subject -> [(predicate, object)]."""
    graphs = collections.defaultdict(lambda: collections.defaultdict(list))
    for line in lines:
        match = STATEMENT.match(line)
        if not match:
            give_up(f"not N-Quads: {line[:80]!r}")
        subject, predicate, thing, graph = match.groups()
        if thing[0] == '"':
            thing = '"' + unescape(thing[1 : thing.rindex('"')])
        graphs[graph or ""][subject].append((short(predicate), thing))
    return graphs


def rdfxml(path):
    import rdflib

    # Dates such as `19--` are theirs to state; rdflib would warn of each.
    rdflib.NORMALIZE_LITERALS = False
    logging.getLogger("rdflib").setLevel(logging.CRITICAL)

    def node(term):
        if isinstance(term, rdflib.Literal):
            return '"' + str(term)
        return f"<{term}>" if isinstance(term, rdflib.URIRef) else f"_:{term}"

    graph = collections.defaultdict(list)
    for subject, predicate, thing in rdflib.Graph().parse(path, format="xml"):
        graph[node(subject)].append((short(str(predicate)), node(thing)))
    return graph


def values(graph, roots, inside, skip=()):
    """Path -> set of values, for everything the roots lead to. `inside` tells our own nodes from outside names."""
    found = collections.defaultdict(set)

    def walk(node, path, seen):
        if path.endswith("bf:relation") and not OTHER_RELATIONS.isdisjoint(graph.get(node, ())):
            return
        for predicate, thing in graph.get(node, ()):
            if predicate.startswith(skip):
                continue
            here = f"{path}/{predicate}"
            if thing[0] == '"' or thing[0] == "<" and not inside(thing):
                found[here].add(thing)
            if thing[0] != '"' and thing in graph and thing not in seen and here.count("/") < DEPTH:
                walk(thing, here, seen | {thing})

    for name, node in roots:
        walk(node, name, {node})
    return found


# Their side and the MARC records it was made of.


def their_records(data):
    """Yields the MARCXML file, the number of the record in it, and their values."""
    files = {path.stem: path for path in sorted((data / "marcxml").rglob("*.xml"))}
    inside = lambda thing: thing.startswith("<" + EXAMPLE)
    for source in sorted((data / "marc2bibframe2-output").glob("*.nq.gz")):
        with gzip.open(source, "rt", encoding="utf-8") as lines:
            graphs = nquads(lines)
        for name, graph in graphs.items():
            file, number = name[len(EXAMPLE) :].rsplit("/", 1)
            yield files[file], int(number), values(graph, their_roots(graph), inside, LEFT_OUT)
    for path in sorted((data / "bibframe-pairs").glob("*.rdf.xml")):
        file = path.with_name(path.name.replace(".rdf.xml", ".xml"))
        graph = rdfxml(path)
        for number, identifier in enumerate(identifiers(file), 1):
            roots = [(kind, node) for kind, node in their_roots(graph) if node.startswith(f"<{EXAMPLE}{identifier}#")]
            if roots:
                yield file, number, values(graph, roots, inside, LEFT_OUT)


def their_roots(graph):
    roots = []
    for node in graph:
        match = re.match(r"<.*#(Work|Instance)>$", node)
        if match:
            roots.append((match.group(1), node))
    return roots


def marc_records(file):
    # Control characters, which XML forbids, stand in some files.
    text = re.sub(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]", b"", file.read_bytes())
    return [element for element in xml.fromstring(text).iter() if element.tag.split("}")[-1] == "record"]


def deleted(record):
    leader = next((field.text or "" for field in record if field.tag.split("}")[-1] == "leader"), "")
    return leader[5:6] == "d"


def control_number(record):
    return next((field for field in record if field.get("tag") == "001"), None)


def identifiers(file):
    fields = (control_number(record) for record in marc_records(file))
    return ["" if field is None else (field.text or "").strip() for field in fields]


# Our side.


def our_records(wanted, program):
    """(file, number) -> our values. The records get control numbers of their own, since several share one."""
    order = []
    space = "http://www.loc.gov/MARC21/slim"
    xml.register_namespace("", space)
    collection = xml.Element(f"{{{space}}}collection")
    for file in sorted({file for file, _ in wanted}):
        for number, record in enumerate(marc_records(file), 1):
            if (file, number) not in wanted or deleted(record):
                continue
            for element in record.iter():
                element.tag = f"{{{space}}}{element.tag.split('}')[-1]}"
            field = control_number(record)
            if field is None:
                field = xml.Element(f"{{{space}}}controlfield", tag="001")
                record.insert(1, field)
            field.text = f"agreement{len(order)}"
            order.append((file, number))
            collection.append(record)
    environment = os.environ | {"PINAKES_MAPPINGS": str(PROJECT / "mappings")}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        xml.ElementTree(collection).write(folder / "records.xml", encoding="utf-8", xml_declaration=True)
        catalogue = ["--quiet", "--catalogue", str(folder / "catalogue")]
        for arguments in (
            ["init"],
            ["import", "--source", "marc", str(folder / "records.xml")],
            ["export", "--graph", "records", "--format", "nquads", "--output", str(folder / "records.nq")],
        ):
            run = subprocess.run([program, *catalogue, *arguments], env=environment, capture_output=True, text=True)
            if run.returncode == 2:
                give_up(f"{' '.join(arguments)}: {run.stderr.strip()[-300:]}")
        with open(folder / "records.nq", encoding="utf-8") as lines:
            graphs = nquads(lines)
    ours = {}
    for name, graph in graphs.items():
        match = re.search(r"agreement(\d+)$", name)
        if not match:
            continue
        roots = [(root, f"<{name}#{root.lower()}>") for root in ("Work", "Instance", "Hub")]
        roots_apart = ("bf:instanceOf", "bf:expressionOf", "rdf:type")
        inside = lambda thing: thing.startswith(f"<{name}#")
        ours[order[int(match.group(1))]] = values(graph, roots, inside, roots_apart)
    return ours


# Comparing.


def plain(value):
    return value[1:].rstrip(">") if value[0] == "<" else value[1:]


def normal(value):
    text = unicodedata.normalize("NFC", plain(value)).casefold()
    return re.sub(r"\s+", " ", re.sub(r"^[\W_]+|[\W_]+$", "", text))


def code(value):
    return normal('"' + re.split(r"[/#]", value.rstrip("/>"))[-1].lstrip('<"')) if value[0] == "<" else normal(value)


LISTS = {}


def code_list(name):
    if name not in LISTS:
        lines = (PROJECT / "mappings" / "codes" / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
        rows = [line.split("\t") for line in lines if line and not line.startswith("#")][1:]
        LISTS[name] = collections.defaultdict(set)
        for row in rows:
            target = normal('"' + row[1].split(":")[-1])
            for cell in (row[0], *row[2:]):
                LISTS[name][normal('"' + cell)].add(target)
    return LISTS[name]


def code_pairs(name):
    if ("pairs", name) not in LISTS:
        lines = (TABLES / "codes.tsv").read_text(encoding="utf-8").splitlines()[1:]
        LISTS["pairs", name] = pairs = {}
        for line in lines:
            if line.startswith(name + "\t"):
                _, theirs, label, ours = line.split("\t")
                pairs[normal('"' + theirs)] = pairs[normal('"' + label)] = normal('"' + ours)
    return LISTS["pairs", name]


def words(name, codes):
    return {word for word, targets in code_list(name).items() if targets & codes}


def edtf(value):
    return re.sub(r"9999$", "..", value[1:].strip().casefold())


def found(value, ours, comparison, theirs):
    kind, *rest = comparison.split()
    if kind == "equal":
        return normal(value) in {normal(other) for other in ours}
    if kind == "code":
        wanted = {code(value)} | {code_pairs(name).get(code(value)) for name in rest}
        return bool(wanted & {code(other) for other in ours})
    if kind == "iri":
        return normal(value) in {normal(other) for other in ours if other[0] == "<"}
    if kind == "edtf":
        return edtf(value) in {edtf(other) for other in ours}
    if kind in ("part", "number"):
        # OCLC writes `fst01411641` where its IRI has `01411641`.
        before, inner = (r"(?<!\d)", code(value)) if kind == "number" else (r"(?<!\w)", normal(value))
        inner = re.compile(before + re.escape(inner) + r"(?!\w)")
        return any(inner.search(normal(other)) for other in ours)
    if kind == "parts":
        text = normal(value)
        pieces = {normal(other) for other in ours}.union(*(words(name, {code(o) for o in ours}) for name in rest))
        for other in sorted(pieces, key=len, reverse=True):
            if other:
                text = re.sub(r"(?<!\w)" + re.escape(other) + r"(?!\w)", " ", text)
        return not re.search(r"\w", text)
    if kind == "term":
        codes = {code(other) for other in ours}
        return any(code_list(name).get(normal(value), set()) & codes for name in rest)
    if kind == "skip":
        count = int(value[1:]) if value[1:].isdigit() else 0
        titles = [title for path in theirs if path.endswith("Title") for title in theirs[path]]
        titles = [normal('"' + title[1 + count :]) for title in titles]
        keys = [normal(other) for other in ours]
        return any(title.startswith(key) for title in titles for key in keys if key)
    give_up(f"no comparison `{comparison}`")


def equivalences():
    table = collections.defaultdict(list)
    for line in (TABLES / "equivalences.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        if line and not line.startswith("#"):
            theirs, ours, comparison, *_ = line.split("\t")
            table[theirs].append((ours.split(" | "), comparison))
    return table


def differences():
    lines = (TABLES / "differences.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("data", type=Path)
    arguments.add_argument("program")
    arguments.add_argument("--paths", action="store_true")
    arguments.add_argument("--missed", metavar="PATH")
    arguments.add_argument("--differences", action="store_true")
    arguments.add_argument("--control", action="store_true")
    arguments = arguments.parse_args()

    table = equivalences()
    theirs = collections.defaultdict(dict)
    for file, number, stated in their_records(arguments.data / "records"):
        theirs[file, number] = stated
    if not theirs:
        give_up(f"no output of marc2bibframe2 in `{arguments.data}/records`")
    ours = our_records(set(theirs), arguments.program)
    if arguments.control:
        keys = list(ours)
        ours = dict(zip(keys, [ours[key] for key in keys[1:] + keys[:1]]))

    stated, hit, missed = collections.Counter(), collections.Counter(), collections.defaultdict(list)
    for key, record in theirs.items():
        if key not in ours:
            continue
        mine = ours[key]
        for path in filter(SCOPE.match, record):
            for value in sorted(record[path]):
                stated[path] += 1
                if any(
                    found(value, [v for p in paths for v in mine.get(p, ())], comparison, record)
                    for paths, comparison in table[path]
                ):
                    hit[path] += 1
                else:
                    missed[path].append((f"{key[0].stem}/{key[1]}", plain(value)))

    if arguments.missed:
        for record, value in missed[arguments.missed]:
            print(f"{record}\t{value}")
        return 0
    if arguments.differences:
        for path, _, why in differences():
            print(f"{path}\t{len(missed[path])}\t{why}")
        return 0
    total, agreed = sum(stated.values()), sum(hit.values())
    print(f"{len(ours)} records; {len(set(theirs) - set(ours))} left out, withdrawn with us")
    print("\nstated\tfound\tshare\tpath")
    few = 1 if arguments.paths else 20
    for path, count in sorted(stated.items(), key=lambda pair: (-pair[1], pair[0])):
        if count >= few:
            print(f"{count}\t{hit[path]}\t{100 * hit[path] / count:.1f} %\t{path}")
    share = 100 * agreed / max(total, 1)
    print(f"{total}\t{agreed}\t{share:.1f} %\ttotal of {len(stated)} paths")
    reasons = {path: int(count) for path, count, _ in differences()}
    more = {path: len(gap) - reasons.get(path, 0) for path, gap in missed.items()}
    more = {path: count for path, count in more.items() if count > 0}
    print(f"\nof {total - agreed} not found, `differences.tsv` gives no reason for {sum(more.values())}")
    for path, count in sorted(more.items()):
        print(f"{count}\t{path}")
    print("\nlargest gaps")
    for path, gap in sorted(missed.items(), key=lambda pair: (-len(pair[1]), pair[0]))[:20]:
        step = max(len(gap) // 3, 1)
        examples = "; ".join(f"{value[:60]} ({record})" for record, value in gap[::step][:3])
        print(f"{len(gap)}\t{path}\t{examples}")
    return 0 if share >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
