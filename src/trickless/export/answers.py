"""What a program answers: numbers, labels and probabilities, from decision values."""

from __future__ import annotations

from trickless.export.program import DOUBLE, Program, code
from trickless.learners.described import Described

_DECIDE = """
double v[$width];
if (read(x, v)) return 1;
for (int o = 0; o < $outputs; o++) f[o] = intercept[o];
$neurons
for (int o = 0; o < $outputs; o++) {
  if (!(fabs(f[o]) <= $largest)) return 1;
}
return 0;
"""
#: Computes the decision values ``f``.
BEGIN = """
double f[$outputs];
if (decide(x, f)) return 1;
"""
#: What a regressor does with the values of its network.
_LINKS = {
    "identity": "for (int o = 0; o < $outputs; o++) y[o] = f[o];",
    "exp": "for (int o = 0; o < $outputs; o++) y[o] = exp(f[o]);",
    "sort": """
for (int o = 0; o < $outputs; o++) {
  int i = o;
  while (i > 0 && y[i - 1] > f[o]) {
    y[i] = y[i - 1];
    i--;
  }
  y[i] = f[o];
}
""",
}
_LABELS = {
    "two": "y[0] = f[0] > 0.0 ? 1.0 : 0.0;",
    "several": """
int best = 0;
for (int o = 1; o < $outputs; o++) {
  if (f[o] > f[best]) best = o;
}
y[0] = best;
""",
    "sets": "for (int o = 0; o < $outputs; o++) y[o] = f[o] > 0.0 ? 1.0 : 0.0;",
}
#: A logistic function that does not overflow.
_LOGISTIC = """
double g = f[$o] / (f[$o] < 0.0 ? $below : $above);
  double e = exp(-fabs(g));
  double chance = (g > 0.0 ? 1.0 : e) / (1.0 + e);
"""
_CHANCES = {
    "two": """
{
  $logistic
  p[0] = (g > 0.0 ? e : 1.0) / (1.0 + e);
  p[1] = chance;
}
""",
    "several": """
double top = f[0];
for (int o = 1; o < $outputs; o++) {
  if (f[o] > top) top = f[o];
}
double total = 0.0;
for (int o = 0; o < $outputs; o++) {
  p[o] = exp((f[o] - top) / $above);
  total += p[o];
}
for (int o = 0; o < $outputs; o++) p[o] /= total;
""",
    "sets": """
for (int o = 0; o < $outputs; o++) {
  $logistic
  p[o] = chance;
}
""",
}


def add_decision(program: Program, found: Described, neurons: str, width: int) -> None:
    """Add the function ``decide``, which computes the values of the network."""
    program.keep(intercept=found.intercept)
    numbers = {"width": width, "outputs": found.n_outputs, "neurons": neurons}
    program.add("decide", ("x", "f"), code(_DECIDE, **numbers, largest=repr(DOUBLE)))


def add_answers(program: Program, found: Described) -> None:
    """Add ``answer``, which predicts, and ``chances`` if there are probabilities."""
    numbers = {"outputs": found.n_outputs}
    begin, end = code(BEGIN, **numbers), "return 0;"
    if found.labels is None:
        program.add("answer", ("x", "y"), f"{begin}\n{code(_LINKS[found.link], **numbers)}\n{end}")
        return
    kind = "sets" if found.has_sets else "two" if found.n_outputs == 1 else "several"
    program.add("answer", ("x", "y"), f"{begin}\n{code(_LABELS[kind], **numbers)}\n{end}")
    if found.temperatures is None:
        return
    below, above = map(repr, map(float, found.temperatures))
    o = "0" if kind == "two" else "o"
    logistic = code(_LOGISTIC, o=o, below=below, above=above)
    chances = code(_CHANCES[kind], logistic=logistic, above=above, **numbers)
    program.add("chances", ("x", "p"), f"{begin}\n{chances}\n{end}")
