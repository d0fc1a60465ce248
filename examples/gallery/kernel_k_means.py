"""k-means in the space of a kernel: k-means on random features.

The kernel of random convolutions compares images by their patches, and has no formula. k-means on
its features finds more of the ten digits than k-means on pixels.
"""

from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

from trickless import RandomFeatures
from trickless.neurons import Patches

SEEDS = range(3)


def main():
    X, digit = load_digits(return_X_y=True)
    found = {}
    for name in ("pixels", "random convolutions"):
        scores = []
        for seed in SEEDS:
            model = KMeans(10, n_init=10, random_state=seed)
            if name != "pixels":
                neurons = Patches(shape=(8, 8), patch=3)
                model = make_pipeline(RandomFeatures(neurons, 1000, random_state=seed), model)
            scores.append(adjusted_rand_score(digit, model.fit_predict(X / 16)))
        found[name] = sum(scores) / len(scores)
        print(f"k-means on {name:<20} adjusted Rand index {found[name]:.2f}")
    return found


if __name__ == "__main__":
    main()
