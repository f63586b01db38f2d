"""Resolving public sets through the commands, as a user does: import, resolve, evaluate.

    python benches/resolve/command.py PINAKES FOLDER [--only dblp-acm] [--keep DIR] [--generated CSV]

PINAKES is the program, FOLDER holds the sets (dblp-acm, hathi-marc, uw-uiuc-books), each as its README
describes it. Tables and MARC-in-JSON come in through the shipped rules; no label is used but to score.
`--generated` is a table that `cargo bench --bench resolve -- csv N` wrote; its sources are imported one
by one. What a step took, in CPU seconds and memory, is printed beside what it found.
"""

import argparse
import contextlib
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time


class Catalogue:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.run("init", folder, "--base", "https://catalogue.example/")

    def run(self, *arguments):
        """Runs a command; gives what it printed, and says what it took."""
        command = [str(part) for part in (self.program, "--quiet", "--catalogue", self.folder, *arguments)]
        if arguments[0] == "init":
            command = [str(part) for part in (self.program, "--quiet", *arguments)]
        start = time.time()
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)
            out = process.stdout.read()
            _, status, used = os.wait4(process.pid, 0)
            if os.waitstatus_to_exitcode(status) == 2:
                errors.seek(0)
                sys.exit(f"{' '.join(command)}\n{errors.read().decode()}")
        print(
            f"  {' '.join(str(part) for part in arguments[:4] if not str(part).startswith('/'))}: "
            f"{time.time() - start:.1f} s, {used.ru_utime + used.ru_stime:.1f} CPU s, {used.ru_maxrss / 1e6:.2f} GB",
            flush=True,
        )
        return out

    def free_of_duplicates(self, source):
        described = [f"name={source}", f"website=https://{source}.example/", "technique=manual", "duplicates=none"]
        self.run("source", "add", source, *described)

    def evaluate(self, truth, *arguments):
        return json.loads(self.run("resolve", "evaluate", "--truth", truth, *arguments, "--json"))


def tell(what, found):
    def line(name, measured):
        print(f"  {what}, {name}: P {measured['precision']:.4f} R {measured['recall']:.4f} F1 {measured['f1']:.4f}")

    line("pairs", found["pairs"])
    for name in ("clusters", "b_cubed"):
        if found.get(name):
            line(name, found[name])
    for precision, probability, measured in found["at_precision"]:
        print(f"  {what}, at precision {precision}: recall {measured['recall']:.4f} (from {probability:.4f} on)")
    print(f"  {what}, keys in common: {found['blocking_recall']:.4f}; rows of strangers: {found['unknown']}", flush=True)


def dblp_acm(catalogue, folder):
    for source in ("dblp", "acm"):
        catalogue.free_of_duplicates(source)
        catalogue.run("import", "--source", source, folder / f"{source}.csv")
    catalogue.run("resolve")
    tell("DBLP-ACM", catalogue.evaluate(folder / "matches.csv"))


def hathi_marc(catalogue, folder):
    catalogue.run("import", "--source", "hathi", folder / "records.marc.jsonl.gz")
    catalogue.run("resolve")
    tell("labelled pairs", catalogue.evaluate(folder / "labels.csv"))
    tell("all records", catalogue.evaluate(folder / "clusters.csv"))


def uw_uiuc_books(catalogue, folder):
    for source in ("uw", "uiuc"):
        catalogue.run("import", "--source", source, folder / f"{source}.csv")
    catalogue.run("resolve")
    tell("labelled pairs", catalogue.evaluate(folder / "labels.csv"))


def generated(catalogue, table):
    """Writes a table for each source, and the truth."""
    folder = catalogue.folder.parent
    with contextlib.ExitStack() as opened, open(table, newline="", encoding="utf-8") as rows:
        rows = csv.DictReader(rows)
        names = [name for name in rows.fieldnames if name not in ("instance", "family")]
        columns = [{"creator": "authors", "extent": "pages", "part": "volume"}.get(name, name) for name in names]
        outs = {}
        with open(folder / "truth.csv", "w", newline="", encoding="utf-8") as truth:
            truth = csv.writer(truth)
            truth.writerow(["source", "id", "cluster"])
            for row in rows:
                source, key = row["id"].split("/", 1)
                if source not in outs:
                    out = opened.enter_context(open(folder / f"{source}.csv", "w", newline="", encoding="utf-8"))
                    outs[source] = csv.writer(out)
                    outs[source].writerow(columns)
                row["id"], row["creator"] = key, row["creator"].replace(" | ", "; ")
                outs[source].writerow([row[name] for name in names])
                truth.writerow([source, key, row["instance"]])
    files = {source: folder / f"{source}.csv" for source in sorted(outs)}
    for source, path in files.items():
        catalogue.run("import", "--source", source, path)
    catalogue.run("resolve")
    catalogue.run("resolve")
    tell("generated", catalogue.evaluate(folder / "truth.csv"))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("pinakes", type=pathlib.Path, help="the program to measure")
    arguments.add_argument("folder", type=pathlib.Path, help="the folder with the sets")
    arguments.add_argument("--only", choices=["dblp-acm", "hathi-marc", "uw-uiuc-books"], help="one set alone")
    arguments.add_argument("--generated", type=pathlib.Path, metavar="CSV", help="generated records instead")
    arguments.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="leave the catalogues in this folder")
    given = arguments.parse_args()
    sets = {"dblp-acm": dblp_acm, "hathi-marc": hathi_marc, "uw-uiuc-books": uw_uiuc_books}
    with tempfile.TemporaryDirectory() as temporary:
        work = given.keep or pathlib.Path(temporary)
        if given.generated:
            folder = work / "generated"
            folder.mkdir(parents=True)
            generated(Catalogue(given.pinakes.absolute(), folder / "catalogue"), given.generated)
            return
        for name, measure in sets.items():
            if given.only in (None, name):
                print(name, flush=True)
                (work / name).mkdir(parents=True)
                measure(Catalogue(given.pinakes.absolute(), work / name / "catalogue"), given.folder / name)


if __name__ == "__main__":
    main()
