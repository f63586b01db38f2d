"""Lists a repository as Sickle sees it: `sickle.py URL PREFIX`, a record a line.

A line is the identifier, and ` deleted` for a deleted record. Every other record must have an
element for metadata that lxml can read.
"""

import sys

# This file has the name of the package.
sys.path.pop(0)
from sickle import Sickle  # noqa: E402

url, prefix = sys.argv[1:]
for record in Sickle(url).ListRecords(metadataPrefix=prefix):
    header = record.header
    if not header.deleted:
        metadata = record.xml.find("{*}metadata")
        assert metadata is not None and len(metadata) == 1, header.identifier
    print(header.identifier + (" deleted" if header.deleted else ""))
