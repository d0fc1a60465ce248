"""Fitted models for other runtimes: graphs of ONNX, C and JavaScript, which need no Python.

All three are printed from one graph (:mod:`trickless.export.graph`), which the model's own code
writes.
"""

from trickless.export.c import to_c
from trickless.export.javascript import to_js
from trickless.export.onnx import to_onnx

__all__ = ["to_c", "to_js", "to_onnx"]
