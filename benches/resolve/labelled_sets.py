"""Labelled sets as tables of features, to learn weights from and to score with.

    python benches/resolve/labelled_sets.py PINAKES DATA OUT

DATA holds `er/` and `records/bench/`, each as its README describes it. Every set goes through the shipped rules and
queries: `import`, then `resolve features`. OUT gets for each set and profile NAME.PROFILE.tsv, and what is known of it:
NAME.PROFILE.pairs.tsv, NAME.PROFILE.clusters.tsv, NAME.PROFILE.unique.tsv (see `labelled.rs`).
"""

import csv
import hashlib
import pathlib
import shutil
import subprocess
import sys
import tempfile

EXPECTATIONS = pathlib.Path(__file__).parent / "expectations"
PAIRS = ("left_source", "left_id", "right_source", "right_id", "same")
CLUSTERS = ("source", "id", "cluster")


class Sets:
    def __init__(self, program, data, out):
        self.program, self.er, self.data, self.out = program, data / "er", data, out
        out.mkdir(parents=True, exist_ok=True)

    def write(self, name, header, rows):
        clean = (tuple(str(cell).replace("\t", " ").replace("\n", " ") for cell in row) for row in rows)
        lines = ["\t".join(row) for row in (header, *clean)]
        (self.out / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def features(self, name, profiles, *imports):
        """Imports files as sources into a catalogue of their own, and writes what is compared."""
        with tempfile.TemporaryDirectory() as folder:
            catalogue = pathlib.Path(folder) / "catalogue"
            self.run("init", catalogue, "--base", "https://catalogue.example/")
            # Weights are about to be learned; those in the program may be of other profiles.
            shutil.copytree(EXPECTATIONS, catalogue / "mappings" / "resolve" / "weights")
            for source, path in imports:
                self.run("--catalogue", catalogue, "import", "--source", source, path)
            for profile in profiles:
                table = self.run("--catalogue", catalogue, "resolve", "features", "--profile", profile)
                (self.out / f"{name}.{profile}.tsv").write_bytes(table)

    def run(self, *arguments):
        command = [str(part) for part in (self.program, "--quiet", *arguments)]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        if done.returncode == 2:
            sys.exit(f"{' '.join(command)} could not run")
        return done.stdout

    def rows(self, path, **how):
        with open(self.er / path, newline="", encoding="utf-8") as table:
            return list(csv.DictReader(table, **how))

    def judged(self):
        """Pairs of one real file, read by a cataloguer's rules."""
        path = self.data / "records" / "bench" / "marc21_bib_utf8_6532.mrc"
        self.features("judged", ("instance", "work", "agent"), ("bench", path))
        # A record without 001 is called after its place in the file there, and after its content here.
        records = path.read_bytes().split(b"\x1d")[:-1]
        hashed = {f"#{at}": hashlib.sha256(record + b"\x1d").hexdigest()[:32] for at, record in enumerate(records)}
        name = lambda given: f"sha256-{hashed[given]}" if given in hashed else given
        pairs = self.rows("judged-marc/pairs.tsv", delimiter="\t", quoting=csv.QUOTE_NONE)
        for profile, column in (("instance", "same_publication"), ("work", "same_work")):
            known = [row for row in pairs if row[column] in ("yes", "no")]
            told = [("bench", name(row["a"]), "bench", name(row["b"]), int(row[column] == "yes")) for row in known]
            self.write(f"judged.{profile}.pairs", PAIRS, told)
        self.headings()

    def headings(self):
        """Persons by their dated headings; heading and year of birth are hidden, so that the rest has to tell."""
        lines = (self.out / "judged.agent.tsv").read_text(encoding="utf-8").splitlines()
        rows = [tuple(line.split("\t")) for line in lines[1:]]
        heading = {row[:3]: row[4] for row in rows if row[3] == "heading" and row[4][-4:].isdigit()}
        born = {row[:3] for row in rows if row[3] == "birth"}
        known = {thing: name for thing, name in heading.items() if thing in born}
        shown = [row for row in rows if row[:3] in known and row[3] not in ("heading", "birth", "key")]
        self.write("headings.agent", tuple(lines[0].split("\t")), shown)
        told = [(source, f"{id}{node}", name) for (source, id, node), name in known.items()]
        self.write("headings.agent.clusters", CLUSTERS, told)
        (self.out / "judged.agent.tsv").rename(self.out / "judged.agent.features")

    def hathi(self):
        self.features("hathi", ("instance", "work"), ("hathi", self.er / "hathi-marc" / "records.marc.jsonl.gz"))
        labels = self.rows("hathi-marc/labels.csv")
        pairs = [("hathi", row["id1"], "hathi", row["id2"], row["label"]) for row in labels]
        self.write("hathi.instance.pairs", PAIRS, pairs)
        clusters = self.rows("hathi-marc/clusters.csv")
        self.write("hathi.instance.clusters", CLUSTERS, [("hathi", row["id"], row["cluster"]) for row in clusters])
        # One publication is one work; of other pairs the labels say nothing as works.
        self.write("hathi.work.pairs", PAIRS, [pair for pair in pairs if pair[4] == "1"])

    def dblp(self):
        tables = [(source, self.er / "dblp-acm" / f"{source}.csv") for source in ("dblp", "acm")]
        self.features("dblp", ("instance",), *tables)
        group = {}
        for at, row in enumerate(self.rows("dblp-acm/matches.csv")):
            group["dblp", row["id_dblp"]] = group["acm", row["id_acm"]] = f"match {at}"
        all = [(source, row["id"]) for source, path in tables for row in self.rows(path)]
        told = [(source, id, group.get((source, id), f"{source} {id}")) for source, id in all]
        # Not of works: a column that appears under one title in every issue is one there.
        self.write("dblp.instance.clusters", CLUSTERS, told)
        self.write("dblp.instance.unique", ("source",), [("dblp",), ("acm",)])

    def uw(self):
        tables = [(source, self.er / "uw-uiuc-books" / f"{source}.csv") for source in ("uw", "uiuc")]
        self.features("uw", ("instance", "work"), *tables)
        labels = self.rows("uw-uiuc-books/labels.csv")
        for profile in ("instance", "work"):
            told = [("uw", row["id_uw"], "uiuc", row["id_uiuc"], row["label"]) for row in labels]
            self.write(f"uw.{profile}.pairs", PAIRS, told)

    def febrl(self):
        for name, files in (("febrl1", 1), ("febrl2", 1), ("febrl3", 1), ("febrl4", 2)):
            sources = [name] if files == 1 else [f"{name}a", f"{name}b"]
            features, told = [], []
            for source in sources:
                for row in self.rows(f"febrl/{source}.csv", skipinitialspace=True):
                    row = {column.strip(): (value or "").strip() for column, value in row.items()}
                    said = {
                        "name": f"{row['surname']}, {row['given_name']}",
                        "birth": row["date_of_birth"],
                        "identifier": row["soc_sec_id"],
                        "address": f"{row['street_number']} {row['address_1']}",
                        "place": row["suburb"],
                        "postcode": row["postcode"],
                    }
                    key = row["rec_id"]
                    features += [(source, key, "", name, value) for name, value in said.items() if value.strip(" ,")]
                    told.append((source, key, key.split("-")[1]))
            self.write(f"{name}.agent", ("source", "id", "node", "feature", "value"), features)
            self.write(f"{name}.agent.clusters", CLUSTERS, told)
            if files > 1:
                self.write(f"{name}.agent.unique", ("source",), [(source,) for source in sources])


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    program, data, out = (pathlib.Path(argument).absolute() for argument in sys.argv[1:])
    sets = Sets(program, data, out)
    for one in (sets.judged, sets.hathi, sets.dblp, sets.uw, sets.febrl):
        one()


if __name__ == "__main__":
    main()
