"""Serve a model over HTTP, with the standard library alone.

::

    python examples/serve.py model.trickless --port 8000
    curl -d '{"rows": [[0.5, 1.2, null]]}' http://127.0.0.1:8000/predict

A row is a list of numbers, or an object by the names of columns for a model of ``trickless fit``.
``null`` is a missing value. The answer has ``predictions``, with ``intervals`` of 90 % for a
regressor that has them, or ``probabilities`` of the ``classes`` for a classifier. A request that
cannot be answered gets a status from 400 to 499, and ``error`` says why.
"""

import argparse
import json
import math
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

import trickless

MOST_BYTES, MOST_ROWS = 2**20, 1000
CONFIDENCE = 0.9


class RefusedError(Exception):
    """A request that cannot be answered, with its status."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def answer(model, rows):
    """Predict rows, with intervals or probabilities."""
    found = {"predictions": model.predict(rows).tolist()}
    if hasattr(model, "classes_"):
        if hasattr(model, "predict_proba"):
            found["classes"] = model.classes_.tolist()
            found["probabilities"] = model.predict_proba(rows).tolist()
    elif hasattr(model, "predict_interval"):
        found["intervals"] = model.predict_interval(rows, confidence=CONFIDENCE).tolist()
    return found


def rows_of(body):
    """Read rows from the text of a request."""
    try:
        asked = json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise RefusedError(400, f"the body is not JSON: {error}") from error
    rows = asked.get("rows") if isinstance(asked, dict) else None
    if not isinstance(rows, list) or not 0 < len(rows) <= MOST_ROWS:
        raise RefusedError(400, f'the body must be {{"rows": [...]}} with 1 to {MOST_ROWS} rows')
    if all(isinstance(row, dict) for row in rows):
        import pandas as pd

        return pd.DataFrame(rows)
    return np.array([_numbers(row, i, len(rows[0])) for i, row in enumerate(rows)])


def _no_number(text):
    raise ValueError(f"{text} is not a number of JSON; null is a missing value")


def _numbers(row, i, length):
    """Check a row of numbers, all of which have one length."""
    if not isinstance(row, list) or len(row) != length:
        raise RefusedError(400, f"row {i} is not a list of {length} numbers, as the first row")
    for value in row:
        if isinstance(value, bool) or not isinstance(value, int | float | None):
            raise RefusedError(400, f"row {i} holds {str(value)[:50]!r}, which is not a number")
        if value is not None and not abs(value) <= 1e308:
            raise RefusedError(400, f"row {i} holds a number that is too large")
    return [math.nan if value is None else float(value) for value in row]


class Handler(BaseHTTPRequestHandler):
    """Answers POST /predict, and GET /health for whoever watches the server."""

    protocol_version = "HTTP/1.1"  # keeps connections open
    timeout = 10  # seconds for a request to arrive
    wbufsize = -1  # an answer leaves in one piece
    model = None

    def do_POST(self):
        try:
            body = self._body()
            if self.path != "/predict":
                raise RefusedError(404, f"there is no {self.path[:100]}, but POST /predict")
            self._send(200, self._answered(rows_of(body)))
        except RefusedError as refused:
            self._send(refused.status, {"error": str(refused)})

    def do_GET(self):
        if self.path == "/health":
            self._send(200, {"status": "ok"})
        else:
            self._send(404, {"error": "POST rows to /predict"})

    def _body(self):
        length = self.headers.get("Content-Length", "")
        self.close_connection = True  # unless the body was read, the next request is lost in it
        if not length.isascii() or not length.isdigit() or "Transfer-Encoding" in self.headers:
            raise RefusedError(411, "a request needs a Content-Length, and no Transfer-Encoding")
        if int(length[:20]) > MOST_BYTES:
            raise RefusedError(
                413, f"the body has {length[:20]} bytes, and {MOST_BYTES} are accepted"
            )
        body = self.rfile.read(int(length))
        self.close_connection = self.headers.get("Connection", "").lower() == "close"
        return body

    def _answered(self, rows):
        try:
            return answer(self.model, rows)
        except (ValueError, TypeError, OverflowError) as error:  # rows that the model refuses
            raise RefusedError(422, str(error)) from error

    def _send(self, status, found):
        body = json.dumps(found).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Write no line for each request."""


def make_server(model, host="127.0.0.1", port=0):
    """Make a server of a model, which all its threads share. Port 0 takes a free one."""
    return ThreadingHTTPServer((host, port), type("Handler", (Handler,), {"model": model}))


def main():
    parser = argparse.ArgumentParser(description="Serve a model over HTTP.")
    parser.add_argument("model", help="file of trickless.save")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    given = parser.parse_args()
    with make_server(trickless.load(given.model), given.host, given.port) as server:
        print(f"http://{given.host}:{server.server_port}/predict", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
