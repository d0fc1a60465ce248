"""The same family at several length scales."""

from __future__ import annotations

from copy import copy

from trickless.neurons import Neurons

#: Length scales of the experts, times that of the family.
SCALES = (1.0, 3.0)


def at_scale(family: Neurons, factor: float) -> Neurons:
    """Return a fitted family with its length scales multiplied by a factor.

    It is the family itself if it has none.
    """
    change = getattr(family, "with_length_scale", None)
    if change is not None:
        scaled: Neurons = change(factor * family.length_scale_)
        return scaled
    parts = getattr(family, "parts_", None) or []
    changed = [at_scale(part, factor) for part in parts]
    if all(new is old for new, old in zip(changed, parts, strict=True)):
        return family
    other: Neurons = copy(family)._with_parts(changed)
    return other


def at_scales(family: Neurons) -> tuple[list[Neurons], list[float]]:
    """Return a fitted family at all length scales, and their factors; one if it has none."""
    families = [at_scale(family, factor) for factor in SCALES]
    if all(each is family for each in families):
        return [family], [1.0]
    return families, list(SCALES)
