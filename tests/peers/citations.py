"""Compares citations with what foreign parsers read: `citations.py FOLDER`.

FOLDER holds meant.json, and the same list as list.bib, list.ris and list.json. Every field is
compared; CSL-JSON is checked against the types of its schema and rendered with citeproc-py.
"""

import json
import pathlib
import re
import sys
import unicodedata
import warnings

import bibtexparser
import rispy
from bibtexparser import middlewares
from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
from citeproc.source.json import CiteProcJSON

warnings.simplefilter("ignore")
folder = pathlib.Path(sys.argv[1])
meant = json.loads((folder / "meant.json").read_text())
DIRECTIONS = "\ufeff\ufffe\uffff\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def clean(text):
    text = re.sub(r"\s+", " ", text or "").strip()
    kept = "".join(c for c in text if c not in DIRECTIONS and unicodedata.category(c) != "Cc")
    return re.sub(" +", " ", kept).strip()


def title(item):
    subtitle = clean(item["subtitle"])
    return f"{clean(item['title'])}: {subtitle}" if subtitle else clean(item["title"])


def date_parts(item):
    found = re.match(r"(\d{4})(?:-(0\d|1[0-2])(?:-([0-3]\d))?)?(?![0-9A-Za-z])", item["date"])
    return [int(part) for part in found.groups() if part] if found else []


def people(item, roles):
    """Names as (family, given) or (literal,), without those that are empty."""
    names = []
    for one in item["people"]:
        if one["role"] in roles:
            parts = [clean(one.get(key)) for key in ("family", "given", "literal")]
            names.append(tuple(part for part in parts if part))
    return [name for name in names if name]


# BibTeX

COMMANDS = {"textbraceleft": "{", "textbraceright": "}", "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^"}


def unescaped(text):
    """What LaTeX would print."""
    def replace(found):
        return COMMANDS[found[1]] if found[1] else found[2]

    return re.sub(r"\{\\(text[a-z]+)\}|\\([$&#%_])", replace, text)


def address(text):
    for c in '{}\\" ':
        text = text.replace(c, f"%{ord(c):02X}")
    return text


def bare(name):
    """A part of a name, without the pair of braces that protects it."""
    protected = re.fullmatch(r"\{(.*)\}", name)
    return protected[1] if protected and not name.startswith("{\\text") else name


library = bibtexparser.parse_string((folder / "list.bib").read_text())
assert not library.failed_blocks, library.failed_blocks
assert len(library.entries) == len(meant) == len({entry.key for entry in library.entries})
parted = bibtexparser.parse_string(
    (folder / "list.bib").read_text(), append_middleware=[middlewares.SeparateCoAuthors()]
)
for item, entry, names in zip(meant, library.entries, parted.entries):
    field = {one.key: one.value for one in entry.fields}
    assert unescaped(field["title"][1:-1]) == title(item), (item, field)
    kind = item["kind"]
    container = "journal" if kind == "article" else "booktitle"
    publisher = "school" if kind == "thesis" else "publisher"
    pairs = {container: "container", publisher: "publisher", "address": "place", "number": "issue"}
    for key in ("series", "edition", "volume", "isbn", "issn", "language", "abstract"):
        pairs[key] = key
    for key, name in pairs.items():
        assert unescaped(field.get(key, "")) == clean(item[name]), (key, item, field)
    assert field.get("doi", "") == address(clean(item["doi"]))
    assert field.get("url", "") == address(clean(item["url"]))
    pages = clean(item["pages"]).replace("-", "--")
    assert unescaped(field.get("pages", "")) == pages, (item, field)
    parts = date_parts(item)
    assert field.get("year", "") == (f"{parts[0]:04}" if parts else clean(item["date"]))
    keywords = [clean(word).replace(",", ";") for word in item["keywords"]]
    assert unescaped(field.get("keywords", "")) == ", ".join(word for word in keywords if word)
    roles = {"author": ("author", "composer", "director", "performer"), "editor": ("editor", "compiler")}
    roles["translator"] = ("translator",)
    for key, group in roles.items():
        expected = people(item, group)
        found = next((one.value for one in names.fields if one.key == key), [])
        assert len(found) == len(expected), (key, found, expected)
        for text, name in zip(found, expected):
            whole = unescaped(text if len(name) == 2 else bare(text))
            parts = [f"{{{part}}}" for part in name]
            either = [[part, protected] for part, protected in zip(name, parts)]
            options = [", ".join([a, b]) for a in either[0] for b in either[1]] if len(name) == 2 else list(name)
            assert whole in options, (text, whole, options)

# RIS

references = rispy.loads((folder / "list.ris").read_bytes().decode())
assert len(references) == len(meant)
for item, found in zip(meant, references):
    assert found["title"] == title(item), (item, found)
    names = {
        "secondary_title": "container", "tertiary_title": "series", "edition": "edition", "volume": "volume",
        "number": "issue", "publisher": "publisher", "place_published": "place", "doi": "doi",
        "language": "language", "abstract": "abstract",
    }
    for key, name in names.items():
        assert found.get(key, "") == clean(item[name]), (key, item, found)
    assert found.get("issn", "") == (clean(item["isbn"]) or clean(item["issn"]))
    assert found.get("urls", [""]) == [clean(item["url"]).replace(";", "%3B").replace(" ", "%20")], (item, found)
    parts = date_parts(item)
    assert found.get("year", "") == (f"{parts[0]:04}" if parts else "")
    first, _, last = clean(item["pages"]).partition("-")
    assert (found.get("start_page", ""), found.get("end_page", "")) == (first.strip(), last.strip()), (item, found)
    assert found.get("keywords", []) == [word for word in map(clean, item["keywords"]) if word]
    tags = {"authors": ("author", "composer", "director", "performer"), "secondary_authors": ("editor", "compiler")}
    tags["subsidiary_authors"] = ("translator", "illustrator")
    for key, group in tags.items():
        assert found.get(key, []) == [", ".join(name) for name in people(item, group)], (key, item, found)

# CSL-JSON

NAMES = {"author", "editor", "translator", "compiler", "illustrator", "composer", "director", "performer", "contributor"}
TYPES = {
    "book", "article-journal", "chapter", "thesis", "periodical", "map", "musical_score", "motion_picture", "song",
    "webpage", "dataset", "document",
}
items = json.loads((folder / "list.json").read_text())
assert len(items) == len(meant)
for item, found in zip(meant, items):
    assert found["id"] == item["id"] and found["type"] in TYPES
    names = {
        "container-title": "container", "collection-title": "series", "edition": "edition", "volume": "volume",
        "issue": "issue", "page": "pages", "publisher": "publisher", "publisher-place": "place", "ISBN": "isbn",
        "ISSN": "issn", "DOI": "doi", "URL": "url", "language": "language", "abstract": "abstract",
    }
    assert found["title"] == title(item)
    for key, name in names.items():
        assert found.get(key, "") == clean(item[name]), (key, item, found)
    parts = date_parts(item)
    if parts:
        assert found["issued"] == {"date-parts": [parts]}
    else:
        assert found.get("issued", {}).get("literal", "") == clean(item["date"])
    for key in NAMES:
        role = "other" if key == "contributor" else key
        got = [tuple(name[part] for part in ("family", "given", "literal") if part in name) for name in found.get(key, [])]
        assert got == people(item, (role,)), (key, item, found)
    known = set(names) | NAMES | {"id", "type", "title", "issued", "keyword"}
    assert set(found) <= known, set(found) - known

source = CiteProcJSON(items)
style = CitationStylesStyle("harvard-cite-them-right", validate=False)
bibliography = CitationStylesBibliography(style, source, formatter.plain)
for item in items:
    bibliography.register(Citation([CitationItem(item["id"])]))
rendered = [str(line) for line in bibliography.bibliography()]
assert all(rendered)
print(f"bibtex {len(library.entries)}, ris {len(references)}, csl {len(items)}, rendered {len(rendered)}")
