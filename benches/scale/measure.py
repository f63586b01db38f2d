"""What a catalogue costs as it grows: import, resolving, queries, search and disk at several sizes.

    python benches/scale/measure.py DATA --binary PINAKES [--records N]... [--steps STEP,...] [--work DIR]

DATA holds the real records whose words the generated ones are made of (`generate.py`). Generated files stay
in the work folder and are used again; a catalogue is made anew when `import` is among the steps. A step that
fails is reported, and the others go on. The table goes to standard output; every figure is also a line of
JSON in `figures.jsonl` of the work folder. `scripts/bench-scale` builds the program and runs this.
"""

import argparse
import hashlib
import json
import os
import pathlib
import random
import re
import sys

import disk
import rivals
from marc import read
from process import WITH_DATA_ERRORS, Failed, Server, percentile, run

HERE = pathlib.Path(__file__).parent
BASE = "https://catalogue.example/"
SOURCE = "scale"
STEPS = "import resolve again truth disk graph scan search sparql loader thousand splink".split()
NOT_USUAL = {"splink"}
ADDED = 1000
ASKED, WARMING_UP = 200, 20
SCAN = "SELECT (COUNT(?t) AS ?n) WHERE { GRAPH ?g { ?i a bf:Instance ; rdfs:label ?t } }"
FACETS = "&facets=type,language,decade,subject,creator"
LANGUAGES = ["en", "fr", "de", "es", "ru", "it"]
TWELVE_HOURS = 43_200


def version():
    """Tells one generator from another: a file that an older one made is not what is asked for."""
    modules = ("marc", "vocabulary", "compose", "vary", "generate")
    return hashlib.sha256(b"".join((HERE / f"{module}.py").read_bytes() for module in modules)).hexdigest()[:6]


class Bench:
    """One catalogue of so many records."""

    def __init__(self, given, records):
        self.data, self.binary, self.oxigraph = given.data, given.binary, given.oxigraph
        self.records, self.seed = records, given.seed
        self.work = given.work / f"{records}-{given.seed}-{version()}"
        self.work.mkdir(parents=True, exist_ok=True)
        self.catalogue = self.work / "catalogue"
        self.chance = random.Random(given.seed)
        self.spent = {}

    def pinakes(self, *arguments, allowed=(0,)):
        return run(self.binary, "--quiet", "--catalogue", self.catalogue, *arguments, allowed=allowed)

    def generated(self, name, first, records):
        """A file of generated records, made if it is not there."""
        path = self.work / f"{name}.mrc"
        if not path.exists():
            part = path.with_suffix(".part.mrc")
            wanted = ["--first", first, "--records", records, "--seed", self.seed, "--out", part]
            run(sys.executable, HERE / "generate.py", self.data, *wanted)
            part.with_suffix(".truth.tsv").replace(path.with_suffix(".truth.tsv"))
            part.replace(path)
        return path

    def prepare(self, afresh):
        self.file = self.generated("records", 0, self.records)
        if afresh or not self.catalogue.exists():
            disk.remove(self.catalogue)
            run(self.binary, "--quiet", "init", self.catalogue, "--base", BASE)

    # Every step gives rows: what was measured, its cost or None, and other figures.

    def step_import(self):
        return [("import", self.take_in(self.file, self.records), {})]

    def take_in(self, file, records):
        told, cost = self.pinakes("import", "--source", SOURCE, "--json", file, allowed=(0, WITH_DATA_ERRORS))
        new = json.loads(told)["new"]
        if new != records:
            raise Failed(f"{new:,} of {records:,} records were new; `--steps import` begins with an empty catalogue")
        return cost

    def step_resolve(self):
        return [("resolve, first", *self.resolve())]

    def resolve(self):
        """What it cost, how much was compared and written, and why what was there changed."""
        told, cost = self.pinakes("resolve", "--json")
        told = json.loads(told)
        written = sum(told[what] for what in ("new", "changed", "removed"))
        figures = {"pairs_compared": sum(told["compared"].values()), "entries_written": written}
        reasons = "; ".join(told.get("because", [])) if told["changed"] or told["removed"] else ""
        return cost, figures | ({"because": reasons} if reasons else {})

    def step_again(self):
        return [("resolve, nothing new", *self.resolve())]

    def step_thousand(self):
        """A fifth of the new records describes what is there already."""
        file = self.generated("added", self.records, ADDED)
        rows = [(f"import {ADDED:,} more", self.take_in(file, ADDED), {"of": ADDED})]
        cost, figures = self.resolve()
        return rows + [(f"resolve {ADDED:,} more", cost, figures | {"of": ADDED})]

    def step_truth(self):
        """Pairs of records that are one publication, against those that are one entry."""
        table = self.work / "truth.csv"
        with open(self.file.with_suffix(".truth.tsv")) as truth, open(table, "w") as out:
            next(truth)
            out.write("source,id,cluster\n")
            out.writelines(f"{SOURCE}," + line.replace("\t", ",") for line in truth)
        told, cost = self.pinakes("resolve", "evaluate", "--truth", table, "--json")
        pairs = json.loads(told)["pairs"]
        figures = {name: round(pairs[name], 4) for name in ("precision", "recall", "f1")}
        return [("pairs against the truth", cost, figures)]

    def step_disk(self):
        parts = disk.parts(self.catalogue)
        parts["generated file"] = self.file.stat().st_size
        return [
            (f"disk: {part}", None, {"mb": round(size / 1e6, 1), "kb_a_record": round(size / self.records / 1000, 3)})
            for part, size in parts.items()
        ]

    def any_record(self):
        return f"{BASE}record/{SOURCE}/u{self.chance.randint(1, self.records)}"

    def step_graph(self):
        def ask(server):
            return server.query(f"SELECT * WHERE {{ GRAPH <{self.any_record()}> {{ ?s ?p ?o }} }}")

        return self.timed({"GRAPH of a record": ask}, bindings)

    def step_scan(self):
        said, cost = self.pinakes(
            "query", "-e", SCAN, "--format", "json", "--timeout", TWELVE_HOURS, "--max-rows", 10, "--wait", TWELVE_HOURS
        )
        found = int(json.loads(said)["results"]["bindings"][0]["n"]["value"])
        rates = {"found": found, "records_a_second": round(self.records / cost.wall)}
        return [("GRAPH ?g over all records", cost, rates | {"records_a_cpu_second": round(self.records / cost.cpu)})]

    def step_sparql(self):
        entry = "SELECT ?entry {{ ?entry a bf:Instance ; pin:member <{}#instance> }}"
        entries = []

        def next_entry(server):
            while len(entries) < WARMING_UP:
                found = json.loads(server.query(entry.format(self.any_record()))[0])["results"]["bindings"]
                entries.extend(row["entry"]["value"] for row in found)
            return entries.pop(0)

        def asking(pattern):
            return lambda server: server.query(f"SELECT * {{ <{next_entry(server)}> {pattern} }}")

        kinds = {
            "SPARQL: all properties of an entry": asking("?property ?value"),
            "SPARQL: three properties of an entry": asking("rdfs:label ?label ; bf:title ?title ; pin:member ?member"),
            "SPARQL: the entry of a record": lambda server: server.query(entry.format(self.any_record())),
        }
        return self.timed(kinds, bindings)

    def step_search(self):
        words = self.words()

        def word():
            return words[int(len(words) * self.chance.random())]

        kinds = {
            "search: one word": lambda: f"/api/search?q={word()}{FACETS}",
            "search: two words": lambda: f"/api/search?q={word()}+{word()}{FACETS}",
            "search: a word and a language": lambda: (
                f"/api/search?q={word()}&language={self.chance.choice(LANGUAGES)}{FACETS}"
            ),
            "search: everything": lambda: f"/api/search?q={FACETS}",
            "suggestions: three letters": lambda: f"/api/suggest?q={word()[:3]}",
        }
        asking = {kind: lambda server, make=make: server.get(make()) for kind, make in kinds.items()}
        return self.timed(asking, hits)

    def words(self):
        """Words of titles, each as often as it occurs there."""
        words = []
        for number, record in enumerate(read(self.file)):
            if number == 5000:
                break
            for code, text in (pair for field in record.fields if field[0] == "245" for pair in field[2]):
                words += [word.lower() for word in re.findall(r"[A-Za-z]{4,}", text) if code == "a"]
        return words

    def timed(self, kinds, count):
        """Asks each kind of question many times, one after the other, of one server."""
        rows = []
        with Server(self.binary, self.catalogue) as server:
            for kind, ask in kinds.items():
                answers = [ask(server) for _ in range(WARMING_UP + ASKED)][WARMING_UP:]
                waits = [wait for _, wait in answers]
                found = sum(count(body) for body, _ in answers) / len(answers)
                if not found:
                    raise Failed(f"{kind}: nothing was found")
                told = {f"p{share}_ms": round(percentile(waits, share / 100), 1) for share in (50, 95)}
                rows.append((kind, None, told | {"found": round(found, 1)}))
        return rows + [("the server meanwhile", server.cost, {})]

    def step_loader(self):
        statements = self.work / "master.nq"
        self.pinakes("export", "--graph", "master", "--format", "nquads", "--output", statements)
        cost, count = rivals.load(self.oxigraph, statements, self.work / "oxigraph")
        told = {"statements": count}
        if not count:
            raise Failed("the master is empty")
        ours = [self.spent.get(what) for what in ("import", "resolve, first")]
        if all(ours):
            told["import_and_resolve_to_load"] = round(sum(ours) / cost.cpu, 2)
        return [("oxigraph load, the master's N-Quads", cost, told)]

    def step_splink(self):
        return rivals.splink(self.file, self.work)


def bindings(body):
    return len(json.loads(body)["results"]["bindings"])


def hits(body):
    answer = json.loads(body)
    return answer.get("total", 0) if isinstance(answer, dict) else len(answer)


def measure(bench, steps, out):
    """Goes through the steps and tells each figure as soon as it is there."""
    try:
        bench.prepare("import" in steps)
    except (Failed, OSError) as error:
        print(f"| {bench.records:,} | **failed**: {error} | | | | | |", flush=True)
        return
    for step in steps:
        try:
            rows = getattr(bench, f"step_{step}")()
        except (Failed, OSError, ValueError, KeyError) as error:
            rows = [(step, None, {"failed": f"{type(error).__name__}: {error}"})]
        for what, cost, figures in rows:
            tell(bench, what, cost, figures, out)


def tell(bench, what, cost, figures, out):
    line = {"records": bench.records, "what": what, "load": round(os.getloadavg()[0], 2)}
    cells = [f"{bench.records:,}", what, "", "", "", ""]
    if cost:
        bench.spent[what] = cost.cpu
        each = cost.cpu / figures.get("of", bench.records) * 1e6
        line |= {"cpu": round(cost.cpu, 2), "wall": round(cost.wall, 2), "memory_mb": round(cost.memory, 1)}
        line["cpu_us_a_record"] = round(each, 1)
        cells[2:] = [f"{cost.cpu:,.1f} s", f"{cost.wall:,.1f} s", f"{cost.memory:,.0f} MB", f"{each:,.0f} µs"]
    out.write(json.dumps(line | figures, ensure_ascii=False) + "\n")
    out.flush()
    said = ", ".join(f"{name.replace('_', ' ')} {value:,}" if not isinstance(value, str) else f"{name}: {value}"
                     for name, value in figures.items() if name != "of")
    print(f"| {' | '.join(cells)} | {said} | {line['load']} |", flush=True)


def steps_of(text):
    steps = text.split(",")
    unknown = set(steps) - set(STEPS)
    if unknown:
        raise argparse.ArgumentTypeError(f"no such step: {', '.join(sorted(unknown))}; there are {', '.join(STEPS)}")
    return [step for step in STEPS if step in steps]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "pinakes"
    usual = [step for step in STEPS if step not in NOT_USUAL]
    add("data", type=pathlib.Path, help="the folder with the real records")
    add("--binary", type=pathlib.Path, required=True, metavar="PATH", help="the program to measure")
    add("--records", type=int, action="append", metavar="N", help="so many; may be repeated [default: 100000]")
    steps = f"of {','.join(STEPS)} [default: all but splink]"
    add("--steps", type=steps_of, default=usual, metavar="STEP,...", help=steps)
    add("--splink", action="store_true", help="resolve the same records with Splink, too")
    add("--work", type=pathlib.Path, default=HERE.parent / "work", metavar="DIR", help="[default: benches/work]")
    add("--seed", type=int, default=1)
    add("--oxigraph", type=pathlib.Path, default=cache / "venv/bin/oxigraph", metavar="PATH", help="Oxigraph's program")
    given = parser.parse_args()
    given.binary = given.binary.resolve()
    given.steps += ["splink"] * (given.splink and "splink" not in given.steps)
    return given


def main():
    given = arguments()
    given.work.mkdir(parents=True, exist_ok=True)
    size = given.binary.stat().st_size
    print(f"Program: {size / 1e6:,.1f} MB. Memory is the peak of the largest process.\n")
    print("| records | what | CPU | wall | memory | CPU a record | figures | load |\n|---|---|---|---|---|---|---|---|")
    with open(given.work / "figures.jsonl", "a", encoding="utf-8") as out:
        out.write(json.dumps({"what": "program", "mb": round(size / 1e6, 1)}) + "\n")
        for records in given.records or [100_000]:
            measure(Bench(given, records), given.steps, out)


if __name__ == "__main__":
    main()
