"""Files of models and checkpoints: writing, reading and checking them."""
