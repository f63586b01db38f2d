#!/usr/bin/env python3
"""Writes the ISO 2709 files of this folder from the `.mrk` beside them. Needs Python alone."""

from pathlib import Path

for master in sorted(Path(__file__).parent.glob("*.mrk")):
    leader, directory, body = "", b"", b""
    for line in master.read_text(encoding="utf-8").splitlines():
        tag, rest = line[1:4], line[6:].replace("\\", " ")
        if tag == "LDR":
            leader = rest
            continue
        data = rest.replace("$", "\x1f").encode() + b"\x1e"
        directory += b"%s%04d%05d" % (tag.encode(), len(data), len(body))
        body += data
    base = 24 + len(directory) + 1
    head = f"{base + len(body) + 1:05}{leader[5:12]}{base:05}{leader[17:]}".encode()
    master.with_suffix(".mrc").write_bytes(head + directory + b"\x1e" + body + b"\x1d")
