"""Files of models and checkpoints: how they are written, read and refused."""
