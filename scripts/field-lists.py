#!/usr/bin/env python3
"""Writes mappings/fields/<format>.tsv: the tags of a format and the codes of their subfields.

usage: scripts/field-lists.py FORMAT SCHEMA.json

SCHEMA is an Avram schema (https://format.gbv.de/schema/avram/specification). Only tags, codes and
repeatability are taken from it: facts of the standard, by which `pinakes mapping check` finds
a mistyped tag.
"""
import json
import pathlib
import sys


# Fields the schemas leave out: holdings that stand in bibliographic records, obsolete fields that
# old records still have, and control fields that SUDOC adds to UNIMARC.
BESIDES = {
    "marc21": "261 262 265 305 350 853 854 855 863 864 865 866 867 868 876 877 878".split(),
    "unimarc": "002 004 006 007 008".split(),
}


# How many positions a field has (in UNIMARC its $a), where the standard counts them.
LENGTHS = {
    "marc21": {"LDR": 24, "005": 16, "006": 18, "007": 23, "008": 40},
    "unimarc": {"LDR": 24, "005": 16, "100": 36},
}


def main() -> None:
    name, schema = sys.argv[1:3]
    fields = json.load(open(schema, encoding="utf-8"))["fields"]
    lines = [f"# The fields of {name}: tag, subfield codes, whether the field may be repeated, how many positions it has.", "tag\tsubfields\trepeatable\tlength"]
    for tag in BESIDES.get(name, []):
        fields.setdefault(tag, {"repeatable": True})
    for key in sorted(fields):
        tag = key[:3]
        codes = "".join(sorted(code for code in (fields[key].get("subfields") or {}) if len(code) == 1))
        repeatable = "yes" if fields[key].get("repeatable") else "no"
        length = LENGTHS.get(name, {}).get(tag)
        lines.append(f"{tag}\t{codes}\t{repeatable}" + (f"\t{length}" if length else ""))
    folder = pathlib.Path(__file__).resolve().parent.parent / "mappings" / "fields"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


main()
