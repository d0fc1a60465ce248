"""Several labels a row, for Kitchen Sinks with the squared loss."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import log_loss
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import MultiLabelBinarizer, scale

import trickless
from cases import EVERY
from trickless import DoublyStochasticClassifier, KitchenSinksClassifier
from trickless.neurons import Gaussian

X, Y = make_multilabel_classification(400, 10, n_classes=4, random_state=0)
X = scale(X)
MODEL = KitchenSinksClassifier(Gaussian(3.0), 60, random_state=0, dtype="float64")


@pytest.mark.parametrize("options", [{}, {"alpha": 1e-3}, {"solver": "iterative", "tol": 1e-12}])
def test_each_label_is_learned_as_by_itself(options):
    model = clone(MODEL).set_params(**options).fit(X[:300], Y[:300])
    apart = OneVsRestClassifier(clone(MODEL).set_params(**options)).fit(X[:300], Y[:300])
    rtol = 1e-3 if "solver" in options else 1e-9
    found, expected = (m.decision_function(X[300:]) for m in (model, apart))
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol)
    np.testing.assert_array_equal(model.predict(X[300:]), apart.predict(X[300:]))
    np.testing.assert_array_equal(model.classes_, np.arange(4))
    assert model.score(X[300:], Y[300:]) == (model.predict(X[300:]) == Y[300:]).all(axis=1).mean()
    p = model.predict_proba(X[300:])
    np.testing.assert_array_equal(p > 0.5, model.predict(X[300:]))
    shares = np.broadcast_to(Y[:300].mean(axis=0), p.shape)
    assert np.mean([log_loss(Y[300:, j], p[:, j]) for j in range(4)]) < np.mean(
        [log_loss(Y[300:, j], shares[:, j]) for j in range(4)]
    )


def test_label_sets_are_learned_in_streams_merged_and_saved(tmp_path):
    whole = clone(MODEL).fit(X, Y)
    streamed = clone(MODEL).partial_fit(X[:100], Y[:100]).partial_fit(X[100:], Y[100:])
    parts = [clone(MODEL).fit(X[rows], Y[rows]) for rows in (slice(100), slice(100, None))]
    trickless.save(whole, tmp_path / "model")
    for model in (streamed, parts[0].merge(parts[1]), trickless.load(tmp_path / "model")):
        np.testing.assert_allclose(
            model.predict_proba(X), whole.predict_proba(X), rtol=1e-6, atol=1e-9
        )
        assert model.predict(X).shape == Y.shape


def test_wrong_label_sets_are_refused():
    model = clone(MODEL)
    with pytest.raises(ValueError, match=r"y has 4 columns and holds 2.*Remedy: .*MultiOutput"):
        model.fit(X, 2 * Y)
    with pytest.raises(ValueError, match=r"class_weight='balanced' does not go with several"):
        clone(model).set_params(class_weight="balanced").fit(X, Y)
    with pytest.raises(ValueError, match=r"y has the shape \(400, 3\), but the first batch"):
        clone(model).partial_fit(X, Y).partial_fit(X, Y[:, :3])
    with pytest.raises(ValueError, match=r"y has the shape \(400,\), but the first batch"):
        clone(model).partial_fit(X, Y).partial_fit(X, Y[:, 0])
    with pytest.raises(ValueError, match=r"classes=\['a', 'b'\], but y has a column"):
        clone(model).partial_fit(X, Y, classes=["a", "b"])
    with pytest.raises(ValueError, match=r"\(400, 4\), but one label .*KitchenSinksClassifier"):
        clone(model).set_params(loss="log_loss").fit(X, Y)


@pytest.mark.parametrize(
    "model", [m for m in EVERY if hasattr(m, "predict_proba")], ids=lambda m: type(m).__name__
)
def test_all_other_classifiers_name_a_remedy(model):
    model = clone(model)
    if isinstance(model, KitchenSinksClassifier):
        model.set_params(loss="hinge")
    with pytest.raises(ValueError, match=r"one label for each row .*MultiOutputClassifier"):
        model.fit(X, Y)
    with pytest.raises(ValueError, match=r"one label for each row .*MultiOutputClassifier"):
        DoublyStochasticClassifier().partial_fit(X, Y)


def test_labels_of_another_shape_do_not_follow():
    """Neither one label a row after several, nor several after one, nor in a merge."""
    one, rows = Y[:, 0] + 2 * Y[:, 1], slice(300)
    first = [clone(MODEL).fit(X[rows], y[rows]) for y in (one, Y)]
    assert first[0].classes_.tolist() == first[1].classes_.tolist() == [0, 1, 2, 3]
    said = r"y has the shape .*, but the first batch had (one label|a column for each).*Remedy"
    for model, y in zip(first, (Y, one), strict=True):
        decisions = model.decision_function(X)
        for call in (model.partial_fit, model.score):
            with pytest.raises(ValueError, match=said):
                call(X[300:], y[300:])
        with pytest.raises(ValueError, match=said):
            clone(MODEL).fit_stream([(X[:50], y[:50]), (X[:50], (one if y is Y else Y)[:50])])
        np.testing.assert_array_equal(model.decision_function(X), decisions)
    for mine, other in (first, first[::-1]):
        with pytest.raises(ValueError, match=r"y of another shape.*Remedy"):
            mine.merge(other)
    with pytest.raises(ValueError, match=r"Remedy: .*MultiLabelBinarizer\(\)\.fit_transform\(y\)"):
        clone(MODEL).fit(X[:2], [["a"], ["b", "c"]])
    clone(MODEL).fit(X[:2], MultiLabelBinarizer().fit_transform([["a"], ["b", "c"]]))
