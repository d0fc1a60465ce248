"""Files of models and checkpoints: what is written, and what is refused."""
