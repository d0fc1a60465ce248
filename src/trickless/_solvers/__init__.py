"""How coefficients are found: plain classes and functions that know no estimator."""
