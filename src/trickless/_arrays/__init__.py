"""Arrays: libraries and devices, threads that share rows, and arrays that grow."""
