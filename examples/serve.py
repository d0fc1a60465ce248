"""Serve a model over HTTP, with the standard library alone.

::

    python examples/serve.py model.trickless 127.0.0.1 8000
    curl -d '{"rows": [[0.5, 1.2, null]]}' http://127.0.0.1:8000

A row is a list of numbers, or an object by the names of columns for a model that was fitted to a
data frame. ``null`` is a missing value. The answer has ``predictions``, with ``intervals`` of 90 %
for a regressor that has them, or ``probabilities`` of the ``classes`` for a classifier. A request
that cannot be answered gets the status 400, and ``error`` says why.
"""

import json
import sys
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pandas as pd

import trickless

MOST_BYTES, MOST_ROWS = 2**20, 1000


def answer(model, rows):
    """Predict rows as JSON has them, with intervals or probabilities."""
    if not isinstance(rows, list) or not 0 < len(rows) <= MOST_ROWS:
        raise ValueError(f'the body must be {{"rows": [...]}}, with 1 to {MOST_ROWS} rows')
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        X = np.array(rows, dtype=float)  # null is NaN
    else:
        X = pd.DataFrame([[row[name] for name in names] for row in rows], columns=names)
    found = {"predictions": model.predict(X)}
    if hasattr(model, "predict_proba"):
        found |= {"classes": model.classes_, "probabilities": model.predict_proba(X)}
    with suppress(AttributeError, ValueError):  # the model has none
        found["intervals"] = model.predict_interval(X, confidence=0.9)
    return {name: values.tolist() for name, values in found.items()}


class Handler(BaseHTTPRequestHandler):
    """Answers POST with predictions, and GET for whoever watches the server."""

    timeout = 10  # seconds that a client may be silent

    def do_POST(self):
        try:
            n_bytes = int(self.headers["Content-Length"] or -1)
            if not 0 <= n_bytes <= MOST_BYTES:
                raise ValueError(f"a request needs a Content-Length of up to {MOST_BYTES} bytes")
            body = json.loads(self.rfile.read(n_bytes))
            found = answer(self.server.model, dict(body).get("rows"))
            status, text = 200, json.dumps(found, allow_nan=False)
        except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
            status, text = 400, json.dumps({"error": f"{type(error).__name__}: {error}"})
        self.send(status, text)

    def do_GET(self):
        self.send(200, '{"status": "ok"}')

    def send(self, status, text):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args):
        """Write no line for each request."""


def make_server(model, host="127.0.0.1", port=0):
    """Make a server of a model, which all its threads share. Port 0 takes a free one."""
    server = ThreadingHTTPServer((host, port), Handler)
    server.socket.listen(128)  # so many clients may arrive at once
    server.model = model
    return server


if __name__ == "__main__":
    path, host, port = sys.argv[1:]
    make_server(trickless.load(path), host, int(port)).serve_forever()
