#!/usr/bin/env python3
"""Writes the code tables under src/decode/charset/tables/.

A code table is a list of facts: this code of that standard stands for this character of
Unicode. The facts are asked of converters that are installed anyway, one code at a time:

  libyaz (Debian package yaz)   the sets of MARC-8, and ISO 5426
  iconv (the C library)         ISO 6937
  Python's own codecs           the ISO 8859 parts, KOI8-R and the code pages

Where a converter is known to be wrong or silent, CORRECTIONS says so with a reason.

  scripts/charset-tables.py            write the tables
  scripts/charset-tables.py --check    also compare the MARC-8 sets with pymarc, if importable
"""

import ctypes
import subprocess
import sys
import unicodedata
from pathlib import Path

TABLES = Path(__file__).resolve().parent.parent / "src/decode/charset/tables"

# Final byte of the designating escape sequence, name, escape sequence that selects the set.
MARC8_SETS = [
    ("E", "extended Latin, ANSEL (ANSI/NISO Z39.47)", b"\x1b(!E"),
    ("N", "basic Cyrillic (ISO-IR 37, ISO 5427)", b"\x1b(N"),
    ("Q", "extended Cyrillic (ISO-IR 54, ISO 5427)", b"\x1b(Q"),
    ("S", "basic Greek (ISO-IR 55, ISO 5428)", b"\x1b(S"),
    ("2", "basic and extended Hebrew (ISO-IR 164 and MARC 21)", b"\x1b(2"),
    ("3", "basic Arabic (ISO-IR 89, ASMO 449, ISO 9036)", b"\x1b(3"),
    ("4", "extended Arabic (ISO 11822)", b"\x1b(4"),
    ("g", "Greek symbols (MARC 21)", b"\x1bg"),
    ("b", "subscripts (MARC 21)", b"\x1bb"),
    ("p", "superscripts (MARC 21)", b"\x1bp"),
]

# The second halves of the marks that span two letters: MARC 21 and this project map the first half
# to the whole mark, so the second half has nothing left to say.
SECOND_HALVES = {("E", 0x6C), ("E", 0x7B), ("P", 0x5E), ("P", 0x5F)}

# (set, code) -> (character, combining), where the converter does not tell what the standard says.
CORRECTIONS = {
    # ISO 5426 4/12 is the turned comma above; the converter gives the comma above.
    ("P", 0x4C): (0x0312, True),
    # ISO 5426 5/13 with 5/14 is the ligature, the same mark as ANSEL 6/11 with 6/12.
    ("P", 0x5D): (0x0361, True),
}

# Codes in East Asian text that lie outside the grid of EACC but stand in real records.
EACC_STRAYS = {
    0x212320: 0x3000,
    0x21203D: 0x2026,
    0x212040: 0x201C,
    0x7F2014: 0x2014,
    0x7F2019: 0x2019,
    0x7F2020: 0x201D,
    0x7F2122: 0x2122,
}

CODE_PAGES = [
    ("iso-8859-1", "iso8859_1"),
    ("iso-8859-2", "iso8859_2"),
    ("iso-8859-5", "iso8859_5"),
    ("iso-8859-7", "iso8859_7"),
    ("iso-8859-8", "iso8859_8"),
    ("iso-8859-9", "iso8859_9"),
    ("iso-8859-15", "iso8859_15"),
    ("koi8-r", "koi8_r"),
    ("cp850", "cp850"),
    ("cp852", "cp852"),
    ("cp866", "cp866"),
    ("cp1250", "cp1250"),
    ("cp1251", "cp1251"),
    ("cp1252", "cp1252"),
    ("cp1253", "cp1253"),
]


class Yaz:
    """The converter of libyaz for one character set, called directly.

    The command yaz-iconv reads in small pieces and loses what an escape sequence designated
    whenever a piece ends inside one.
    """

    library = ctypes.CDLL("libyaz.so.5")
    library.yaz_iconv_open.restype = ctypes.c_void_p
    library.yaz_iconv.restype = ctypes.c_size_t
    library.yaz_iconv.argtypes = [ctypes.c_void_p] + [ctypes.c_void_p] * 4

    def __init__(self, source):
        self.handle = self.library.yaz_iconv_open(b"utf-8", source.encode())

    def __call__(self, data):
        source, target = ctypes.create_string_buffer(data), ctypes.create_string_buffer(64)
        read, written = ctypes.c_char_p(ctypes.addressof(source)), ctypes.c_char_p(ctypes.addressof(target))
        left, room = ctypes.c_size_t(len(data)), ctypes.c_size_t(64)
        refs = [ctypes.byref(x) for x in (read, left, written, room)]
        self.library.yaz_iconv(self.handle, *refs)
        self.library.yaz_iconv(self.handle, None, None, *refs[2:])
        return target.raw[: 64 - room.value].decode("utf-8", "replace")


def iconv(source, data):
    run = subprocess.run(["iconv", "-f", source, "-t", "utf-8"], input=data, capture_output=True)
    return run.stdout.decode("utf-8", "replace") if run.returncode == 0 else ""


def probe(converter, before, code, after):
    """What one code becomes: (character, combining), or None.

    A letter follows the code. A mark precedes its letter in these sets and follows it in
    Unicode, so a mark is what comes out behind the letter.
    """
    text = converter(before + bytes([code]) + after + b"x")
    if text in ("", "x"):
        return None
    if text.startswith("x"):
        return ord(text[1]), True
    return ord(text[0]), False


def graphic_sets():
    marc8, iso5426 = Yaz("marc8"), Yaz("iso5426")
    for final, _, escape in MARC8_SETS:
        for code in range(0x21, 0x80):
            yield final, code, probe(marc8, escape, code, b"\x1b(B")
    for code in range(0x21, 0x7F):
        yield "P", code, probe(iso5426, b"", code | 0x80, b"")
    for code, found in iso6937():
        yield "R", code, found


def write_graphic_sets():
    lines = [
        "# Graphic sets that fill one half of an eight-bit code, by the escape sequence that designates them.",
        "# Facts: MARC 21 specifications, part 5 (code tables); ISO 5426; ISO 6937. Made by scripts/charset-tables.py.",
        "#",
        "# Final byte of the escape sequence and its set:",
        *[f"#   {final}  {name}" for final, name, _ in MARC8_SETS],
        "#   P  extended Latin (ISO-IR 53, ISO 5426)",
        "#   R  extended Latin (ISO-IR 156, ISO 6937)",
        "#",
        "# kind: letter; mark (written before its letter in these sets); silent (second half of a mark",
        "# that spans two letters: its first half already became the whole mark).",
        "# final\tcode\tunicode\tkind",
    ]
    table = {}
    for final, code, found in graphic_sets():
        found = CORRECTIONS.get((final, code), found)
        if (final, code) in SECOND_HALVES:
            lines.append(f"{final}\t{code:02X}\t-\tsilent")
        elif found and found[0] != 0x7F:
            table[final, code] = found
            lines.append(f"{final}\t{code:02X}\t{found[0]:04X}\t{'mark' if found[1] else 'letter'}")
    write("graphic-sets.tsv", lines)
    return table


def write_eacc():
    eacc = Yaz("marc8")
    table = dict(EACC_STRAYS)
    grid = range(0x21, 0x7F)
    for code in (bytes([plane, row, cell]) for plane in grid for row in grid for cell in grid):
        answer = eacc(b"\x1b$1" + code + b"\x1b(B")
        if answer:
            table[int.from_bytes(code, "big")] = ord(answer)
    lines = [
        "# East Asian Character Code (ANSI/NISO Z39.64), the three-byte set of MARC-8, in order of code.",
        "# Facts: MARC 21 specifications, part 5 (code tables). Made by scripts/charset-tables.py.",
        "# code\tunicode",
        *[f"{code:06X}\t{table[code]:04X}" for code in sorted(table)],
    ]
    write("eacc.tsv", lines)
    return table


def iso6937():
    """ISO 6937 marks only exist together with the letters they may stand on: take them apart again."""
    for code in range(0xA0, 0x100):
        single = iconv("ISO6937", bytes([code]) + b" ")
        if len(single) == 2:
            yield code & 0x7F, (ord(single[0]), False)
            continue
        pairs = [unicodedata.normalize("NFD", iconv("ISO6937", bytes([code, letter]))) for letter in b"ACEGOUSYZaceouyz"]
        marks = {pair[1] for pair in pairs if len(pair) == 2}
        if marks:
            assert len(marks) == 1, (hex(code), marks)
            yield code & 0x7F, (ord(marks.pop()), True)


def write_code_pages():
    lines = [
        "# Eight-bit code pages, right half (80-FF); the left half is ASCII. Codes not listed are unassigned.",
        "# Facts: ISO/IEC 8859; RFC 1489 (KOI8-R); the vendors' code pages. Made by scripts/charset-tables.py.",
        "# In the ISO 8859 parts, 88 and 89 are the controls of ISO 6630 that bracket words to be ignored in",
        "# filing; Unicode keeps them at 0098 and 009C. The other codes 80-9F are controls and stay unassigned.",
        "# set\tcode\tunicode",
    ]
    for name, codec in CODE_PAGES:
        for code in range(0x80, 0x100):
            if name.startswith("iso") and code < 0xA0:
                if code in (0x88, 0x89):
                    lines.append(f"{name}\t{code:02X}\t{0x98 if code == 0x88 else 0x9C:04X}")
                continue
            try:
                lines.append(f"{name}\t{code:02X}\t{ord(bytes([code]).decode(codec)):04X}")
            except UnicodeDecodeError:
                continue
    write("code-pages.tsv", lines)


def write(name, lines):
    TABLES.mkdir(parents=True, exist_ok=True)
    (TABLES / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{name}: {sum(not line.startswith('#') for line in lines)} rows", file=sys.stderr)


def check(sets, eacc):
    from pymarc import marc8_mapping

    differences = 0
    for (final, code), found in sorted(sets.items()):
        if final in "PR":
            continue
        theirs = marc8_mapping.CODESETS[ord(final)]
        other = theirs.get(code) or theirs.get(code | 0x80)
        if other is None or (other[0], bool(other[1])) != found:
            differences += 1
            print(f"{final} {code:02X}: here {found}, pymarc {other}", file=sys.stderr)
    theirs = {code: value[0] for code, value in marc8_mapping.CODESETS[0x31].items()} | marc8_mapping.ODD_MAP
    for code in sorted(theirs.keys() | eacc.keys()):
        if theirs.get(code) != eacc.get(code):
            differences += 1
            print(f"EACC {code:06X}: here {eacc.get(code)}, pymarc {theirs.get(code)}", file=sys.stderr)
    print(f"{differences} differences", file=sys.stderr)


def main():
    sets = write_graphic_sets()
    eacc = write_eacc()
    write_code_pages()
    if "--check" in sys.argv[1:]:
        check(sets, eacc)


if __name__ == "__main__":
    main()
