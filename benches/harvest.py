"""Harvesting beside Sickle: CPU seconds, records per CPU second, memory.

    python benches/harvest.py TARGET [RECORDS]

TARGET is cargo's release folder, with `pinakes` and `examples/oai-server`. The repository has its
pages ready before anyone asks, 100 records each, and is measured by nobody. Each round harvests
into a new catalogue; the best of three counts. Needs Sickle; `scripts/bench-harvest` sets it up.
"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import urllib.request

ROUNDS = 3

SICKLE = """
import sys
from sickle import Sickle
count = 0
for record in Sickle(sys.argv[1]).ListRecords(metadataPrefix="oai_dc"):
    count += bool(record.header.identifier and record.raw)
print(count)
"""


def measure(command, **environment):
    """CPU seconds, wall seconds and peak memory in MB of a process."""
    script = (
        "import os, resource, subprocess, sys, time; begun = time.time();"
        "code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode;"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(code, used.ru_utime + used.ru_stime, time.time() - begun, used.ru_maxrss // 1024)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, *map(str, command)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    code, cpu, wall, memory = ran.stdout.split()
    assert code == "0", f"{command} ended with {code}"
    return float(cpu), float(wall), int(memory)


def best(rounds):
    return min(rounds, key=lambda figures: figures[0])


def show(what, records, figures):
    cpu, wall, memory = figures
    print(f"{what:34} {records / cpu:>9,.0f} records per CPU s   {cpu:6.2f} s CPU  {wall:6.2f} s wall  {memory:>5} MB", flush=True)


def main():
    target = pathlib.Path(sys.argv[1]).resolve()
    records = int(sys.argv[2]) if len(sys.argv) > 2 else 20_000
    pinakes = target / "pinakes"
    serving = [target / "examples/oai-server", "--records", records, "--page", 100, "--prerendered", "--prefixes", "oai_dc"]
    server = subprocess.Popen([str(word) for word in serving], stdout=subprocess.PIPE, text=True)
    url = server.stdout.readline().strip()
    try:
        with tempfile.TemporaryDirectory() as folder:
            compare(pinakes, url, records, pathlib.Path(folder))
    finally:
        server.kill()


def compare(pinakes, url, records, folder):
    authority = url.removeprefix("http://").split("/")[0]

    def catalogue(name):
        path = folder / name
        subprocess.run([pinakes, "init", path, "--base", "https://catalogue.example/", "--quiet"], check=True, stderr=subprocess.DEVNULL)
        (path / "sources").mkdir(exist_ok=True)
        (path / "sources/repo.toml").write_text(
            f'name = "r"\nwebsite = "{url}"\ntechnique = "oai-pmh"\n[oai]\nurl = "{url}"\nprefix = "oai_dc"\n'
            f'[access]\nallow_private = ["{authority}"]\ndelay = 0\n'
        )
        return path

    def harvest(name, *options):
        return measure([pinakes, "harvest", "--quiet", *options], PINAKES_CATALOGUE=str(catalogue(name)))

    # What was harvested, as files to import: the pages themselves.
    pages, token = [], "metadataPrefix=oai_dc"
    while token:
        with urllib.request.urlopen(f"{url}?verb=ListRecords&{token}") as answer:
            page = answer.read().decode()
        pages.append(page)
        _, found, rest = page.partition("<resumptionToken")
        text = rest.partition(">")[2].partition("<")[0] if found else ""
        token = f"resumptionToken={urllib.request.quote(text, safe='')}" if text else ""
    for number, page in enumerate(pages):
        (folder / f"page{number:05}.xml").write_text(page)
    files = sorted(folder.glob("page*.xml"))

    def imported(name):
        command = [pinakes, "import", "--quiet", "--source", "repo", *files]
        return measure(command, PINAKES_CATALOGUE=str(catalogue(name)))

    print(f"{records} records, {sum(map(len, pages)) / 1e6:.1f} MB, {len(pages)} pages; best of {ROUNDS}; load {os.getloadavg()[0]:.1f}", flush=True)
    sickle = best([measure([sys.executable, "-c", SICKLE, url]) for _ in range(ROUNDS)])
    show("Sickle, nothing stored", records, sickle)
    archive = best([harvest(f"archive{n}", "--archive-only") for n in range(ROUNDS)])
    show("pinakes harvest --archive-only", records, archive)
    whole = best([harvest(f"whole{n}") for n in range(ROUNDS)])
    show("pinakes harvest, mapped and stored", records, whole)
    files = best([imported(f"files{n}") for n in range(ROUNDS)])
    show("pinakes import of the same pages", records, files)
    print(f"harvest : Sickle {sickle[0] / archive[0]:.1f} times; harvest : import {whole[0] / files[0]:.2f} of the CPU time")


main()
