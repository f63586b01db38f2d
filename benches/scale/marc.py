"""Reads and writes ISO 2709, so that the bench needs nothing but Python.

A record is a leader and fields; a field is `[tag, indicators, subfields, agent]`, where subfields are pairs
`[code, text]`. A control field has one subfield with an empty code. `agent` is who a field names, if it was
made up here, and None in what is read.
"""

import collections

Record = collections.namedtuple("Record", "leader fields")

FIELD_END, RECORD_END, DELIMITER = "\x1e", b"\x1d", "\x1f"


BLOCK = 2**20


def read(path):
    """The records that are well formed; others are passed over, for they only lend words."""
    for data in pieces(path):
        try:
            record = parse(data.lstrip(b"\r\n"))
        except (ValueError, IndexError):
            continue
        if record.fields:
            yield record


def pieces(path):
    """What lies between the ends of records; never more than a block in memory."""
    rest = b""
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            *whole, rest = (rest + block).split(RECORD_END)
            yield from whole


def parse(data):
    base = int(data[12:17])
    directory = data[24 : base - 1]
    fields = []
    for at in range(0, len(directory), 12):
        entry = directory[at : at + 12].decode("ascii")
        begin = base + int(entry[7:])
        text = data[begin : begin + int(entry[3:7]) - 1].decode("utf-8")
        tag = entry[:3]
        if tag < "010":
            fields.append([tag, "", [["", text]], None])
        else:
            indicators, *subfields = text.split(DELIMITER)
            fields.append([tag, indicators[:2].ljust(2), [[one[0], one[1:]] for one in subfields if one], None])
    return Record(data[:24].decode("ascii"), fields)


def write(leader, fields):
    """A record as bytes: lengths and the places where things begin are worked out here."""
    directory, bodies, begin = [], [], 0
    for tag, indicators, subfields, _ in fields:
        if tag < "010":
            text = subfields[0][1]
        else:
            text = indicators + "".join([DELIMITER + code + value for code, value in subfields])
        body = (text + FIELD_END).encode("utf-8")
        directory.append("%s%04d%05d" % (tag, len(body), begin))
        bodies.append(body)
        begin += len(body)
    base = 24 + 12 * len(bodies) + 1
    total = base + begin + 1
    head = "%05d%sa22%05d%s4500%s\x1e" % (total, leader[5:9], base, leader[17:20], "".join(directory))
    return head.encode("ascii") + b"".join(bodies) + RECORD_END
