"""Compares the records of a folder with those that Sickle gets: `sickle.py URL FOLDER`.

A file of the folder holds one <record> as received. Identifier, datestamp, sets and every
element of the Dublin Core must be equal; a deleted record must not be in the folder.
"""

import pathlib
import sys

# This file has the name of the package.
sys.path.pop(0)
from lxml import etree  # noqa: E402
from sickle import Sickle  # noqa: E402
from sickle.models import Record  # noqa: E402


def words(record):
    header = record.header
    return header.identifier, header.datestamp, sorted(header.setSpecs), record.metadata


url, folder = sys.argv[1:]
parser = etree.XMLParser(recover=False)
held = {}
for path in pathlib.Path(folder).glob("*.xml"):
    record = Record(etree.fromstring(path.read_bytes(), parser))
    held[record.header.identifier] = words(record)

deleted = 0
for record in Sickle(url).ListRecords(metadataPrefix="oai_dc"):
    identifier = record.header.identifier
    if record.deleted:
        deleted += 1
        assert identifier not in held, f"{identifier} is deleted and held"
    else:
        assert held.pop(identifier, None) == words(record), f"{identifier} differs"
        held[identifier, "seen"] = True
left = [identifier for identifier in held if isinstance(identifier, str)]
assert not left, f"held, and not given: {left}"
print(f"{len(held)} records equal, {deleted} deleted")
