"""What other readers make of record files.

Usage: peers.py LIST OUT. LIST holds one path a line. For each file one JSON line goes to OUT:
{"file": path, "records": n, "content": [record, ...] or null}, where n is the largest number
of records that yaz-marcdump, pymarc or the XML parser of Python finds, and a record is what
pymarc reads: [[tag, indicators, [[code, value], ...]], ...]; null for one it refuses.
"""

import io
import json
import logging
import subprocess
import sys
import unicodedata
import xml.etree.ElementTree as etree

import pymarc

logging.disable(logging.CRITICAL)


def local(tag):
    return tag.rsplit("}", 1)[-1] if isinstance(tag, str) else ""


def xml_records(path):
    """Records by their shape: MARC, OAI, MODS; the outermost counts."""
    try:
        root = etree.parse(path).getroot()
    except (etree.ParseError, ValueError, LookupError):
        return 0
    found = 0
    stack = [root]
    while stack:
        element = stack.pop()
        children = {local(child.tag) for child in element}
        name = local(element.tag)
        marc = name == "record" and children & {"leader", "controlfield", "datafield"}
        oai = name == "record" and "header" in children
        if marc or oai or name == "mods":
            found += 1
        else:
            stack.extend(element)
    return found


def yaz_records(path):
    run = subprocess.run(["yaz-marcdump", "-p", "-n", path], capture_output=True, check=False)
    return run.stdout.count(b"<!-- Record ") if run.returncode == 0 else 0


# The halves of a ligature or double tilde: pymarc writes two marks, we the one that MARC 21
# names since 2004.
HALVES = str.maketrans({"\uFE20": "\u0361", "\uFE21": None, "\uFE22": "\u0360", "\uFE23": None})


def plain(text):
    return unicodedata.normalize("NFC", (text or "").translate(HALVES))


def shape(record):
    fields = []
    for field in record.fields:
        if field.is_control_field():
            fields.append([field.tag, "  ", [["", plain(field.data)]]])
        else:
            indicators = "".join((str(i) + " ")[0] for i in field.indicators)
            subfields = [[s.code, plain(s.value)] for s in field.subfields]
            fields.append([field.tag, indicators, subfields])
    return fields


def marc_records(path):
    content = []
    with open(path, "rb") as handle:
        reader = pymarc.MARCReader(io.BytesIO(handle.read()), to_unicode=True, permissive=True)
        while True:
            try:
                record = next(reader)
            except StopIteration:
                break
            except Exception:
                break
            content.append(None if record is None else shape(record))
    return content


def main():
    with open(sys.argv[1]) as names, open(sys.argv[2], "w") as out:
        for path in names.read().split("\n"):
            if not path:
                continue
            with open(path, "rb") as handle:
                head = handle.read(64).lstrip()
            if head.startswith((b"<", b"\xef\xbb\xbf")):
                row = {"file": path, "records": xml_records(path), "content": None}
            else:
                content = marc_records(path)
                good = sum(record is not None for record in content)
                row = {"file": path, "records": max(good, yaz_records(path)), "content": content}
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


main()
