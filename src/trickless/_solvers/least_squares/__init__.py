"""Random Kitchen Sinks: least squares and convex losses on a fixed number of neurons."""
