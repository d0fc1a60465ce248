"""Files of models: writing, reading and checking them."""
