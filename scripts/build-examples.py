#!/usr/bin/env python3
"""Make the MARC files of `examples/` from their readable masters in `examples/source/`.

The masters are in the text form of MarcEdit (`.mrk`): one field a line, `\\` for a blank
indicator or a blank in a control field, `$` before a subfield code, `{dollar}` for the
character itself, an empty line between records. From them this script writes

    library.mrk       library.mrc               MARC 21, ISO 2709, UTF-8
    college.mrk       college-marc8.mrc         MARC 21, ISO 2709, MARC-8
    bibliotheque.mrk  bibliotheque.unimarc.mrc  UNIMARC, ISO 2709, UTF-8
    verbund.mrk       verbund.marcxml           MARC 21, MARCXML

The other sample files are their own masters. The output depends on the masters alone, so
running the script twice changes nothing. Lengths, coded fields, ISBNs and the truth table are checked
before anything is written; every problem is reported.

    scripts/build-examples.py           write the files
    scripts/build-examples.py --check   write nothing, fail if a file is out of date
"""

import csv
import json
import re
import sys
import unicodedata
import xml.etree.ElementTree as ET
from pathlib import Path
from xml.sax.saxutils import escape

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SUBFIELD, FIELD_END, RECORD_END, ESCAPE = b"\x1f", b"\x1e", b"\x1d", b"\x1b"


# ---------------------------------------------------------------- reading the masters

def read_mrk(path):
    """Yield each record as a list of (tag, indicators, content); content of a data field
    is a list of (code, value)."""
    for block in path.read_text(encoding="utf-8").strip().split("\n\n"):
        record = []
        for line in block.split("\n"):
            tag, rest = line[1:4], line[6:]
            if tag == "LDR" or tag < "010":
                record.append((tag, None, rest.replace("\\", " ")))
            else:
                pieces = rest[2:].split("$")[1:]
                subfields = [(p[0], p[1:].replace("{dollar}", "$")) for p in pieces]
                record.append((tag, rest[:2].replace("\\", " "), subfields))
        yield record


# ---------------------------------------------------------------- MARC-8

# Combining characters stand before their letter in MARC-8 and after it in Unicode.
ANSEL_COMBINING = {
    "\u0300": 0xE1, "\u0301": 0xE2, "\u0302": 0xE3, "\u0303": 0xE4, "\u0304": 0xE5,
    "\u0306": 0xE6, "\u0307": 0xE7, "\u0308": 0xE8, "\u030C": 0xE9, "\u030A": 0xEA,
    "\u0327": 0xF0, "\u0328": 0xF1, "\u0323": 0xF2,
}
ANSEL_LETTERS = {
    "Ł": 0xA1, "Ø": 0xA2, "Æ": 0xA5, "Œ": 0xA6, "ʹ": 0xA7, "ł": 0xB1, "ø": 0xB2,
    "æ": 0xB5, "œ": 0xB6, "ʺ": 0xB7, "ı": 0xB8, "£": 0xB9, "©": 0xC3, "¿": 0xC5, "¡": 0xC6, "ß": 0xC7,
}
# Basic Cyrillic, designated as G0 by ESC ( N. Capitals lie 0x20 above the small letters.
CYRILLIC = {c: 0x40 + i for i, c in enumerate("юабцдефгхийклмнопярстужвьызшэщч")}
CYRILLIC |= {c.upper(): code + 0x20 for c, code in list(CYRILLIC.items())}
CYRILLIC |= {"ъ": 0x5F}
# U+0361, the ligature tie of romanized Russian, spans two letters: a left half before
# the first and a right half before the second.
TIE, LEFT_HALF, RIGHT_HALF = "\u0361", 0xEB, 0xEC


def to_marc8(text):
    # A precomposed Cyrillic letter has its own code; only Latin is taken apart.
    decomposed = "".join(
        c if c in CYRILLIC else unicodedata.normalize("NFD", c)
        for c in unicodedata.normalize("NFC", text)
    )
    clusters = re.findall(r"[^\u0300-\u036f][\u0300-\u036f]*", decomposed)
    out, cyrillic, after_tie = bytearray(), False, False
    for cluster in clusters:
        base, marks = cluster[0], cluster[1:]
        if (base in CYRILLIC) != cyrillic and (base in CYRILLIC or base not in " .,:;-0123456789"):
            cyrillic = not cyrillic
            out += ESCAPE + (b"(N" if cyrillic else b"(B")
        if after_tie:
            out.append(RIGHT_HALF)
        if TIE in marks:
            out.append(LEFT_HALF)
        after_tie = TIE in marks
        out += bytes(ANSEL_COMBINING[m] for m in marks if m != TIE)
        if cyrillic and base in CYRILLIC:
            out.append(CYRILLIC[base])
        elif base in ANSEL_LETTERS:
            out.append(ANSEL_LETTERS[base])
        else:
            out += base.encode("ascii")
    if cyrillic:
        out += ESCAPE + b"(B"
    return bytes(out)


def to_utf8(text):
    return unicodedata.normalize("NFC", text).encode("utf-8")


# ---------------------------------------------------------------- writing

def iso2709(record, encode):
    directory, body, leader = b"", b"", None
    for tag, indicators, content in record:
        if tag == "LDR":
            leader = content
            continue
        if indicators is None:
            data = encode(content)
        else:
            data = indicators.encode("ascii") + b"".join(
                SUBFIELD + code.encode("ascii") + encode(value) for code, value in content
            )
        data += FIELD_END
        directory += f"{tag}{len(data):04d}{len(body):05d}".encode("ascii")
        body += data
    base = 24 + len(directory) + 1
    length = base + len(body) + 1
    head = f"{length:05d}{leader[5:12]}{base:05d}{leader[17:]}".encode("ascii")
    return head + directory + FIELD_END + body + RECORD_END


def marcxml(records):
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield '<collection xmlns="http://www.loc.gov/MARC21/slim">\n'
    for record in records:
        yield "  <record>\n"
        for tag, indicators, content in record:
            if tag == "LDR":
                yield f"    <leader>{escape(content)}</leader>\n"
            elif indicators is None:
                yield f'    <controlfield tag="{tag}">{escape(content)}</controlfield>\n'
            else:
                yield f'    <datafield tag="{tag}" ind1="{indicators[0]}" ind2="{indicators[1]}">\n'
                for code, value in content:
                    yield f'      <subfield code="{code}">{escape(value)}</subfield>\n'
                yield "    </datafield>\n"
        yield "  </record>\n"
    yield "</collection>\n"


# ---------------------------------------------------------------- checking

def value_of(record, tag, code=None):
    for t, _, content in record:
        if t == tag:
            return content if code is None else dict(content).get(code, "")
    return None


def isbn_is_right(isbn):
    digits = [10 if c in "xX" else int(c) for c in isbn if c in "0123456789xX"]
    if len(digits) == 10:
        return sum(d * (10 - i) for i, d in enumerate(digits)) % 11 == 0
    return len(digits) == 13 and sum(d * (1, 3)[i % 2] for i, d in enumerate(digits)) % 10 == 0


def problems_of(source, record):
    leader, identifier = value_of(record, "LDR"), value_of(record, "001")
    unimarc = source == "bibliotheque"
    if not identifier:
        yield "a record has no 001"
    if len(leader) != 24:
        yield f"leader of `{identifier}` has {len(leader)} characters, not 24"
    if unimarc and len(value_of(record, "100", "a")) != 36:
        yield f"100 $a of `{identifier}` has {len(value_of(record, '100', 'a'))} characters, not 36"
    if not unimarc and len(value_of(record, "008")) != 40:
        yield f"008 of `{identifier}` has {len(value_of(record, '008'))} characters, not 40"
    if not unimarc and (leader[9] == "a") == (source == "college"):
        yield f"leader/09 of `{identifier}` does not name its encoding"
    for tag, _, content in record:
        if tag == ("010" if unimarc else "020"):
            for code, value in content:
                if code == "a" and not isbn_is_right(value.split(" ")[0]):
                    yield f"ISBN `{value}` of `{identifier}` has a wrong check digit"
    linked = {}
    for tag, _, content in record:
        link = dict(content).get("6", "") if isinstance(content, list) and not unimarc else ""
        if link:
            linked.setdefault((link[:3], tag)[tag != "880"] + link[3:6], []).append(tag)
    for link, tags in linked.items():
        if not link.endswith("-00") and sorted(tags) != sorted([link[:3], "880"]):
            yield f"`{identifier}` links {link} from {tags}"


def identifiers_elsewhere():
    """Identifiers in the files that are their own masters, as (source, id)."""
    oai = "{http://www.openarchives.org/OAI/2.0/}"
    for header in ET.parse(EXAMPLES / "repository-oai_dc.xml").iter(oai + "header"):
        yield "repository", header.find(oai + "identifier").text
    mods = "{http://www.loc.gov/mods/v3}"
    for identifier in ET.parse(EXAMPLES / "archive-mods.xml").iter(mods + "recordIdentifier"):
        yield "archive", identifier.text
    with open(EXAMPLES / "bookshop.csv", encoding="utf-8-sig", newline="") as rows:
        for row in csv.DictReader(rows):
            yield "bookshop", row["id"]
    for line in (EXAMPLES / "films-and-music.jsonl").read_text(encoding="utf-8").splitlines():
        yield "media", json.loads(line)["id"]
    turtle = (EXAMPLES / "museum.ttl").read_text(encoding="utf-8")
    for identifier in re.findall(r"^obj:([\w-]+)$", turtle, re.MULTILINE):
        yield "museum", identifier


def problems_of_truth(identifiers):
    lines = (EXAMPLES / "truth.tsv").read_text(encoding="utf-8").splitlines()[1:]
    rows = [tuple(line.split("\t")) for line in lines]
    for row in rows:
        if len(row) != 4:
            yield f"truth.tsv: {row} has not four columns"
    told = [row[:2] for row in rows]
    for pair in sorted(set(told) ^ set(identifiers)):
        yield f"truth.tsv: {pair} is in {'no file' if pair in told else 'a file only'}"
    if len(told) != len(set(told)):
        yield "truth.tsv: a record is told twice"
    works = {}
    for _, _, work, edition in rows:
        if works.setdefault(edition, work) != work:
            yield f"truth.tsv: edition `{edition}` belongs to two works"


def main():
    masters = {
        name: list(read_mrk(EXAMPLES / "source" / f"{name}.mrk"))
        for name in ("library", "college", "bibliotheque", "verbund")
    }
    identifiers = list(identifiers_elsewhere())
    problems = []
    for source, records in masters.items():
        for record in records:
            problems += problems_of(source, record)
            identifiers.append((source, value_of(record, "001")))
    problems += problems_of_truth(identifiers)
    if problems:
        sys.exit("\n".join(f"error: {p}" for p in problems))

    outputs = {
        "library.mrc": b"".join(iso2709(r, to_utf8) for r in masters["library"]),
        "college-marc8.mrc": b"".join(iso2709(r, to_marc8) for r in masters["college"]),
        "bibliotheque.unimarc.mrc": b"".join(iso2709(r, to_utf8) for r in masters["bibliotheque"]),
        "verbund.marcxml": "".join(marcxml(masters["verbund"])).encode("utf-8"),
    }
    stale = []
    for name, data in outputs.items():
        path = EXAMPLES / name
        if "--check" not in sys.argv:
            path.write_bytes(data)
        elif not path.exists() or path.read_bytes() != data:
            stale.append(name)
    if stale:
        sys.exit(f"error: out of date: {', '.join(stale)}; run scripts/build-examples.py")


if __name__ == "__main__":
    main()
