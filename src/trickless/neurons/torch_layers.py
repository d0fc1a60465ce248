"""Layers of many torch modules at once, with the channels of all modules side by side.

A convolution of few channels takes most of its time outside its arithmetic, and a pooling reads
neighbours one number at a time. With the channels of some modules side by side, as the innermost
axis in memory, both work on whole vector registers.
"""

from __future__ import annotations

from typing import Any

from trickless.neurons.foreign import library

_POOLS = ("MaxPool2d", "AvgPool2d", "AdaptiveMaxPool2d", "AdaptiveAvgPool2d")


def torch() -> Any:
    """Import torch, or say what to install."""
    return library("FromTorch", "torch", "torch")


def evaluate(module: Any, weights: dict[str, Any], h: Any) -> Any:
    """Evaluate n modules, which differ in their weights, and return outputs (n, n_rows, ...).

    Each module has its own rows, (n, n_rows, ...), or all modules have the same, (1, n_rows, ...).
    A layer without weights that has the same rows for all modules is evaluated once.
    """
    if _is(module, "Sequential"):
        out = h.clone()  # a layer may work in place
        for name, part in module._modules.items():
            start = f"{name}."
            own = {key[len(start) :]: w for key, w in weights.items() if key.startswith(start)}
            out = evaluate(part, own, out)
            if not isinstance(out, torch().Tensor):
                break
        else:
            return out
    elif h.ndim == 5 and _is(module, "Conv2d") and module.padding_mode == "zeros":
        return _convolved(module, h, **weights)
    elif h.ndim == 5 and _is(module, *_POOLS) and not getattr(module, "return_indices", False):
        return _apart(module(_side_by_side(h)), len(h))
    shared = bool(weights) and len(h) == 1
    each = torch().func.vmap(
        lambda weights, rows: torch().func.functional_call(module, weights, (rows,)),
        in_dims=(0 if weights else None, None if shared else 0),
    )
    return each(weights, h[0] if shared else h)


def _convolved(module: Any, h: Any, weight: Any, bias: Any = None) -> Any:
    """Convolve in groups, which are the modules, unless all modules see the same rows."""
    n = len(weight)
    if module.groups > 1:
        h = h.expand(n, *h.shape[1:])
    out = torch().nn.functional.conv2d(
        _side_by_side(h),
        weight.flatten(0, 1),
        None if bias is None else bias.flatten(),
        module.stride,
        module.padding,
        module.dilation,
        module.groups * len(h),
    )
    return _apart(out, n)


def _side_by_side(h: Any) -> Any:
    """Reshape (n, n_rows, channels, ...) to (n_rows, n * channels, ...), channels innermost."""
    x = h.transpose(0, 1).flatten(1, 2)
    return x if x.stride(1) == 1 else x.clone(memory_format=torch().channels_last)


def _apart(x: Any, n: int) -> Any:
    return x.unflatten(1, (n, -1)).transpose(0, 1)


def _is(module: Any, *names: str) -> bool:
    """Return whether a module is exactly of one of these classes, and has no hooks."""
    hooked = module._forward_hooks or module._forward_pre_hooks
    return type(module) in [getattr(torch().nn, name) for name in names] and not hooked
