"""
A neuron for strings
====================

A family of neurons is two functions: how to draw weights, and how to evaluate a neuron. Fifteen
lines make one for words. The picture shows its kernel, under which words that share pairs of
letters resemble each other. A classifier then guesses the language of single words. There are four
languages, and about two in three guesses are right.
"""

# %%
# Words of four languages
# -----------------------
#
# The list has about 48 common words of each language.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import cross_val_predict

from trickless import KitchenSinksClassifier
from trickless.inspection import estimate_kernel
from trickless.neurons import Neurons

plt.style.use("trickless.style")

WORDS = {
    "English": """water people through thought house world school country night light right which
        there where other would could should friend mother father brother church window morning
        evening weather kitchen garden bridge street flower children together before between
        nothing something always never working looking think know white yellow green they""",
    "German": """wasser leute durch gedanke haus welt schule land nacht licht rechts welche
        zwischen zusammen andere werden konnte sollte freund mutter vater bruder kirche fenster
        morgen abend wetter garten strasse blume kinder nichts etwas immer niemals arbeiten sehen
        denken wissen weiss gelb schwarz schnell sprechen schreiben vielleicht geschichte zeit""",
    "Italian": """acqua gente attraverso pensiero casa mondo scuola paese notte luce destra quale
        insieme altro potrebbe dovrebbe amico madre padre fratello chiesa finestra mattina sera
        tempo cucina giardino ponte strada fiore bambini prima niente qualcosa sempre lavorare
        guardare pensare sapere bianco giallo verde parlare scrivere ragazzo bello grande""",
    "Finnish": """vesi ihmiset kautta ajatus talo maailma koulu maa yksi valo oikea mikä missä
        toinen voisi pitäisi ystävä isä veli kirkko ikkuna aamu ilta sää keittiö puutarha silta
        katu kukka lapset yhdessä ennen mitään jotain aina koskaan tehdä katsoa ajatella tietää
        valkoinen keltainen vihreä puhua kirjoittaa poika kaunis suuri""",
}
words = [word for text in WORDS.values() for word in text.split()]
language = np.repeat(list(WORDS), [len(text.split()) for text in WORDS.values()])
print({name: int((language == name).sum()) for name in WORDS})

# %%
# Rows are numbers: one column for each letter, and 0 after the end.

ALPHABET = "".join(sorted({letter for word in words for letter in word}))
N_CODES, LONGEST = len(ALPHABET) + 1, max(map(len, words))


def as_row(word):
    return [ALPHABET.index(letter) + 1 for letter in word] + [0] * (LONGEST - len(word))


X = np.array([as_row(word) for word in words], float)

# %%
# The family
# ----------
#
# A neuron draws a normal number for each pair of neighbouring letters, adds the numbers of the
# pairs that occur, and returns the cosine and the sine of the sum. The pair of a letter and the end
# counts as well. Each neuron has two numbers, so ``width`` is 2.


class Pairs(Neurons):
    width = 2

    def __init__(self, length_scale=3.0):
        self.length_scale = length_scale

    def draw(self, rng, n):
        return (rng.standard_normal((n, N_CODES**2)) / self.length_scale,)

    def activate(self, X, weights):
        letters = np.clip(X, 0, N_CODES - 1).astype(int)
        pair = N_CODES * letters[:, :-1] + letters[:, 1:]
        counts = np.stack([np.bincount(row, minlength=N_CODES**2) for row in pair])
        counts[:, 0] = 0  # two codes after the end of the word
        total = counts @ weights[0].T
        return np.concatenate([np.cos(total), np.sin(total)], axis=1)


# %%
# Its kernel
# ----------
#
# ``estimate_kernel`` returns the kernel of all pairs of words, and its standard error. Words that
# rhyme are alike, as are words with the same ending, and some relatives across languages.

shown = """light night right would could should mother father brother mutter bruder wetter
    parlare lavorare guardare katsoa tehdä koskaan"""
some = shown.split()
rows = np.array([as_row(word) for word in some], float)
kernel, error = estimate_kernel(Pairs(2.0), rows, n_neurons=2000, random_state=0)
print(f"standard error: {error.max():.3f} at most")

fig, ax = plt.subplots(figsize=(6.4, 5.4))
image = ax.imshow(kernel, cmap="magma", vmin=0, vmax=1)
ax.set(title="Kernel of words", xticks=range(len(some)), yticks=range(len(some)))
ax.set_xticklabels(some, rotation=60, ha="right", rotation_mode="anchor")
ax.set_yticklabels(some)
ax.grid(False)
fig.colorbar(image, label="kernel")
plt.show()

# %%
# A classifier of languages
# -------------------------
#
# All learners work with the family. Kitchen Sinks learns from four fifths of the words and predicts
# the others. About two in three are right. It then learns all words, and reads four words that are
# not in the list. It is right about two of these four.

model = KitchenSinksClassifier(Pairs(), n_neurons=500, random_state=0)
predicted = cross_val_predict(model, X, language, cv=5)
fig, ax = plt.subplots(figsize=(5, 4.2))
ConfusionMatrixDisplay.from_predictions(
    language, predicted, labels=list(WORDS), cmap="Blues", colorbar=False, ax=ax
)
ax.set(title=f"{np.mean(predicted == language):.0%} of the words are correct")
ax.grid(False)
plt.show()

model.fit(X, language)
for word in ("schoolbook", "zusammenarbeit", "pomeriggio", "ystävällinen"):
    print(f"{word:<16}{model.predict([as_row(word)[:LONGEST]])[0]}")

# %%
# What to try next
# ----------------
#
# - What a family must promise: :doc:`/guides/write-a-neuron`.
# - Families that exist: :doc:`/guides/choose-neurons`.
# - Draw kernels along one feature: :ref:`sphx_glr_gallery_kernels_and_estimates.py`.
