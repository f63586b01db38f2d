"""Others at the same work on the same records: Oxigraph's loader, and Splink."""

import collections
import csv
import json
import pathlib
import re
import sys

import disk
from marc import read
from process import Cost, run

SPLINK = pathlib.Path(__file__).parent.parent / "splink.py"
FEATURES = "id title part creator year publisher place extent edition language type isbn".split()


def load(oxigraph, statements, store):
    """What it costs to load a file of N-Quads, and how many statements it has."""
    disk.remove(store)
    _, cost = run(oxigraph, "load", "--location", store, "--file", statements)
    with open(statements, "rb") as lines:
        return cost, sum(1 for _ in lines)


def splink(records, work):
    """Resolves the records and gives a row for each threshold; what it costs is the same for all."""
    table, out = work / "splink.csv", work / "splink-groups"
    write_table(records, table)
    # Its u are learned from random pairs alone: among look-alikes, some levels never occur here, and it ends.
    # Isolated, or the file would be what `import splink` finds.
    said, whole = run(sys.executable, "-I", SPLINK, "--run", "generated", out, table, "--textbook")
    told = json.loads(said.splitlines()[-1])
    truth = groups_in(records.with_suffix(".truth.tsv"), "\t")
    rows = []
    for path in sorted(work.glob(f"{out.name}-*")):
        quality = score(groups_in(path, ","), truth)
        cost = Cost(told["cpu"], told["wall"], told["memory"] * 1024) if not rows else None
        rows.append((f"Splink {told['version']}, textbook u, at {path.name.rpartition('-')[2]}", cost, quality))
    return rows + [("Splink, whole process", whole, {})]


def write_table(records, table):
    """The columns that `benches/splink.py` compares, from the fields that say them."""
    with open(table, "w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(FEATURES)
        for record in read(records):
            row = features(record)
            rows.writerow([row.get(feature, "") for feature in FEATURES])


def features(record):
    said = collections.defaultdict(list)
    for tag, _, subfields, _ in record.fields:
        for code, text in subfields:
            said[tag + code].append(text)

    def first(*names):
        return next((said[name][0].strip(" :;,/.") for name in names if said[name]), "")

    fixed = first("008")
    found = re.search(r"\d{4}", first("260c", "264c") or fixed[7:11])
    return {
        "id": said["001"][0],
        "title": " : ".join(part for part in (first("245a"), first("245b")) if part),
        "part": first("245n"),
        "creator": " | ".join(name.strip(" .,") for name in said["100a"] + said["700a"]),
        "year": found[0] if found else "",
        "publisher": first("260b", "264b"),
        "place": first("260a", "264a"),
        "extent": first("300a"),
        "edition": first("250a"),
        "language": fixed[35:38],
        "type": record.leader[6],
        # ISBN-10 and ISBN-13 share nine digits.
        "isbn": re.sub(r"^(?:978)?(\d{9})[\dX].*$", r"\1", first("020a")),
    }


def groups_in(path, separator):
    with open(path, encoding="utf-8") as lines:
        next(lines)
        return dict(line.rstrip("\n").replace('"', "").split(separator, 1) for line in lines)


def score(found, truth):
    """Precision, recall and F1 of pairs."""

    def pairs(counted):
        return sum(count * (count - 1) // 2 for count in collections.Counter(counted).values())

    right = pairs((found[record], group) for record, group in truth.items())
    precision, recall = right / max(pairs(found.values()), 1), right / max(pairs(truth.values()), 1)
    f1 = 2 * precision * recall / max(precision + recall, 1e-9)
    return {"precision": round(precision, 4), "recall": round(recall, 4), "f1": round(f1, 4)}
