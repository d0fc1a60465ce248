"""Arrays: where they live, how their rows are shared out to threads, how they grow."""
