"""How much of the disk each part of a catalogue takes."""

import shutil

PARTS = ["store", "archive", "resolution", "index", "holdings.log", "register"]


def parts(catalogue):
    """Bytes by part, in the order of PARTS; then what else there is, and all of it."""
    sizes = dict.fromkeys(PARTS, 0) | {"the rest": 0}
    for path in catalogue.iterdir():
        sizes[path.name if path.name in PARTS else "the rest"] += used(path)
    return sizes | {"the whole": sum(sizes.values())}


def used(path):
    """What files take in whole blocks, as `du` counts; one that has two names is counted once."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    states = [file.stat() for file in files]
    return sum({(state.st_dev, state.st_ino): state.st_blocks * 512 for state in states}.values())


def remove(folder):
    shutil.rmtree(folder, ignore_errors=True)
