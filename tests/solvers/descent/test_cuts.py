"""Cuts of trees: against trying every cut, and what samples, priors and noise do."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chi2, chisquare, norm

from trickless.neurons import Inputs, Trees
from trickless.solvers.descent import cut_rows, cuts
from trickless.solvers.descent.cut_rows import NextTree
from trickless.solvers.descent.cuts import choose_cuts
from trickless.solvers.descent.noise_gains import noise_gain, order_gain


def fitted(X, depth, n_categories=None):
    family = Trees(depth)
    if n_categories is not None:
        family.inputs_ = Inputs(np.array(n_categories))
    return family.fit(X, np.random.default_rng(0))


def chosen(
    family,
    X,
    g,
    h=None,
    ridge=1.0,
    candidates=60,
    prior=None,
    seed=0,
    weight=None,
    number=0,
    unexplained=1.0,
):
    h = np.ones_like(g) if h is None else h
    prior = np.ones(X.shape[1]) if prior is None else np.asarray(prior, dtype=float)
    rng = np.random.default_rng(seed)
    bins = family.read(X).T
    rows = family, bins, g, h, weight, ridge, len(X)
    return choose_cuts(NextTree(*rows, candidates, prior, unexplained, rng, number))


def sides(family, X, tree, level):
    """Whether each row goes to the right at a level."""
    return tree.tables[level][family.read(X)[:, tree.columns[level]]].astype(bool)


def gain_of(leaves, g, h, ridge):
    """Σ (Σ g)² / (Σ h + λ) over the leaves, whose names may be anything."""
    sums = {}
    for leaf, g_i, h_i in zip(leaves, g, h, strict=True):
        a, b = sums.get(leaf, (0.0, 0.0))
        sums[leaf] = a + g_i, b + h_i
    return sum(a * a / (b + ridge) for a, b in sums.values()), sums


def table(n=600, seed=0):
    """Columns of nine values, with gaps; so that eight thresholds are all that there are."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 9, (n, 4)).astype(float)
    X[rng.random(n) < 0.2, 1] = np.nan
    X[:, 3] = rng.integers(0, 5, n)
    signal = (X[:, 0] > 3) * 1.0 - (X[:, 2] > 6) + np.isnan(X[:, 1]) + 0.5 * (X[:, 3] > 2)
    g = signal - signal.mean() + 0.4 * rng.standard_normal(n)
    return X, g, rng.exponential(size=n)


def gain_from_noise(df, n, share):
    """What the best of n cuts gains in units of σ², term by term."""
    z = norm.ppf((n - 3 / 8) / (n + 1 / 4))
    return df + share * (z * np.sqrt(2 * df) + 2 / 3 * max(z**2 - 1, 0))


@pytest.mark.parametrize(("seed", "unexplained"), [(0, 1.0), (1, 0.8), (2, 0.0)])
def test_each_cut_is_the_best_of_all_and_a_tree_is_as_deep_as_pays(seed, unexplained):
    """By all columns, thresholds and sides for missing values, in plain loops."""
    X, g, h = table(seed=seed)
    family, ridge, n = fitted(X, 6), 2.0, len(X)
    tree = chosen(family, X, g, h, ridge, seed=seed, unexplained=unexplained)
    assert tree.n_levels >= 3
    noise = (g * g).sum() / h.sum()
    leaves, nets, df, expected = [()] * n, [], 1.0, 1.0
    for level in range(6):
        best = -np.inf
        for j in range(4):
            for threshold in np.unique(X[~np.isnan(X[:, j]), j])[:-1]:
                for missing in (False, True):
                    right = np.where(np.isnan(X[:, j]), missing, X[:, j] > threshold)
                    halves = [(*leaf, bool(r)) for leaf, r in zip(leaves, right, strict=True)]
                    gain, _ = gain_of(halves, g, h, ridge)
                    if gain > best + 1e-9:
                        best, best_leaves = gain, halves
        n_before, leaves = len(set(leaves)), best_leaves
        gain, sums = gain_of(leaves, g, h, ridge)
        df_before, df = df, sum(b / (b + ridge) for _, b in sums.values())
        most = min(8, n // (2 * n_before))  # thresholds of a column
        n_cuts = sum(min(len(np.unique(x[~np.isnan(x)])) - 1, most) for x in X.T)
        expected += gain_from_noise(df - df_before, n_cuts, unexplained**4)
        parts = len(sums) > n_before  # a cut that was made before parts nothing
        nets.append(gain - (expected + cuts.PENALTY * df) * noise if parts else -np.inf)
        if level < tree.n_levels:
            right = sides(family, X, tree, level)
            found = dict(zip(leaves, right, strict=True))  # each new leaf is on one side
            assert all(found[leaf] == r for leaf, r in zip(leaves, right, strict=True))
            assert all(found[leaf] == leaf[-1] for leaf in found)
    tried = next((i for i in range(6) if i - np.argmax(nets[: i + 1]) >= cuts._PATIENCE), 5)
    assert tree.n_levels == 1 + int(np.argmax(nets[: tried + 1]))


@pytest.mark.parametrize("df", [1, 2, 8, 64, 512])
@pytest.mark.parametrize("n", [1, 3, 8, 64, 400])
def test_the_best_cut_gains_from_noise_about_the_expected_largest_of_chi_squares(df, n):
    """Within 8 %, by the integral of one minus the distribution function."""
    x = np.linspace(0, df + 30 * np.sqrt(2 * df) + 60, 200_001)
    expected = np.trapezoid(1 - chi2.cdf(x, df) ** n, x)
    assert noise_gain(df, n) == pytest.approx(expected, rel=0.08)
    assert noise_gain(df, n, 0.0) == df


@pytest.mark.parametrize("kind", ["equal", "one is frequent", "two"])
def test_the_order_of_categories_gains_from_noise_what_is_expected(kind):
    """Within a tenth, by the best cut of each of many orders of random slopes."""
    rng = np.random.default_rng(0)
    h = {"equal": np.full(250, 4.0), "two": np.full(2, 4.0)}.get(kind, np.r_[[4.0] * 250, 9000.0])
    found = []
    for _ in range(300):
        g = np.sqrt(h) * rng.standard_normal(len(h))
        order = np.argsort(g / h)
        g, below = np.cumsum((g - h * g.sum() / h.sum())[order])[:-1], np.cumsum(h[order])[:-1]
        found.append((g**2 / below + g**2 / (h.sum() - below)).max())
    assert 1 + order_gain(h) == pytest.approx(np.mean(found), rel=0.1, abs=0.3)


@pytest.mark.parametrize("candidates", [3, 8, 100])
def test_trees_on_noise_are_shallow(candidates):
    """Their mean depth is below 2.2, by four standard errors. The deepest have 8 levels."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 10))
    family, depths = fitted(X, 8), []
    for seed in range(60):
        g = rng.standard_normal(1000)
        tree = chosen(family, X, g - g.mean(), ridge=0.5, candidates=candidates, seed=seed)
        depths.append(tree.n_levels)
    assert np.mean(depths) + 4 * np.std(depths) / np.sqrt(len(depths)) < 2.2


def test_a_tree_passes_levels_that_gain_nothing_if_a_deeper_one_does():
    """The sign product of three columns among six: only a third cut gains.

    Cuts before are random, so the first three levels find the product in a fifth of the trees, and
    the first four in half of them. The share is above a fifth, by four standard errors.
    """
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (1000, 6)).astype(float)
    family, found = fitted(X, 8), []
    for seed in range(100):
        g = np.prod(1 - 2 * X[:, :3], axis=1) + rng.standard_normal(1000)
        tree = chosen(family, X, g - g.mean(), seed=seed)
        found.append({0, 1, 2} <= set(tree.columns[: tree.n_levels]))
    assert np.mean(found) - 4 * np.std(found) / np.sqrt(len(found)) > 1 / 5


def test_sets_of_categories_are_the_best_of_all():
    """Those that are cut where their mean slopes are in order are, of all subsets (Fisher 1958)."""
    rng = np.random.default_rng(0)
    for seed in range(5):
        codes = rng.integers(0, 6, 900).astype(float)
        X = codes[:, None]
        g = rng.standard_normal(6)[codes.astype(int)] + 0.3 * rng.standard_normal(900)
        g -= g.mean()
        family = fitted(X, 1, [8])
        tree = chosen(family, X, g, ridge=1e-9, candidates=8, seed=seed)
        right = sides(family, X, tree, 0)
        best = max(
            gain_of(np.isin(codes, subset).tolist(), g, np.ones(900), 1e-9)[0]
            for size in range(1, 4)
            for subset in combinations(range(6), size)
        )
        assert gain_of(right.tolist(), g, np.ones(900), 1e-9)[0] == pytest.approx(best, rel=1e-3)


@pytest.mark.parametrize("unseen", ["a missing number", "a missing category", "a new category"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_values_that_no_row_decides_go_to_a_side_in_proportion_to_its_rows(unseen, share):
    """So that the mean of many trees is the mean over the rows."""
    rng = np.random.default_rng(0)
    codes = (np.arange(400) < 400 * share).astype(float)
    family = fitted(codes[:, None], 1, [0 if unseen == "a missing number" else 4])
    new = {"a missing number": np.nan, "a missing category": 2.0, "a new category": 3.0}[unseen]
    g = codes - codes.mean() + 0.1 * rng.standard_normal(400)
    rows = np.array([[1.0], [0.0], [new]])
    trees = [chosen(family, codes[:, None], g, number=number) for number in range(40)]
    went = np.array([sides(family, rows, tree, 0) for tree in trees])
    assert went[:, 0].all()
    assert not went[:, 1].any()
    assert went[:, 2].mean() == pytest.approx(share, abs=0.06)  # quantiles, evenly spread


@pytest.mark.parametrize("share", [0.2, 0.45, 0.55, 0.8])
@pytest.mark.parametrize("heavy", [False, True])
def test_a_single_cut_sends_values_that_no_row_decides_to_the_side_with_more_rows(share, heavy):
    """In the first tree, by the weight of the rows."""
    rng = np.random.default_rng(0)
    codes = (np.arange(400) < 400 * share).astype(float)
    weight = np.where(codes == 1, 5.0, 1.0) if heavy else np.ones(400)
    X = np.column_stack([rng.integers(0, 3, 400), codes, rng.integers(0, 3, 400)])
    family = fitted(X, 1, [5, 5, 0])  # the codes 2, 3 and 4: never in training, missing and new
    g = weight * (codes - np.average(codes, weights=weight) + 0.1 * rng.standard_normal(400))
    rows = np.array([[1, 1, 1], [1, 2, 1], [1, 3, 1], [1, 4, 1]])
    tree = chosen(family, X, g, weight, prior=[0, 1, 0], weight=weight)
    right = sides(family, rows.astype(float), tree, 0)
    assert tree.columns[0] == 1
    assert right[0]
    np.testing.assert_array_equal(right[1:], weight @ codes > weight.sum() / 2)


def test_categories_without_rows_are_no_candidates():
    """A hundred that are only declared leave cuts of the others and depths unchanged."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 9, (500, 1)).astype(float)
    g = np.sin(codes[:, 0]) + 0.5 * rng.standard_normal(500)
    few, many = fitted(codes, 4, [11]), fitted(codes, 4, [111])
    for seed in range(5):
        one, other = (chosen(family, codes, g, candidates=8, seed=seed) for family in (few, many))
        assert one.n_levels == other.n_levels
        np.testing.assert_array_equal(one.tables[:, 1:10], other.tables[:, 1:10])
        right = other.tables[0, 10:110]
        assert (right == right[0]).all()


def test_rows_decide_where_missing_values_and_new_categories_go():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, 500).astype(float)  # 2: missing, 3: new
    family = fitted(codes[:, None], 1, [4])
    g = np.isin(codes, [1, 2]) - 0.5 + 0.3 * rng.random(500)
    for number in range(4):
        tree = chosen(family, codes[:, None], g - g.mean(), number=number)
        right = sides(family, np.arange(4.0)[:, None], tree, 0)
        assert right[1] == right[2] != right[0] == right[3]


def test_three_columns_that_matter_give_three_levels():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (2000, 8)).astype(float)
    family = fitted(X, 8)
    for seed in range(5):
        g = X[:, 1] + X[:, 4] - 2 * X[:, 6] + 0.05 * rng.standard_normal(2000)
        tree = chosen(family, X, g - g.mean(), seed=seed)
        assert tree.n_levels == 3
        assert set(tree.columns[:3]) == {1, 4, 6}
        assert not tree.columns[3:].any()
        assert not tree.tables[3:].any()
        leaf = family.leaf_numbers(X, (tree.columns[None], np.packbits(tree.tables, axis=1)[None]))
        assert leaf.max() == 7


def test_missing_values_go_to_the_side_where_they_gain_most():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((800, 2))
    X[::4, 0] = np.nan
    for sign in (1.0, -1.0):
        g = sign * np.where(np.isnan(X[:, 0]) | (X[:, 0] > 0.5), 1.0, -1.0)
        family = fitted(X, 1)
        right = sides(family, X, chosen(family, X, g - g.mean()), 0)
        same = right[np.isnan(X[:, 0])]
        assert (same == same[0]).all()
        assert same[0] == right[np.nanargmax(X[:, 0])] != right[np.nanargmin(X[:, 0])]


def test_columns_are_drawn_as_often_as_their_prior_says():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 4))
    family, g = fitted(X, 1), rng.standard_normal(40)
    prior = [1.0, 0.0, 3.0, 4.0]
    columns = [
        chosen(family, X, g, candidates=1, prior=prior, seed=seed).columns[0] for seed in range(800)
    ]
    counts = np.bincount(columns, minlength=4)
    assert counts[1] == 0
    assert chisquare(counts[[0, 2, 3]], np.array([100, 300, 400])).pvalue > 1e-4
    for seed in range(20):  # none of many candidates is one that is not to be drawn
        assert chosen(family, X, X[:, 1], prior=prior, seed=seed).columns[0] != 1


def test_more_candidates_gain_more():
    X, g, h = table()
    family, gains = fitted(X, 3), []
    for candidates in (1, 3, 30):
        of_seeds = []
        for seed in range(40):
            tree = chosen(family, X, g, h, 2.0, candidates, seed=seed)
            right = zip(*(sides(family, X, tree, i) for i in range(3)), strict=True)
            of_seeds.append(gain_of(list(right), g, h, 2.0)[0])
        gains.append(np.mean(of_seeds))
    assert gains[0] < 0.8 * gains[1] < 0.8 * gains[2]


def test_a_sample_has_the_rows_that_matter_with_the_weights_that_make_up_for_it(monkeypatch):
    """A few rows of large slopes decide; but if many small ones gain more, those do."""
    monkeypatch.setattr(cut_rows, "SAMPLE", 256)
    rng = np.random.default_rng(0)
    n = 20_000
    X = rng.integers(0, 2, (n, 6)).astype(float)
    family, few = fitted(X, 1), np.arange(n) % 200 == 0
    g = np.where(few, 10 * np.where(X[:, 0] > 0, 1, -1), 0.1 * rng.standard_normal(n))
    columns = [chosen(family, X, g, seed=seed).columns[0] for seed in range(40)]
    assert np.mean(np.array(columns) == 0) > 0.95  # a plain sample has about one of those rows
    many = np.where(X[:, 1] > 0, 0.5, -0.5)
    g = np.where(few, 6 * np.where(X[:, 0] > 0, 1, -1), many + 0.2 * rng.standard_normal(n))
    columns = [chosen(family, X, g, seed=seed).columns[0] for seed in range(40)]
    assert np.mean(np.array(columns) == 1) > 0.95  # Σ g is 100 · 6 for one, and 20,000 / 2


def test_sums_of_a_sample_are_those_of_all_rows_on_average(monkeypatch):
    """In proportion to the rows: of slopes and curvatures, in a part of the rows, over samples."""
    monkeypatch.setattr(cut_rows, "SAMPLE", 256)
    rng = np.random.default_rng(0)
    g, h, some = 1 + rng.standard_normal(4000) ** 3, rng.random(4000), rng.random(4000) < 0.3
    of_g, of_h = [], []
    for _ in range(400):
        sample = cut_rows.sampled(g, h, g * g, rng)
        part, scale = some[sample.rows], len(g) / len(sample.rows)
        of_g.append(scale * sample.unit_g * sample.g[part].sum())
        of_h.append(scale * sample.unit_h * sample.h[part].sum())
    for sums, whole in ((of_g, g[some].sum()), (of_h, h[some].sum())):
        error = np.std(sums) / np.sqrt(len(sums))
        assert abs(np.mean(sums) - whole) < 4 * error
        assert error < 0.03 * abs(whole)


def test_weights_are_repetitions():
    """As long as rounding does not decide between cuts: with weights that are powers of two.

    A tree on rows that are repeated may be deeper, since more rows tell signal from noise better.
    """
    X, g, h = table()
    weight = 2.0 ** np.random.default_rng(0).integers(0, 3, len(X))
    family, repeat = fitted(X, 5), np.repeat(np.arange(len(X)), weight.astype(int))
    for seed in range(5):
        tree = chosen(family, X, weight * g, weight * h, 2.0, seed=seed, weight=weight)
        again = chosen(family, X[repeat], g[repeat], h[repeat], 2.0, seed=seed)
        for level in range(3):
            one, other = (sides(family, X, some, level) for some in (tree, again))
            np.testing.assert_array_equal(one, other)


def test_rows_without_slopes_and_single_rows_have_a_cut_like_any_other():
    X = np.arange(12.0).reshape(6, 2)
    family = fitted(X, 3)
    for rows, h in ((X, 1.0), (X, 0.0), (X[:1], 1.0)):
        g = np.zeros(len(rows))
        tree = chosen(family, rows, g, np.full(len(rows), h), ridge=0.0)
        assert 1 <= tree.n_levels <= 3
        assert tree.columns.shape == (3,)
        assert tree.tables.shape == (3, 256)


def mixed(seed, n_rows):
    """Numbers, some of which have few values, and gaps."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 5))
    X[:, 1] = rng.integers(0, 4, n_rows)
    X[:, 2] = rng.integers(0, 30, n_rows)
    X[:, 3] = np.where(rng.random(n_rows) < 0.3, np.nan, X[:, 3])
    X[:, 4] = np.where(rng.random(n_rows) < 0.1, np.nan, rng.integers(0, 3, n_rows))
    slopes = np.where(X[:, 2] % 3 == 0, X[:, 0], np.nan_to_num(X[:, 3])) ** 2
    return X, slopes + 0.3 * rng.standard_normal(n_rows)


@pytest.mark.parametrize("seed", range(10))
def test_one_compiled_call_chooses_as_the_loop_over_the_levels_does(monkeypatch, seed):
    n_rows = [3, 40, 700, 700, cut_rows.SAMPLE + 3000][seed % 5]
    X, g = mixed(seed, n_rows)
    family = fitted(X, [1, 6, 9][seed % 3])
    bins, h = family.read(X).T, np.random.default_rng(seed).gamma(2.0, 1.0, n_rows)
    rows = family, bins, g, h, h if seed % 4 == 0 else None, 3.0, n_rows
    prior = np.array([1.0, 2.0, 0.0, 1.0, 5.0]) if seed % 3 == 0 else np.ones(5)
    found = []
    for in_one_call in (True, False):
        monkeypatch.setattr(cuts._Search, "has_numbers_only", in_one_call)
        rng = np.random.default_rng(seed)
        for number in range(3):
            n_candidates = [1, 8, 20][number]
            tree = choose_cuts(NextTree(*rows, n_candidates, prior, 0.5, rng, number))
            found.append((*tree, rng.random()))
    for tree, same in zip(found[:3], found[3:], strict=True):
        for one, other in zip(tree, same, strict=True):
            np.testing.assert_array_equal(one, other)
    assert any(tree[2] > 1 for tree in found) or n_rows == 3 or seed % 3 == 0
