"""
A Parquet file and the command line
===================================

The command ``trickless`` learns from files of tables, without a line of Python. This example writes
a Parquet file, fits a model, evaluates it and reads the predictions. The picture shows them with
their intervals.
"""

# %%
# Write two Parquet files
# -----------------------
#
# The command needs the extra ``cli``. From a checkout, install it like this:
#
# .. code-block:: bash
#
#    pip install ".[cli,plot]"
#
# The table is simulated: the power that three kinds of buildings use, at some outside temperature.
# Some temperatures are missing. The new file has no column ``power``.

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

plt.style.use("trickless.style")
rng = np.random.default_rng(0)

N_ROWS, KINDS = 6000, ["office", "school", "shop"]
kind = rng.choice(KINDS, N_ROWS)
temperature = rng.normal(12, 9, N_ROWS)
heating = np.maximum(16 - temperature, 0) * pd.Series(kind).map(
    {"office": 1.5, "school": 2.5, "shop": 1.0}
)
cooling = np.maximum(temperature - 22, 0) * np.where(kind == "shop", 3.0, 1.0)
table = pd.DataFrame({"kind": kind, "temperature": temperature})
table["power"] = 30 + heating + cooling + rng.normal(0, 4, N_ROWS)
table.loc[rng.random(N_ROWS) < 0.05, "temperature"] = np.nan

temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name)
table[:5000].to_parquet(folder / "old.parquet")
table[5000:].to_parquet(folder / "recent.parquet")
grid = [(name, t) for name in KINDS for t in np.linspace(-8, 32, 161)]
pd.DataFrame(grid, columns=["kind", "temperature"]).to_parquet(folder / "new.parquet")

# %%
# Run the commands
# ----------------
#
# In a shell you type each line after the ``$``. Here Python runs them, and prints what they print.
# ``--interval 0.9`` adds the ends of an interval that contains a new value with probability 90 %.

commands = """
trickless fit old.parquet --target power --out power.trickless --learner kitchen-sinks
trickless evaluate power.trickless recent.parquet --target power
trickless predict power.trickless new.parquet --out predictions.parquet --interval 0.9 --keep kind
trickless describe power.trickless
"""
for command in commands.strip().splitlines():
    print(f"$ {command}")
    arguments = [sys.executable, "-m", "trickless", *command.split()[1:]]
    done = subprocess.run(arguments, cwd=folder, check=True, capture_output=True, text=True)
    print(done.stdout)

# %%
# Read the predictions
# --------------------
#
# The output is a table in the order of the rows. ``--keep kind`` copied that column.

predictions = pd.read_parquet(folder / "predictions.parquet")
temporary.cleanup()
print(predictions.head())

fig, axes = plt.subplots(1, 3, figsize=(9, 3.4), sharey=True)
recent = table[5000:]
for ax, name, color in zip(axes, KINDS, ("C0", "C1", "C2"), strict=True):
    rows = predictions[predictions["kind"] == name]
    at = np.linspace(-8, 32, 161)
    seen = recent[recent["kind"] == name]
    ax.plot(seen["temperature"], seen["power"], ".", color="0.6", label="recent rows")
    ax.fill_between(
        at,
        rows["lower"],
        rows["upper"],
        color=color,
        alpha=0.25,
        linewidth=0,
        label="90 % interval",
    )
    ax.plot(at, rows["prediction"], color=color, label="prediction")
    ax.set(title=name.capitalize(), xlabel="temperature (°C)", xlim=(-8, 32))
    ax.legend(loc="upper right")
axes[0].set(ylabel="power (kW)", ylim=(15, 115))
plt.show()

# %%
# What to try next
# ----------------
#
# - All commands and options: :doc:`/guides/command-line`.
# - The same from Python, with trees: :ref:`sphx_glr_gallery_a_table_with_categories.py`.
# - What the intervals promise: :doc:`/guides/error-bars`.
