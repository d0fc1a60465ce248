"""The detector of drift where River's detectors are."""

import random

from river import drift, evaluate, metrics, naive_bayes

from trickless.inference import DriftDetector


def swapped(n_rows, at):
    """Two classes, whose labels are swapped at a row."""
    draw = random.Random(0)
    for i in range(n_rows):
        y = draw.random() < 0.5
        yield {"a": draw.gauss(2 * y, 1), "b": draw.gauss(0, 1)}, y != (i >= at)


def test_a_model_is_retrained_when_the_detector_sees_its_errors_change():
    detector = DriftDetector(window_size=50, random_state=0)
    model = drift.DriftRetrainingClassifier(naive_bayes.GaussianNB(), detector, False)
    retrained = evaluate.progressive_val_score(swapped(1500, 700), model, metrics.Accuracy())
    alone = evaluate.progressive_val_score(
        swapped(1500, 700), naive_bayes.GaussianNB(), metrics.Accuracy()
    )
    assert model.drift_detector.n_detections == 1
    assert 700 < model.drift_detector.drift_.row < 740
    assert abs(model.drift_detector.drift_.change_row - 700) < 10
    assert retrained.get() > alone.get() + 0.2


def test_rows_of_river_are_watched_beside_its_detectors():
    """Labels are swapped, while each column and the labels keep their distributions."""
    detectors = {"ours": DriftDetector(window_size=100, random_state=0).clone()}
    detectors |= {name: drift.ADWIN() for name in "aby"}
    found = dict.fromkeys(detectors, 0)
    for x, y in swapped(1200, 800):
        for name, detector in detectors.items():
            detector.update(x | {"y": y} if name == "ours" else (x | {"y": y})[name])
            found[name] += detector.drift_detected
    assert found == {"ours": 1, "a": 0, "b": 0, "y": 0}
    assert 800 <= detectors["ours"].drift_.row < 880
