"""The metadata that an estimator requests from scikit-learn's routing, as plain data.

scikit-learn keeps the requests in its own object, which refers back to the estimator.
"""

from __future__ import annotations

from typing import Any

import sklearn
from sklearn.utils.metadata_routing import MetadataRequest

#: The attribute of an estimator that holds its requests, once they were set.
ATTRIBUTE = "_metadata_request"


def requests_of(request: MetadataRequest) -> dict[str, dict[str, Any]]:
    """Return the requests of each method, by the names of methods and of metadata."""
    methods = {name: getattr(part, "requests", None) for name, part in vars(request).items()}
    return {name: dict(asked) for name, asked in methods.items() if asked}


def set_requests(estimator: Any, requests: Any) -> None:
    """Set the requests of an estimator. Raise an error for requests that it cannot have."""
    methods = vars(MetadataRequest(owner=None))
    with sklearn.config_context(enable_metadata_routing=True):
        for method, asked in requests.items():
            if method == "owner" or method not in methods:
                raise ValueError(f"{ascii(method)[:100]} is not a method that takes metadata")
            getattr(estimator, f"set_{method}_request")(**asked)
