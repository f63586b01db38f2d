"""Writes as many MARC 21 records as are wanted, out of the words of real ones, and the truth about them.

    python benches/scale/generate.py DATA --records N --out FILE.mrc [--seed S] [--first K] [--processes P]

DATA holds `records/bench/marc21_bib_utf8_6532.mrc`. One record in five describes what an earlier one
describes: another cataloguer's record. FILE.truth.tsv says, for every record, which publication it is of.

Record K of a seed is always the same, so a file of a million begins with the file of a thousand, and
`--first 1000000 --records 1000` makes what comes after it: new records, of which a fifth describes
publications of the first million.
"""

import argparse
import concurrent.futures
import functools
import pathlib
import random

import marc
from compose import Composer, is_duplicate, mix, original
from vary import varied
from vocabulary import Vocabulary

COLLECTION = "records/bench/marc21_bib_utf8_6532.mrc"
CHUNK = 2000


class Maker:
    def __init__(self, data, seed):
        self.composer, self.seed = Composer(Vocabulary(pathlib.Path(data) / COLLECTION), seed), seed

    def publication_of(self, number):
        """The number of a record is that of its publication, but where it is of an earlier one."""
        return original(mix(self.seed, number, 4) % number) if is_duplicate(number) else number

    def record(self, number):
        of = self.publication_of(number)
        publication = self.composer.publication(of)
        chance = random.Random(mix(self.seed, number, 6))
        frame, fields = publication.template, publication.fields
        if of != number:
            fields = varied(publication, chance)
            frame = self.composer.template(number)
        whole = fields + framed(frame, number)
        whole.append(["001", "", [["", f"u{number + 1}"]], None])
        whole.sort(key=lambda field: field[0])
        # Content and form are the publication's, the level of description is the library's.
        leader = publication.template.leader[:17] + frame.leader[17:20]
        return of, marc.write(leader, whole)


def framed(template, number):
    """Fields of the cataloguing library, with numbers of this record."""
    system = 10_000_000 + number
    return [
        [tag, indicators, [[code, numbers(text, widths, system)] for code, (text, widths) in subfields], None]
        for tag, indicators, subfields in template.frame
    ]


def numbers(text, widths, system):
    if not widths:
        return text
    return text % tuple(system * (2 * at + 1) % 10**width for at, width in enumerate(widths))


@functools.cache
def maker(data, seed):
    """One for each process: taking the words apart takes a second."""
    return Maker(data, seed)


def chunk(data, seed, begin, end):
    """The records from one number to another, and the lines that tell the truth about them."""
    made = [maker(data, seed).record(number) for number in range(begin, end)]
    truth = "".join([f"u{number}\t{of + 1}\n" for number, (of, _) in enumerate(made, begin + 1)])
    return b"".join([record for _, record in made]), truth


def write(data, seed, first, records, out, processes):
    """In order and without holding more than a few chunks."""
    begins = range(first, first + records, CHUNK)
    spans = [(begin, min(begin + CHUNK, first + records)) for begin in begins]
    with (
        concurrent.futures.ProcessPoolExecutor(processes) as pool,
        open(out, "wb") as file,
        open(truth_of(out), "w", encoding="ascii") as truth,
    ):
        truth.write("id\tpublication\n")
        waiting = []
        for span in spans + [None] * 2 * processes:
            if span:
                waiting.append(pool.submit(chunk, str(data), seed, *span))
            if waiting and (span is None or len(waiting) > 2 * processes):
                made, lines = waiting.pop(0).result()
                file.write(made)
                truth.write(lines)


def truth_of(out):
    return pathlib.Path(out).with_suffix(".truth.tsv")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path, help=f"the folder that holds {COLLECTION}")
    parser.add_argument("--records", type=int, required=True, metavar="N")
    parser.add_argument("--out", type=pathlib.Path, required=True, metavar="FILE.mrc")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, metavar="K", help="begin with this record [default: 0]")
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    write(given.data, given.seed, given.first, given.records, given.out, given.processes)


if __name__ == "__main__":
    main()
