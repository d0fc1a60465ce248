"""Numbers that text spells: read if one reading is sensible, named if a column is doubtful."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from trickless import DoublyStochasticRegressor, KitchenSinksRegressor, load, save
from trickless.tables.encoder import TableEncoder
from trickless.tables.spellings import Spelling, doubtful_text, read_number, spelling_of

READ = {
    "no-break spaces": (["1\u00a0234", "950", "-2\u00a0345\u00a0678.5"], [1234, 950, -2345678.5]),
    "narrow spaces": (["1\u202f234", "5"], [1234, 5]),
    "thin spaces": (["1\u2009234,5", "5,25"], [1234.5, 5.25]),
    "spaces": (["1 234", "12"], [1234, 12]),
    "apostrophes": (["1\u2019234", "1'000'000.5"], [1234, 1000000.5]),
    "minus": (["\u22125", "3", "\u22121.5e3"], [-5, 3, -1500]),
    "dash": (["\u20135", "\uff0d3", "\uff11\uff12"], [-5, -3, 12]),
    "accounts": (["(1234)", "12", "(0.5)"], [-1234, 12, -0.5]),
    "dollars": (["$1,200", "$950", "($3,000,000)", "-$7"], [1200, 950, -3000000, -7]),
    "euros": (["1.234,56 €", "3,50 €", "12 €"], [1234.56, 3.5, 12]),
    "francs": (["CHF 12", "CHF 1’300.50", "CHF 7"], [12, 1300.5, 7]),
    "units": (["12 kg", "13.5 kg", "7kg"], [12, 13.5, 7]),
    "degrees": (["50°", "-6 °", "7.5°"], [50, -6, 7.5]),
    "speeds": (["50 km/h", "60 km/h", "70 km/h"], [50, 60, 70]),
    "areas": (["50 m²", "1 200 m²", "60 m²"], [50, 1200, 60]),
    "percent": (["12%", "3.5 %", "-7%"], [12, 3.5, -7]),
    "decimal commas": (["1,5", "2,75", "3"], [1.5, 2.75, 3]),
    "thousands": (["1,234", "1,234,567"], [1234, 1234567]),
    "thousands below": (["1,234", "950", "7"], [1234, 950, 7]),
    "thousands and fractions": (["1,234.5", "12"], [1234.5, 12]),
    "points": (["1.234.567", "1.234"], [1234567, 1234]),
    "plain": (["1e5", " 2.5", "-.5", "7"], [1e5, 2.5, -0.5, 7]),
    "gaps": (["NA", "1", "", "n/a", "2"], [np.nan, 1, np.nan, np.nan, 2]),
    "marks that are not seen": (["5\u200b", "\ufeff6", "\u200e-7.5"], [5, 6, -7.5]),
    "digits of other scripts": (["\u0661\u0662", "\u0663\u066b\u0665"], [12, 3.5]),
    "truth": (["True", "false"], [1, 0]),
}
NAMES = {
    "postcodes": ["01234", "12345", "99999"],
    "ids": ["12345678901234567890", "1"],
    "telephones": ["612 345 678", "612 345 679", "611 222 333"],
    "more telephones": [f"+49 30 12{i} 45" for i in range(30)],
    "versions": ["1.2.3", "1.10.2", "2.0.1"] + [f"3.{i}.1" for i in range(20)],
    "rooms": [f"room {i}" for i in range(30)],
    "addresses": [f"{i} Main Street" for i in range(30)],
    "films": ["12 Monkeys", "8 Mile", "21 Grams", "9 Lives", "7 Samurai"],
    "houses": ["12", "14a", "7b", "9", "9c"],
    "floors": ["1st", "2nd", "3rd"],
    "counts": ["0", "1", "2", "3+"],
    "ranges": ["0-10", "10-20", "20-30"] + [f"{i}-{i + 1}" for i in range(20)],
    "sizes": ["2D", "3D"],
    "codes": [f"{letter}{i}" for i in range(20) for letter in "AB"],
    "hosts": [f"10.0.{i}.1" for i in range(30)],
    "seasons": [f"{1990 + i}-{(91 + i) % 100:02}" for i in range(9)] + ["2010-21"],
    "sort codes": [f"{40 + i}-{50 + i}-{60 + i}" for i in range(30)],
    "words": ["red", "blue"],
    "shifts": ["06:00", "14:00", "22:00"],
    "quarters": ["2021Q1", "2021Q2", "2021Q3", "2021Q4"],
    "squares": ["5²", "6²", "7²"],
    "mixed truth": ["true", "1"],
    "nothing": ["", "NA"],
}
TENTHS = [f"{i / 10}" for i in range(60)]
DOUBTFUL = {
    "a unit": ([*TENTHS, "12 kg"], None),
    "a placeholder": ([*TENTHS, "-"], "-"),
    "few numbers": (["1", "2", "3", "4", "?"], "?"),
    "a word": ([*TENTHS, "broken"], "broken"),
    "two units": ([*(f"{i} kg" for i in range(20)), "5 lb"], "5 lb"),
    "either sign": (["1,234", "5,678", "2,345"], "1,234"),
    "brackets only": (["(1)", "(2)", "(3)"], "(1)"),
    "months": (["01/2021", "02/2021", "03/2021"], "01/2021"),
    "days": ([f"{i:02}.01.2024" for i in range(1, 20)], "01.01.2024"),
    "times of day": ([f"{i:02}:{2 * i:02}" for i in range(12)], "00:00"),
    "half days": ([f"{i}:30 PM" for i in range(1, 12)], "10:30 PM"),
    "months in words": (
        [f"{m} {y}" for m in ("Jan", "May", "June") for y in range(2010, 2015)],
        "Jan 2010",
    ),
    "days in words": ([f"{i} May 2021" for i in range(1, 20)], "1 May 2021"),
    "quarters of years": ([f"{y}-Q{q}" for y in range(2010, 2015) for q in (1, 2)], "2010-Q1"),
    "thousands and millions": ([f"{i}.5{k}" for i in range(9) for k in "kM"], "0.5k"),
    "limits": (["<5", "<1", ">99", "> 100", *map(str, range(5, 25))], "<1"),
    "about": ([f"~{i}" for i in range(12)], "~0"),
    "minus at the end": ([*map(str, range(10)), "12-", "7-"], "12-"),
    "quoted twice": ([f'"{i}"' for i in range(12)], '"0"'),
    "fractions": ([f"{i}½" for i in range(12)], "0½"),
    "digits in groups": ([f"{i}_000" for i in range(12)], "0_000"),
}


@pytest.mark.parametrize("name", READ)
def test_text_is_read_if_it_has_one_sensible_reading(name):
    texts, numbers = READ[name]
    spelling = spelling_of(texts)
    np.testing.assert_array_equal([read_number(text, spelling) for text in texts], numbers)


@pytest.mark.parametrize("name", NAMES)
def test_names_with_numbers_are_names_without_a_word(name):
    assert spelling_of(NAMES[name]) is None
    assert doubtful_text(NAMES[name]) is None
    encoder = TableEncoder("me", pd.DataFrame({"a": NAMES[name]}))  # warnings are errors
    assert encoder.codes[0] is not None


@pytest.mark.parametrize("name", DOUBTFUL)
def test_a_column_that_is_almost_numbers_is_told_by_name_and_cell(name):
    texts, cell = DOUBTFUL[name]
    assert spelling_of(texts) is None
    cell = cell or texts[-1]
    assert doubtful_text(texts)[0] == cell
    with pytest.warns(UserWarning, match=r"me: column 'a' of X is read as categories.*Remedy") as w:
        TableEncoder("me", pd.DataFrame({"a": texts}))
    assert repr(cell) in str(w[0].message)
    TableEncoder("me", pd.DataFrame({"a": pd.Categorical(texts)}))  # declared: no word


def test_numbers_beside_text_with_a_unit_are_doubtful():
    values = [*range(20), *(f"{i} kg" for i in range(20))]
    with pytest.warns(UserWarning, match=r"column 'a'.*'0 kg'.*Remedy"):
        encoder = TableEncoder("me", pd.DataFrame({"a": pd.Series(values, dtype=object)}))
    assert encoder.codes[0] is not None


def test_a_number_of_another_unit_is_not_read():
    kilograms = Spelling(unit="kg")
    assert read_number("12 kg", kilograms) == read_number("12", kilograms) == 12
    assert read_number("12 lb", kilograms) is None
    assert read_number("12 kg") is None
    assert read_number("1.234", Spelling(",", ".")) == 1234
    assert read_number("1.5", Spelling(",", ".")) == 1.5


FORMS = {
    "text": lambda values: pd.Series([str(v) for v in values], dtype="str"),
    "objects": lambda values: pd.Series([str(v) for v in values], dtype=object),
    "half": lambda values: pd.Series(
        [v if i % 2 else str(v) for i, v in enumerate(values)], dtype=object
    ),
    "arrow": lambda values: pd.Series([str(v) for v in values], dtype="string[pyarrow]"),
    "spaces": lambda values: pd.Series([f"{v:,}".replace(",", "\u202f") for v in values]),
    "dollars": lambda values: pd.Series([f"${v:,}" for v in values]),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "learner",
    [
        KitchenSinksRegressor("tabular", 40, random_state=0),
        DoublyStochasticRegressor("trees", n_neurons=10, random_state=0),
    ],
)
def test_a_model_of_text_is_that_of_its_numbers(learner, form, tmp_path):
    values = np.random.default_rng(0).integers(0, 99_999, 300).tolist()
    plain, text = (pd.DataFrame({"a": column}) for column in (values, FORMS[form](values)))
    y = np.sin(np.array(values) / 2e4)
    expected = learner.fit(plain, y).predict(plain)
    assert learner.score(plain, y) > 0.5
    if form != "dollars":  # numbers came first, without a unit
        np.testing.assert_array_equal(learner.predict(text), expected)
    model = learner.fit(text, y)
    save(model, tmp_path / "model")
    for fitted in (model, load(tmp_path / "model")):
        for rows in (text, plain) if form == "half" else (text, plain, pl.from_pandas(text)):
            np.testing.assert_array_equal(fitted.predict(rows), expected)


def test_text_of_dates_is_dates():
    days = pd.date_range("2024-01-01", periods=40)
    first = pd.DataFrame({"a": days.astype(str), "b": days.strftime("%Y-%m")})
    encoder = TableEncoder("me", first)
    assert encoder.kinds == ["dates", "dates"]
    codes = encoder("me", first)
    np.testing.assert_array_equal(codes["a"], 19_723 + np.arange(40))
    np.testing.assert_array_equal(codes["b"], np.where(np.arange(40) < 31, 19_723, 19_754))
    np.testing.assert_array_equal(
        encoder("me", pd.DataFrame({"a": days, "b": days}))["a"], codes["a"]
    )


def test_text_that_is_no_number_after_numbers_is_refused_by_name():
    encoder = TableEncoder("me", pd.DataFrame({"a": ["1 kg", "2 kg", "3 kg"]}))
    np.testing.assert_array_equal(encoder("me", pd.DataFrame({"a": [4, 5]}))["a"], [4, 5])
    with pytest.raises(ValueError, match=r"column 'a' of X held numbers.*'4 lb' is not.*Remedy"):
        encoder("me", pd.DataFrame({"a": ["4 lb", "5 kg"]}))


def test_a_stream_whose_batches_are_text_and_numbers_in_turn():
    values = np.random.default_rng(0).integers(0, 1000, 400)
    y = np.sin(values / 200)
    numbers = pd.DataFrame({"a": values})
    model, expected = (KitchenSinksRegressor("tabular", 40, random_state=0) for _ in range(2))
    for i, part in enumerate(np.split(np.arange(400), 4)):
        batch = numbers.iloc[part]
        expected.partial_fit(batch, y[part])
        model.partial_fit(batch.astype(str) if i % 2 else batch, y[part])
    np.testing.assert_array_equal(model.predict(numbers), expected.predict(numbers))


def test_text_that_spells_truth_beside_other_numbers_is_not_a_number():
    for values, kind in (([1, 0, "true"], "numbers"), ([1, 2, "true"], "categories")):
        frame = pd.DataFrame({"a": pd.Series(values, dtype=object)})
        assert TableEncoder("me", frame).kinds == [kind]
    encoder = TableEncoder("me", pd.DataFrame({"a": [1.0, 2.0]}))
    with pytest.raises(ValueError, match=r"'a' of X held numbers.* truth values and 3.*Remedy"):
        encoder("me", pd.DataFrame({"a": ["true", "3"]}))
