"""The server of ``examples/serve.py`` answers, and survives what is no request."""

import http.client
import json
import runpy
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from trickless import (
    BoostedTreesRegressor,
    KitchenSinksClassifier,
    KitchenSinksRegressor,
)
from trickless.neurons import Gaussian

EXAMPLE = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "serve.py"))
X = np.random.default_rng(0).standard_normal((100, 3)).round(3)
MODEL = KitchenSinksRegressor(Gaussian(1.0), 20, n_jobs=1, random_state=0).fit(X, X[:, 0])


@pytest.fixture(scope="module")
def trees():
    """A model of boosted trees."""
    return BoostedTreesRegressor(8, n_jobs=1, random_state=0).fit(X, X[:, 0])


@pytest.fixture
def serve():
    """Starts servers of models, and returns a connection to each."""
    ends = []

    def start(model):
        server = EXAMPLE["make_server"](model)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        ends.append((server, thread))
        return server.server_port

    yield start
    for server, thread in ends:
        server.shutdown()
        server.server_close()
        thread.join()


def ask(connection, body, path="/predict", headers=()):
    connection.request("POST", path, body, dict(headers))
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def test_requests_of_several_threads_are_answered(serve, trees):
    port = serve(trees)
    rows = X[np.arange(400) % 100]
    bodies = [json.dumps({"rows": [row]}) for row in rows.tolist()]

    def some(part):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        found = [ask(connection, bodies[i]) for i in part]
        connection.close()
        return found

    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(some, np.array_split(np.arange(400), 4)))
    answers = [answer for part in parts for answer in part]
    assert {status for status, _ in answers} == {200}
    found = np.array([answer["predictions"][0] for _, answer in answers])
    np.testing.assert_allclose(found, trees.predict(rows), rtol=1e-6, atol=1e-6)
    intervals = np.array([answer["intervals"][0] for _, answer in answers])
    np.testing.assert_allclose(intervals[:100], trees.predict_interval(X), rtol=1e-4, atol=1e-5)


BAD = {
    "no JSON": ("{", "Expecting property name"),
    "no text": (b"\xff\xfe", "JSONDecodeError"),
    "nothing": ("", "Expecting value"),
    "deep": ("[" * 100_000, "RecursionError"),
    "NaN": ('{"rows": [[NaN, 0, 0]]}', "takes finite numbers only"),
    "infinite": ('{"rows": [[1e999, 0, 0]]}', "rows must be finite"),
    "huge integer": ('{"rows": [[1' + 1000 * "0" + ", 0, 0]]}", "too large"),
    "no rows": ("{}", "must be"),
    "a list": ("[[1, 2, 3]]", "ValueError"),
    "null": ("null", "TypeError"),
    "empty": ('{"rows": []}', "must be"),
    "too many": (json.dumps({"rows": [[0, 0, 0]] * 1001}), "1 to 1000 rows"),
    "ragged": ('{"rows": [[1, 2, 3], [1, 2]]}', "inhomogeneous"),
    "flat": ('{"rows": [1, 2, 3]}', "Expected 2D array"),
    "mixed": ('{"rows": [[1, 2, 3], {"a": 1}]}', "inhomogeneous"),
    "other names": ('{"rows": [{"a": 1}]}', "not 'dict'"),
    "text": ('{"rows": [["x", 0, 0]]}', "could not convert string to float: 'x'"),
    "short": ('{"rows": [[1, 2]]}', "expecting 3 features"),
    "missing": ('{"rows": [[null, 0, 0]]}', "takes finite numbers only"),
    "single": ('{"rows": [[1e39, 0, 0]]}', "too large for dtype='float32'"),
}


def many_names():
    """A body that would be a table of sixty million cells, if all names were columns."""
    first = {f"k{i}": 1 for i in range(60_000)}
    return json.dumps({"rows": [first, *[{}] * 999]})


def test_requests_that_cannot_be_answered_get_a_status_and_a_message(serve):
    connection = http.client.HTTPConnection("127.0.0.1", serve(MODEL), timeout=30)
    for name, (body, said) in (BAD | {"many names": (many_names(), "not 'dict'")}).items():
        found = ask(connection, body)
        assert found[0] == 400, (name, found)
        assert said in found[1]["error"], name
    connection.request("PUT", "/", "{}")
    answer = connection.getresponse()
    assert answer.status == 501
    answer.read()
    connection.request("GET", "/")
    assert json.loads(connection.getresponse().read()) == {"status": "ok"}
    assert ask(connection, '{"rows": [[1, 2, 3]]}')[0] == 200
    connection.close()


def raw(port, text):
    """What the server sends to bytes, until it closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(text)
        return b"".join(iter(lambda: connection.recv(4096), b""))


def test_bodies_that_are_not_read_end_the_connection(serve):
    port = serve(MODEL)
    start = b"POST /predict HTTP/1.1\r\nHost: x\r\n"
    for length in (b"99999999999999999999999", b"-5", b"five", b""):
        assert b" 400 " in raw(port, start + b"Content-Length: %s\r\n\r\n" % length)
    assert b" 400 " in raw(port, start + b"\r\n")
    assert b"400" in raw(port, b"nonsense\r\n\r\n")
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    assert ask(connection, '{"rows": [[1, 2, 3]]}')[0] == 200
    connection.close()


def test_classifiers_tables_and_models_without_intervals_are_served(serve):
    labels = np.where(X[:, 0] > 0, "a", "b")
    model = KitchenSinksClassifier(Gaussian(1.0), 10, random_state=0).fit(X, labels)
    connection = http.client.HTTPConnection("127.0.0.1", serve(model), timeout=30)
    _, found = ask(connection, json.dumps({"rows": X[:2].tolist()}))
    assert found["predictions"] == model.predict(X[:2]).tolist()
    assert found["classes"] == ["a", "b"]
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(X[:2]), atol=1e-6)
    connection.close()
    frame = pd.DataFrame({"town": labels, "x": X[:, 0], "y": X[:, 1]})
    model = BoostedTreesRegressor(4, random_state=0)
    model.fit(frame[["town", "x"]], frame["y"])
    connection = http.client.HTTPConnection("127.0.0.1", serve(model), timeout=30)
    status, found = ask(connection, '{"rows": [{"town": "a", "x": 1.5}, {"town": null, "x": 0}]}')
    assert status == 200
    assert np.shape(found["intervals"]) == (2, 2)
    status, found = ask(connection, '{"rows": [{"town": "a"}]}')
    assert (status, found) == (400, {"error": "KeyError: 'x'"})
    assert ask(connection, '{"rows": [[0, 1.5]]}')[0] == 400  # no names
    connection.close()
    model = BoostedTreesRegressor(4, early_stopping=False, random_state=0)
    connection = http.client.HTTPConnection("127.0.0.1", serve(model.fit(X, X[:, 0])), timeout=30)
    status, found = ask(connection, '{"rows": [[1, null, 3]]}')
    assert (status, list(found)) == (200, ["predictions"])
    connection.close()


def test_numbers_that_json_does_not_have_are_not_sent(serve):
    model = SimpleNamespace(predict=lambda X: X[:, 0] * np.inf)
    connection = http.client.HTTPConnection("127.0.0.1", serve(model), timeout=30)
    assert ask(connection, '{"rows": [[1, 2, 3]]}')[0] == 400
    connection.close()


def test_bodies_that_are_damaged_at_random_get_an_answer(serve, trees):
    connection = http.client.HTTPConnection("127.0.0.1", serve(trees), timeout=30)
    rng = np.random.default_rng(0)
    whole = '{"rows": [[1.5, -2, 3e3], [null, 4, 5]], "x": {"y": [true]}}'
    others = ["", *'[]{}",0é', "null", "NaN", "1e999", "9" * 400, "\\ud800"]
    statuses = set()
    for _ in range(300):
        body = list(whole)
        for at in rng.integers(len(body), size=rng.integers(1, 5)):
            body[at] = others[rng.integers(len(others))]
        statuses.add(ask(connection, "".join(body).encode())[0])
    connection.close()
    assert statuses == {200, 400}


def test_slow_clients_do_not_keep_others_waiting(serve, monkeypatch):
    monkeypatch.setattr(EXAMPLE["Handler"], "timeout", 0.2)
    port = serve(MODEL)
    head = b"POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\n{"
    slow = [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(20)]
    for one in slow:
        one.sendall(head)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    assert ask(connection, '{"rows": [[1, 2, 3]]}')[0] == 200
    connection.close()
    assert [one.recv(10) for one in slow] == [b""] * 20  # the server has hung up
    for one in slow:
        one.close()
