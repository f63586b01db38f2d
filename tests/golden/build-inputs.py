#!/usr/bin/env python3
"""Writes the ISO 2709 inputs of tests/golden, whose bytes no editor shows. Needs Python alone.

A field is (tag, data); the data of a record are bytes, written in the character set under test.
`damage` receives the finished record and returns it spoilt. Run it in this folder.
"""

from pathlib import Path

HERE = Path(__file__).parent


def field(tag, indicators, *subfields):
    data = indicators.encode() + b"".join(
        b"\x1f" + code.encode() + (value if isinstance(value, bytes) else value.encode()) for code, value in subfields
    )
    return tag, data


def control(tag, value):
    return tag, value.encode()


def record(leader, *fields, damage=lambda record: record):
    """`leader` is LDR/05-09 and 17-19."""
    directory, body = b"", b""
    for tag, data in fields:
        data += b"\x1e"
        directory += b"%s%04d%05d" % (tag.encode(), len(data), len(body))
        body += data
    base = 24 + len(directory) + 1
    head = f"{base + len(body) + 1:05}{leader[:5]}22{base:05}{leader[5:]}4500".encode()
    return damage(head + directory + b"\x1e" + body + b"\x1d")


def write(case, *records):
    folder = HERE / "iso2709" / case
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "input.mrc").write_bytes(b"".join(records))


F008 = "260101s1854    mau           000 0 eng d"

write(
    "marc21-utf-8",
    record(
        "nam a i ",
        control("001", "golden-1"),
        control("008", F008),
        field("020", "  ", ("a", "9780000000019"), ("q", "paperback")),
        field("100", "1 ", ("6", "880-01"), ("a", "Kazantzákīs, Nikos,"), ("d", "1883-1957.")),
        # The accent follows its letter here and is one with it in the record that is read.
        field("245", "10", ("a", "Voi\u0301 tou Ale\u0301xī Zormpa\u0301 /"), ("c", "Nikos Kazantzákīs.")),
        field("500", "  ", ("a", "Price: $5 & more; # \\ { } keep their meaning.")),
        field("880", "1 ", ("6", "100-01/(S"), ("a", "Καζαντζάκης, Νίκος")),
    ),
    record("dam a i ", control("001", "golden-2"), field("245", "00", ("a", "Withdrawn."))),
    record("ngm a i ", control("001", "golden-3"), field("245", "00", ("a", "漢字 𠮷"), ("h", "")), field("599", "  ")),
)

write(
    "marc-8",
    record(
        "nam   a ",
        control("001", "golden-8"),
        # Marks stand before their letter: acute E2, diaeresis E8, hacek E9; l with stroke B1, oe B6.
        field("100", "1 ", ("a", b"M\xe8uller, Andr\xe2e \xe9Capek \xb1\xb6uvre")),
        # Basic Cyrillic into G0 and back.
        field("245", "10", ("a", b"\x1b(NwOJNA I MIR\x1b(B = War and peace")),
        # A subfield that forgets to return; the next begins in ASCII all the same.
        field("246", "3 ", ("a", b"\x1b(NwOJNA"), ("b", "peace")),
        # Greek symbols, subscript and superscript are designated by one byte.
        field("500", "  ", ("a", b"\x1bga\x1bs-rays in H\x1bb2\x1bsO at 10\x1bp3\x1bs K")),
        # Two marks on one letter, and a mark with no letter after it.
        field("505", "0 ", ("a", b"Vi\xe3\xf2et"), ("b", b"lost \xe2")),
        # A character outside the repertoire.
        field("520", "  ", ("a", "Clef: &#x1D11E; and AT&T")),
        # East Asian characters take three bytes: the two of "China" in EACC, and back.
        field("880", "10", ("6", "245-01/$1"), ("a", b"\x1b$1\x21\x30\x34\x21\x37\x6f\x1b(B")),
    ),
)

U100 = "20260101d1862    k  y0frey{}    ba"

write(
    "unimarc-utf-8",
    record(
        "nam0    ",
        control("001", "golden-u1"),
        field("100", "  ", ("a", U100.format("50  "))),
        field("101", "0 ", ("a", "fre")),
        # The article is between the marks that keep it out of the sort order.
        field("200", "1 ", ("a", "\u0088Les \u0089misérables"), ("f", "Victor Hugo"), ("g", "préface d'Aurélie Ôtot")),
        field("461", " 0", ("1", "001golden-u0"), ("1", "2001 "), ("a", "Œuvres complètes")),
        field("700", " 1", ("a", "Hugo"), ("b", "Victor"), ("4", "070")),
    ),
)

write(
    "unimarc-iso-5426",
    record(
        "nam0    ",
        control("001", "golden-u2"),
        field("100", "  ", ("a", U100.format("0103"))),
        # ISO 5426: acute C2, grave C1, circumflex C3, cedilla D0 before their letter; oe FA.
        field("200", "1 ", ("a", b"L'\xc2ecole des \xfauvres o\xc1u l'on re\xd0coit"), ("f", b"J\xc2er\xc3ome")),
    ),
)

write(
    "latin-1-under-a-false-leader",
    record(
        "nam a a ",
        control("001", "golden-l1"),
        field("100", "1 ", ("a", "Müller, Jürgen".encode("latin-1"))),
        field("245", "10", ("a", "Über die Größe der Städte".encode("latin-1"))),
    ),
)


def wrong_length(good):
    return b"00042" + good[5:]


def wrong_directory(good):
    """The first field's length is one short, and so is every offset after it."""
    return good[:24] + b"001000800000" + b"245001400008" + b"500001300022" + good[60:]


def no_directory_number(good):
    return good[:27] + b"XX" + good[29:]


def title(number, damage=lambda good: good):
    return record(
        "nam a i ",
        control("001", f"golden-d{number}"),
        field("245", "10", ("a", f"Title {number} ö")),
        field("500", "  ", ("a", "A note.")),
        damage=damage,
    )


write(
    "wrong-numbers",
    title(1, wrong_length),
    title(2, wrong_directory),
    title(3, no_directory_number),
    b"rubbish between records\x1d",
    # Its terminator is lost, so only the next leader tells where it ends.
    title(4, lambda good: good[:-1]),
    title(5),
    b"\r\n\x1a",
    title(6, lambda good: good[:40]),
)
