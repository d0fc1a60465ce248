"""Data frames with columns of any type, read by the learners for families that take them."""

import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from sklearn.base import clone, is_regressor
from sklearn.model_selection import cross_val_score

from cases import LEARNERS, TREE_LEARNERS, answers, inputs, name_of, problem
from trickless import KitchenSinksClassifier, KitchenSinksRegressor, RandomFeatures
from trickless._rows.columns import Columns
from trickless.kernels import KernelGradientClassifier
from trickless.neurons import Gaussian, Neurons, On, Stumps, Tabular
from trickless.neurons.composed import Product
from trickless.neurons.inputs import Inputs

#: Columns are read before any learner sees them.
with_neurons = pytest.mark.parametrize("learner", [LEARNERS[0], *LEARNERS[4:]], ids=name_of)
every_learner = pytest.mark.parametrize(
    "learner", [LEARNERS[0], *LEARNERS[4:], *TREE_LEARNERS], ids=name_of
)
few_learners = pytest.mark.parametrize("learner", [*LEARNERS[:2], *TREE_LEARNERS], ids=name_of)


def table(rows=150, seed=0):
    """A frame of all kinds of columns, with missing values, and targets that depend on them."""
    rng = np.random.default_rng(seed)
    town = rng.choice(["Aa", "Bb", "Cc"], rows)
    age = rng.integers(18, 80, rows)
    pay = np.exp(rng.standard_normal(rows))
    frame = pd.DataFrame(
        {
            "age": pd.array(age, dtype="Int64"),
            "pay": pay,
            "town": town.astype(object),
            "size": pd.Categorical(rng.choice(["S", "M", "L"], rows), categories=["S", "M", "L"]),
            "text": pd.array(rng.choice(["x", "y"], rows), dtype="string"),
            "member": rng.random(rows) < 0.5,
            "asked": pd.array(rng.random(rows) < 0.5, dtype="boolean"),
            "flag": pd.Series(rng.random(rows) < 0.5, dtype=object),
        }
    )
    y = (age > 40) * 1.0 + (town == "Aa") * (pay > 1)
    for name, where in (("age", 7), ("pay", 5), ("town", 6), ("text", 9), ("asked", 4)):
        frame.loc[frame.index % where == 0, name] = None
    frame.loc[frame.index % 8 == 0, "flag"] = None
    return frame, y


def targets(learner, y):
    return y if is_regressor(learner) else y.astype(int)


def tabular(learner, **options):
    options |= {"neurons": Tabular(), "random_state": 0}
    model = clone(learner)
    return model.set_params(**{k: v for k, v in options.items() if k in model.get_params()})


def test_columns_are_numbers_or_categories_by_their_types():
    frame, _ = table()
    columns = Columns("Owner", frame)
    assert columns.n_categories.tolist() == [0, 0, 5, 5, 4, 0, 0, 0]
    assert columns.codes[2] == {"Aa": 0, "Bb": 1, "Cc": 2}
    coded = columns.read("Owner", frame)
    coded = pd.DataFrame(coded, columns=frame.columns)
    np.testing.assert_array_equal(coded["age"].isna(), frame["age"].isna())
    np.testing.assert_array_equal(coded["pay"], frame["pay"])
    for name in ("age", "member", "asked", "flag"):
        known = frame[name].notna()
        np.testing.assert_array_equal(coded[name][known], frame[name][known].astype(float))
        assert coded[name][~known].isna().all()
    for name, n in (("town", 3), ("text", 2), ("size", 3)):
        assert (coded[name][frame[name].isna()] == n).all()
        assert coded[name].notna().all()


def test_categories_that_were_not_there_have_a_code_of_their_own():
    frame = pd.DataFrame({"a": ["u", None, "v"], "b": pd.Categorical([3, 1, 3])})
    columns = Columns("Owner", frame)
    later = pd.DataFrame({"a": ["w", None, "u"], "b": [1, 2, np.nan]})
    np.testing.assert_array_equal(columns.read("Owner", later), [[3, 0], [2, 3], [0, 2]])


def test_mixed_objects_are_categories():
    frame = pd.DataFrame({"a": ["b", 1, 2.5, None]})
    columns = Columns("Owner", frame)
    assert columns.codes == [{"1": 0, "2.5": 1, "b": 2}]
    assert columns.read("Owner", frame)[:, 0].tolist() == [2, 0, 1, 3]


def test_a_column_without_values_is_one_of_missing_ones():
    frame = pd.DataFrame({"a": pd.Series([None, None], dtype=object), "b": [np.nan, np.nan]})
    columns = Columns("Owner", frame)
    np.testing.assert_array_equal(columns.read("Owner", frame), [[0, np.nan], [0, np.nan]])


@every_learner
def test_frames_of_any_columns_are_learned(learner):
    frame, y = table(300)
    y = targets(learner, y)
    model = tabular(learner).fit(frame, y)
    constant = np.var(y) and np.mean(y == pd.Series(y).mode()[0])
    assert model.score(frame, y) > (0.3 if is_regressor(learner) else constant + 0.08)
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    assert model.neurons_.inputs_.names == tuple(frame.columns)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(answers(again, frame), answers(model, frame))
    np.testing.assert_allclose(
        answers(model, frame)[5:8], answers(model, frame.iloc[5:8]), rtol=1e-4, atol=1e-5
    )


@every_learner
def test_types_and_scales_of_columns_do_not_matter(learner):
    """Only the order matters, of numbers and of the values of categories."""
    frame, y = table()
    y = targets(learner, y)
    other = frame.assign(
        town=frame["town"].astype("category"),
        text=frame["text"].astype(object),
        size=frame["size"].astype(object).map({"S": "s", "M": "m", "L": "l"}),
        pay=np.log(frame["pay"]),
        age=frame["age"].astype(float) * 1000 - 7,
        flag=frame["flag"].astype("boolean"),
    )
    expected = tabular(learner, dtype="float64").fit(frame, y)
    model = tabular(learner, dtype="float64").fit(other, y)
    np.testing.assert_allclose(answers(model, other), answers(expected, frame), atol=1e-9)


@pytest.mark.filterwarnings("ignore:.*column 'town' of X are new, such as")
@with_neurons
def test_batches_share_the_codes_of_the_first_and_of_new_categories(learner):
    frame, y = table(300)
    y = targets(learner, y)
    frame["town"] = frame["town"].where(frame.index < 200, "new")
    frame["size"] = frame["size"].astype(object)
    extra = {} if is_regressor(learner) else {"classes": np.unique(y)}
    model = tabular(learner)
    if "y_range" in model.get_params():
        model.set_params(y_range=(-1, 3))
    for rows in (slice(0, 200), slice(200, 300)):
        model.partial_fit(frame[rows], y[rows], **extra)
    new = answers(model, frame[200:])
    unheard = answers(model, frame[200:].assign(town="unheard"))
    np.testing.assert_array_equal(answers(model, frame[200:].assign(town="never")), unheard)
    for other in (unheard, *(answers(model, frame[200:].assign(town=t)) for t in ("Aa", None))):
        assert not np.array_equal(other, new)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_a_warning_names_a_column_in_which_all_or_most_categories_are_new(kind):
    columns = Columns("me", kind({"age": [1, 2, 3, 4], "town": ["c", "a", "b", "d"]}))
    few, half, all_new = ["e"] * 2 + [None], ["e", "a"] * 10, ["e"] * 10 + [None]
    for towns in (few, half, ["e"] * 8 + ["a"], [None] * 11):
        columns.read("me", kind({"age": range(len(towns)), "town": towns}))
    for new, n in ((["e"] * 3, "all"), (["a", *all_new], "10 of 11")):
        with pytest.warns(UserWarning, match=rf"me: {n} values in column 'town' of X are new, suc"):
            columns.read("me", kind({"age": range(len(new)), "town": new}))
    why = r"me: all values in column 'town' of X are new, such as 'e'\. .* has 'a', 'b', 'c', …\."
    with pytest.warns(UserWarning, match=why + ".*Remedy: spell them as"):
        coded = columns.read("me", kind({"age": range(11), "town": all_new}))
    assert np.asarray(coded)[:, 1].tolist() == [5] * 10 + [4]
    empty = Columns("me", pd.DataFrame({"town": pd.Series([None] * 3, dtype=object)}))
    with pytest.warns(UserWarning, match=r"such as '1'\. The first batch has none\."):
        empty.read("me", kind({"town": range(1, 11)}))


@pytest.mark.filterwarnings("ignore:.*no column of X varies")
@every_learner
def test_columns_that_are_constant_or_missing_tell_nothing(learner):
    frame, y = table()
    y = targets(learner, y)
    expected = answers(tabular(learner).fit(frame, y), frame)
    for value in ("a", np.nan, None, pd.NaT, pd.Timestamp("2020-01-01 12:00:01")):
        more = frame.assign(odd=value)
        np.testing.assert_array_equal(answers(tabular(learner).fit(more, y), more), expected)
        alone = more[["odd"]]
        assert np.isfinite(answers(tabular(learner).fit(alone, y), alone)).all()


@pytest.mark.filterwarnings("ignore:.* of X are new, such as")
def test_tables_of_few_rows_and_columns():
    frame, y = table()
    model = tabular(LEARNERS[0])
    with pytest.warns(UserWarning, match="X has one row"):
        model.fit(frame[:1], y[:1])
    assert np.isfinite(model.predict(frame[:9])).all()
    for rows, why in (
        (frame[:0], "minimum of 1 is required.*Remedy: pass at least one row"),
        (frame[[]], "0 feature.*Remedy: pass at least one column"),
        (frame[["age", "pay", "age"]], "X has 2 columns 'age'.*Remedy"),
    ):
        with pytest.raises(ValueError, match=why):
            model.fit(rows, y[: len(rows)])


@every_learner
def test_columns_must_come_in_the_order_of_the_fit(learner):
    frame, y = table()
    model = tabular(learner).fit(frame, targets(learner, y))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[frame.columns[::-1]])
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"age": "aged"}))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.drop(columns="age"))


def test_a_frame_with_categories_cannot_be_followed_by_sparse_rows():
    frame, y = table()
    model = tabular(LEARNERS[0]).fit(frame, y)
    with (
        pytest.warns(UserWarning, match="does not have valid feature names"),
        pytest.raises(TypeError, match=r"X is a csr_array.*Remedy: pass data frames"),
    ):
        model.predict(scipy.sparse.csr_array(np.zeros(frame.shape)))


@every_learner
def test_arrays_are_tables_of_numbers_that_may_be_missing(learner):
    X, y = problem(learner)
    X[::7, 1] = np.nan
    model = tabular(learner).fit(X, y)
    assert np.isfinite(answers(model, X)).all()
    frame = pd.DataFrame(X, columns=list("abcd"))
    np.testing.assert_array_equal(answers(tabular(learner).fit(frame, y), frame), answers(model, X))
    with pytest.raises(ValueError, match="infinity"):
        model.predict(np.where(np.isnan(X), np.inf, X))


@with_neurons
def test_other_families_say_what_takes_tables(learner):
    frame, y = table()
    y = targets(learner, y)
    why = r"column 'town' of X contains text, .* neurons=Gaussian\(\).*Remedy: neurons=Tabular\(\)"
    with pytest.raises(ValueError, match=why):
        clone(learner).fit(frame[["member", "town", "pay"]], y)
    with pytest.raises(ValueError, match=r"column 'pay' of X contains missing values.*Tabular\(\)"):
        clone(learner).fit(frame[["member", "pay"]], y)
    with pytest.raises(ValueError, match="feature names"):
        clone(learner).fit(frame[["member"]], y).predict(frame[["pay"]].fillna(0))
    assert not clone(learner).__sklearn_tags__().input_tags.allow_nan
    assert tabular(learner).__sklearn_tags__().input_tags.allow_nan


def test_a_table_of_the_past_leaves_nothing_behind():
    frame, y = table()
    X, z = problem(LEARNERS[0])
    model = tabular(LEARNERS[0]).fit(frame, y)
    expected = clone(model).set_params(neurons="gaussian").fit(X, z).predict(X)
    model.set_params(neurons="gaussian").fit(X, z)
    np.testing.assert_array_equal(model.predict(X), expected)


def test_columns_of_other_types_are_refused():
    frame, y = table()
    with pytest.raises(ValueError, match=r"column 'odd' of X has the type complex128.*Remedy"):
        tabular(LEARNERS[0]).fit(frame.assign(odd=1j), y)
    model = tabular(LEARNERS[0]).fit(frame, y)
    with pytest.raises(ValueError, match=r"column 'pay' of X held numbers in the first batch"):
        model.predict(frame.assign(pay="much"))
    with pytest.raises(ValueError, match=r"contains text.*must hold numbers.*Remedy"):
        tabular(LEARNERS[0]).fit(frame.astype(object).where(frame.notna(), "").to_numpy(), y)
    for value, what in (
        ([1], "cannot be categories"),
        ({"a": 1}, "cannot be categories"),
        (np.ones(2), "cannot be categories"),
    ):
        frame["odd"] = [value] * len(frame)
        with pytest.raises(ValueError, match=rf"column 'odd' of X .*{what}.*Remedy"):
            tabular(LEARNERS[0]).fit(frame, y)
    frame["odd"] = pd.Series([10**400] * len(frame), index=frame.index, dtype=object)
    with pytest.raises(ValueError, match=r"column 'odd' of X held numbers.*too large.*Remedy"):
        tabular(LEARNERS[0]).fit(frame, y)
    frame["odd"] = [Decimal(i) for i in range(len(frame))]
    columns = Columns("me", frame)
    assert columns.codes[-1] is None
    np.testing.assert_array_equal(columns.read("me", frame)[:, -1], np.arange(len(frame)))


def test_rows_of_another_kind_than_the_first_are_refused_with_a_remedy():
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
    model = KitchenSinksRegressor(Tabular(), 20, random_state=0).fit(X, y)
    with (
        pytest.warns(UserWarning, match="fitted without feature names"),
        pytest.raises(ValueError, match=r"'when' of X has the type datetime64.*Remedy: fit"),
    ):
        model.predict(pd.DataFrame({"a": [1.0], "when": pd.Timestamp("2020-01-01")}))
    model.fit(pd.DataFrame(X, columns=["a", "b"]), y)
    with pytest.raises(ValueError, match=r"X is a dict.*Remedy: pandas.DataFrame\(X\)"):
        model.predict({"a": [1.0], "b": [1.0]})


@pytest.mark.parametrize("other", [True, pd.Timestamp("2020-01-01"), pd.Timedelta("1D")], ids=str)
def test_categories_that_come_back_as_something_else_are_new_and_warned_of(other):
    columns = Columns("me", pd.DataFrame({"town": ["A", "B"]}))
    with pytest.warns(UserWarning, match=r"'town' of X are new, such as .* has 'A', 'B'\..*Remedy"):
        coded = columns.read("me", pd.DataFrame({"town": [other] * 3}))
    assert coded.tolist() == [[3], [3], [3]]
    truth = Columns("me", pd.DataFrame({"member": pd.Categorical([True, False])}))
    np.testing.assert_array_equal(
        truth.read("me", pd.DataFrame({"member": [False, True]})), [[0], [1]]
    )


def test_parts_whose_columns_are_in_another_order_do_not_merge():
    frame = pd.DataFrame(inputs(60, 2), columns=["a", "b"])
    options = {"neurons": Gaussian(1.0), "n_neurons": 30, "random_state": 0}
    one = KitchenSinksRegressor(**options).fit(frame, frame["a"])
    other = KitchenSinksRegressor(**options).fit(frame[["b", "a"]], frame["a"])
    with pytest.raises(ValueError, match=r"feature_names_in_.*Remedy"):
        one.merge(other)


def test_learners_of_exact_kernels_take_no_tables():
    frame, y = table()
    with pytest.raises(ValueError, match=r"column 'town' of X contains text.*Remedy: encode it"):
        KernelGradientClassifier().fit(frame[["town"]].fillna("Aa"), y.astype(int))


def test_families_on_some_columns_of_a_table():
    frame, y = table(300)
    smooth = Product([On(["member"], Stumps()), On(["town", "age"], Tabular())])
    neurons = smooth + On(["town", "age"], Tabular())
    model = KitchenSinksRegressor(neurons, 100, random_state=0)
    assert model.fit(frame, y).score(frame, y) > 0.3
    inner = model.neurons_.parts_[0].parts_[1].parts_[0]
    assert inner.inputs_.names == ("town", "age")
    np.testing.assert_array_equal(inner.inputs_.n_categories, [5, 0])
    for columns, why in (("town", "they hold categories"), ("pay", "they have missing values")):
        with pytest.raises(
            ValueError, match=rf"On: columns='{columns}', but {why}, which Gaussian"
        ):
            KitchenSinksRegressor(On(columns, Gaussian()), 20).fit(frame, y)
    known = frame["pay"].notna()
    model = KitchenSinksRegressor(On("pay", Gaussian()), 20).fit(frame[known], y[known])
    with pytest.raises(ValueError, match="they have missing values"):
        model.predict(frame)
    with pytest.raises(ValueError, match="takes finite numbers only"):
        KitchenSinksRegressor(On("pay", Gaussian()) + Gaussian(), 20).fit(frame, y)


def test_a_family_of_a_user_may_take_tables():
    class Equal(Neurons):
        """Whether a categorical column has one code."""

        accepts_tables = True

        def draw(self, rng, n):
            column = rng.choice(np.flatnonzero(self.inputs_.n_categories), n)
            return column, rng.integers(self.inputs_.n_categories[column])

        def activate(self, X, weights):
            return np.where(X[:, weights[0]] == weights[1], 1.0, 0.0)

    frame, _ = table(300)
    y = (frame["size"] == "M") | (frame["town"] == "Aa")
    model = KitchenSinksClassifier(Equal(), 100, random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.9


def test_cross_validation_of_a_table():
    frame, y = table(300)
    scores = cross_val_score(tabular(LEARNERS[0], n_neurons=200), frame, y, cv=3)
    assert scores.mean() > 0.4


def test_sparse_tables_are_refused():
    with pytest.raises(TypeError, match="dense rows only"):
        tabular(LEARNERS[0]).fit(scipy.sparse.csr_matrix(inputs(20, 3)), np.ones(20))


def test_known_inputs_of_a_family_fitted_by_hand_are_numbers():
    assert Tabular()._known_inputs(np.ones((3, 2))).n_categories.tolist() == [0, 0]
    given = Tabular()
    given.inputs_ = Inputs(np.array([0, 3]))
    assert given._known_inputs(np.ones((3, 2))).n_categories.tolist() == [0, 3]


def test_parts_of_a_table_merge_if_codes_and_ranks_are_the_same():
    frame, y = table(300)
    begin, rest = frame[:100], frame[100:]
    one, two, whole = (
        KitchenSinksRegressor(
            Tabular(), 40, alpha=1e-2, random_state=0, dtype="float64"
        ).partial_fit(begin, y[:100])
        for _ in range(3)
    )
    two.partial_fit(rest, y[100:])
    one.merge(two)
    whole.partial_fit(rest, y[100:]).partial_fit(begin, y[:100])
    np.testing.assert_allclose(one.predict(frame), whole.predict(frame), atol=1e-8)
    fewer = begin.assign(town=begin["town"].where(begin["town"] != "Aa"))
    with pytest.raises(ValueError, match=r"other categories.*Remedy: the same columns"):
        one.merge(clone(one).fit(fewer, y[:100]))
    scaled = begin.assign(pay=2 * begin["pay"])  # the same neurons, on other ranks
    with pytest.raises(ValueError, match="differ from the neurons of this model"):
        one.merge(clone(one).fit(scaled, y[:100]))


def polars_table(frame):
    """The same table in polars: text as strings, categories as an Enum."""
    columns = {}
    for name in frame:
        values = [None if pd.isna(value) else value for value in frame[name]]
        kind = pl.Enum(["S", "M", "L"]) if name == "size" else None
        columns[name] = pl.Series(values, dtype=kind)
    return pl.DataFrame(columns)


@every_learner
def test_frames_of_polars_are_those_of_pandas(learner):
    frame, y = table()
    y, other = targets(learner, y), polars_table(frame)
    expected = answers(tabular(learner).fit(frame, y), frame)
    model = tabular(learner).fit(other, y)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    np.testing.assert_array_equal(answers(model, other), expected)
    np.testing.assert_array_equal(answers(model, frame), expected)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(other[:, ::-1])
    if "neurons" in learner.get_params():
        why = r"column 'town' of X contains text.*Remedy: neurons=Tab"
        with pytest.raises(ValueError, match=why):
            clone(learner).fit(other[["town"]], y)


def test_columns_of_polars_have_codes_for_what_is_missing_or_new():
    frame = pl.DataFrame(
        {
            "a": ["u", None, "v"],
            "b": pl.Series([3, 1, 3]),
            "c": pl.Series(["y", "x", None]).cast(pl.Categorical),
            "d": [True, None, False],
            "e": pl.Series([1.5, None, float("nan")]).cast(pl.Float32),
            "f": pl.Series([None, None, None]),
        }
    )
    columns = Columns("Owner", frame)
    assert columns.codes == [{"u": 0, "v": 1}, None, {"x": 0, "y": 1}, None, None, {}]
    nan = np.nan
    expected = [[0, 3, 1, 1, 1.5, 0], [2, 1, 0, nan, nan, 0], [1, 3, 2, 0, nan, 0]]
    coded = columns.read("Owner", frame)
    np.testing.assert_array_equal(coded, expected)
    later = frame.with_columns(a=pl.Series(["w", "u", None]))
    np.testing.assert_array_equal(columns.read("Owner", later)[:, 0], [3, 0, 2])
    with pytest.warns(UserWarning, match=r"column 'a' of X are new, such as '1'.*Remedy"):
        columns.read("Owner", frame.with_columns(a=pl.Series([1, 2, 3])))
    with pytest.raises(ValueError, match=r"column 'e' of X held numbers in the first.*Remedy"):
        columns.read("Owner", frame.with_columns(e=pl.Series(["much", "1", "2"])))
    for odd in ([1], {"a": 1}):
        with pytest.raises(ValueError, match=r"column 'a' of X has the type .*Remedy"):
            Columns("Owner", frame.with_columns(a=pl.Series([odd] * 3)))


@pytest.mark.filterwarnings("ignore:Determining the data types of a LazyFrame")
@pytest.mark.parametrize("neurons", ["tabular", "gaussian"])
def test_tables_of_arrow_are_data_frames_and_others_are_told_how_to_come(neurons):
    words = pa.table({"a": ["x", "y"] * 10, "b": np.arange(20.0)})
    words = words if neurons == "tabular" else words.select(["b"])
    y = np.arange(20.0)
    model = KitchenSinksRegressor(neurons, n_neurons=20, random_state=0).fit(words, y)
    assert model.feature_names_in_.tolist() == words.column_names
    frame = words.to_pandas()
    np.testing.assert_array_equal(model.predict(words), model.predict(frame))
    np.testing.assert_array_equal(clone(model).fit(frame, y).predict(words), model.predict(words))
    single = pa.table({"b": pa.array(y, pa.float32())})
    assert RandomFeatures(n_neurons=4).fit(single).transform(single).dtype == np.float32
    others = (words.to_batches()[0], "to_pandas"), (pl.from_arrow(words).lazy(), "collect")
    for X, method in others:
        with pytest.raises((TypeError, ValueError), match=rf"Remedy: X\.{method}\(\)"):
            model.fit(X, y)


@every_learner
def test_an_array_has_the_columns_of_the_frame_by_their_places(learner):
    """As tools that know arrays only pass rows: MAPIE predicts a row of zeros."""
    frame, y = table()
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(len(frame)), "h")
    frame["spent"] = pd.to_timedelta(np.arange(len(frame)) % 9, "h")
    model = tabular(learner).fit(frame, targets(learner, y))
    expected = answers(model, frame)
    rows = frame.to_numpy(dtype=object)
    days = rows.copy()
    days[:, -2] = (frame.day - pd.Timestamp(0)) / pd.Timedelta("1D")
    names = "X does not have valid feature names"
    for array in (rows, rows.tolist(), days):
        with pytest.warns(UserWarning, match=names):
            np.testing.assert_array_equal(answers(model, array), expected)
    with pytest.warns(UserWarning) as caught:
        assert np.isfinite(answers(model, np.zeros((3, model.n_features_in_)))).all()
    said = [str(warning.message) for warning in caught]
    assert sum("are new, such as '0'" in each for each in said) == 3
    assert names in said[0]
    with pytest.raises(ValueError, match=r"X has 9 features, but .* is expecting 10.*Remedy"):
        model.predict(rows[:, 1:])
    with (
        pytest.warns(UserWarning, match=names),
        pytest.raises(ValueError, match=r"column 9 of X held durations.*Remedy"),
    ):
        model.predict(np.where(np.arange(10) == 9, "soon", rows))


@pytest.mark.parametrize("of", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("n_rare", [9, 10])
def test_categories_that_occur_once_or_twice_are_pooled_if_they_are_ten(of, n_rare):
    texts = [f"rare {i}" for i in range(n_rare)]
    often = ["a", "b"] * 200 + ["thrice"] * 3
    frame = of({"code": [*texts, *texts[:4], *often], "n": np.arange(len(texts) + 4 + len(often))})
    columns = Columns("me", frame)
    rows = columns.read("me", frame)
    first = np.asarray(rows)[:, 0]
    if n_rare == 9:
        assert len(columns.codes[0]) == 3 + 9
        assert columns.categories[0].n_pooled == 0
        return
    assert columns.codes[0] == {"a": 0, "b": 1, "thrice": 2}
    assert columns.categories[0].n_pooled == 14
    np.testing.assert_array_equal(first, [4] * 14 + [0, 1] * 200 + [2] * 3)
    others = of({"code": ["new"] * 20, "n": np.arange(20)})
    np.testing.assert_array_equal(
        np.asarray(columns.read("me", others))[:, 0], 4
    )  # without a warning


def test_categories_of_few_rows_and_declared_ones_are_not_rare():
    letters = [*"abcdefghijklmnopqrstuvwxyz"]
    columns = Columns("me", pd.DataFrame({"letter": letters * 2}))
    assert len(columns.codes[0]) == 26  # each is in 4 % of the rows
    declared = pd.Categorical(["x", "y"] * 100, categories=["x", "y", *letters[:20]])
    assert len(Columns("me", pd.DataFrame({"letter": declared})).codes[0]) == 22


@few_learners
def test_a_warning_names_a_column_whose_strings_are_mostly_unique(learner):
    frame, f = table(300)
    y = np.where(f > 0, 1, 0)
    named = frame.assign(ticket=[f"T{i}" for i in range(300)])
    why = "300 of 300 values in column 'ticket' of X occur once or twice only.*Remedy"
    model = tabular(learner)
    with pytest.warns(UserWarning, match=why):
        model.fit(named, y)
    # Its one category is the same in all rows.
    rows = named.assign(ticket="T7")
    np.testing.assert_array_equal(answers(model, rows), answers(model, named))


@few_learners
def test_a_warning_names_a_column_that_is_missing_but_never_was(learner):
    frame, f = table(300)
    whole = frame.assign(pay=frame.pay.fillna(1.0), town=frame.town.fillna("Aa"))
    model = tabular(learner)
    model.fit(whole[:200], np.where(f > 0, 1, 0)[:200])
    for name in ("pay", "town"):
        gaps = whole[200:].assign(**{name: None if name == "town" else np.nan})
        why = f"all values in column '{name}' of X are missing, but in training none were"
        with pytest.warns(UserWarning, match=why):
            model.predict(gaps)
        some = gaps.assign(**{name: whole[name].where(whole.index % 3 > 0)})
        model.predict(some)  # a third is no reason to warn
    model.partial_fit(whole[200:].assign(pay=np.nan), np.where(f > 0, 1, 0)[200:])
    model.predict(whole[200:].assign(pay=np.nan))  # now there were some
