"""One layer of convolutions and two on other images than MNIST, with nothing chosen for a set.

- Sets: 10,000 digits, digits at random angles, digits on photographs in colour, and silhouettes of
  animals; see ``image_data.py``. ``--cifar FOLDER`` adds CIFAR-10 from a folder with ``train`` and
  ``test``, which have a folder of images for each class.
- Settings: one layer of 222 filters, from the sphere and whitened, and Gaussian neurons on the
  values of as many whitened filters, and of twice as many. All have about 2,000 columns. The stored
  results have three seeds, but two of digits on photographs, and one of CIFAR-10.
- These settings were chosen on MNIST, CIFAR-10 and letters of fonts, before any other set was
  measured.

Run as ``make bench-image-sets``; writes ``benchmarks/results/image_sets.json`` after each fit.
``--only NAME ...`` measures some sets and keeps the others of that file.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import image_data
from circumstances import circumstances
from images import Setting, fitted
from trickless.neurons import Gaussian, Layers, Patches

PATH = Path(__file__).parent / "results" / "image_sets.json"
SEEDS = 0, 1, 2
WHITENED = Patches(filters="whitened")
SETTINGS = {
    "one layer, normal": Setting(Patches(), 222),
    "one layer, whitened": Setting(WHITENED, 222),
    "two layers": Setting(Layers([WHITENED, Gaussian()], hidden=222), 1000),
    "two layers, more filters": Setting(Layers([WHITENED, Gaussian()], hidden=444), 1000),
}
SETS = {
    "digits": image_data.digits,
    "turned digits": image_data.turned,
    "animals": image_data.animals,
    "digits on photos": image_data.on_photos,
}


def run(names: list[str], cifar: Path | None, seeds: list[int], n_jobs: int | None) -> None:
    loaders = {name: SETS[name] for name in names}
    if cifar is not None:
        loaders["CIFAR-10"] = lambda: image_data.folders(cifar)
    splits = {name: load() for name, load in loaders.items()}
    result = json.loads(PATH.read_text()) if PATH.exists() else {"sets": {}}
    for seed in seeds:
        for name, split in splits.items():
            one = result["sets"].setdefault(name, {"settings": {}})
            one["shape"] = list(split.X_train.shape)
            one["n_test"] = len(split.y_test)
            for key, setting in SETTINGS.items():
                measured = fitted(setting, seed, split, n_jobs)
                kept = one["settings"].setdefault(
                    key,
                    {
                        "neurons": " ".join(repr(setting.neurons).split()),
                        "n_neurons": setting.n_neurons,
                        "filters": setting.filters,
                        "runs": [],
                    },
                )
                others = [run for run in kept["runs"] if run["seed"] != seed]
                kept["runs"] = sorted([*others, measured], key=lambda run: run["seed"])
                result["circumstances"] = circumstances()
                PATH.write_text(json.dumps(result, indent=1) + "\n")
                print(f"{name:<17}", f"{key:<24}", measured, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="*", choices=list(SETS), help="some sets")
    parser.add_argument("--cifar", type=Path, metavar="FOLDER", help="images of CIFAR-10")
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS), metavar="N")
    parser.add_argument("--jobs", type=int, metavar="N", help="threads; all cores by default")
    options = parser.parse_args()
    names = list(SETS) if options.only is None else options.only
    run(names, options.cifar, options.seeds, options.jobs)
    print(f"wrote {PATH}")


if __name__ == "__main__":
    main()
