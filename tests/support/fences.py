"""Arrays between pages that nobody may touch, so that no read or write beyond them goes unseen.

``Fences()`` makes NumPy allocate the arrays of this thread in pages of their own. Pages without any
rights lie before and after them, so that a read or a write there ends the process by a signal. An
array lies at the end of its pages, so that one byte behind it is seen, or at their beginning, so
that one before it is seen. Memory is filled with a byte before it is used. So a program that uses
numbers that nobody gave it has other results with another byte.

The allocator is compiled by numba, since it runs inside of NumPy. Pages are used again, because
asking the system for new ones takes thirty times as long.
"""

import ctypes
import mmap

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

PAGE = mmap.PAGESIZE
#: Bytes without rights between two arrays.
GUARD = 64 * PAGE
#: Pages of an array, and arrays of that size at a time. Other arrays take pages of the system.
ROOMS, SLOTS = (1, 4, 16, 64), 4096
_NONE, _READ, _BOTH = 0, mmap.PROT_READ, mmap.PROT_READ | mmap.PROT_WRITE
_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0)
#: The place of ``PyDataMem_SetHandler`` in the table of NumPy's C interface.
_SET_HANDLER = 304
#: Numbers of the state: the side, the byte, and for each room the start of its pages, how many
#: were used so far, how many are free, which of them, and the sizes of their arrays.
_EACH = 3 + 2 * SLOTS
_STATE = 2 + len(ROOMS) * _EACH

_word = types.intp
_mmap = types.ExternalFunction("mmap", _word(*6 * [_word]))
_munmap = types.ExternalFunction("munmap", _word(_word, _word))
_mprotect = types.ExternalFunction("mprotect", _word(_word, _word, _word))
_memset = types.ExternalFunction("memset", _word(_word, _word, _word))
_memcpy = types.ExternalFunction("memcpy", _word(_word, _word, _word))


@intrinsic
def _get(_, address):
    """The number at an address of memory."""

    def code(context, builder, signature, arguments):
        kind = context.get_value_type(_word).as_pointer()
        return builder.load(builder.inttoptr(arguments[0], kind))

    return _word(_word), code


@intrinsic
def _put(_, address, number):
    """Write a number to an address of memory."""

    def code(context, builder, signature, arguments):
        kind = context.get_value_type(_word).as_pointer()
        builder.store(arguments[1], builder.inttoptr(arguments[0], kind))
        return arguments[1]

    return _word(_word, _word), code


@numba.njit(cache=True)
def _reserve(n_bytes):
    """Addresses without rights, which take no memory."""
    return _mmap(0, n_bytes, _NONE, _FLAGS, -1, 0)


@numba.njit(cache=True)
def _stride(room):
    return room * PAGE + GUARD


@numba.njit(cache=True)
def _room_of(state, address):
    """The place in the state of the room that an address is in; 0 if it is in none."""
    for k in range(len(ROOMS)):
        place = state + 8 * (2 + k * _EACH)
        start = _get(place)
        if start <= address < start + SLOTS * _stride(ROOMS[k]):
            return place
    return 0


@numba.njit(cache=True)
def _slot(place, state, address):
    """The number of the pages that an address is in."""
    k = (place - state - 16) // (8 * _EACH)
    return (address - _get(place)) // _stride(ROOMS[k])


@numba.njit(cache=True)
def _filled(state, start, n_bytes, size, byte):
    """Fill pages, and place an array in them."""
    _memset(start, byte, n_bytes)
    return start + (n_bytes - size if _get(state) else 0)


@numba.njit(cache=True)
def _take(state, size, byte):
    """Memory for an array."""
    size = max(size, 1)
    for k in range(len(ROOMS)):
        place, n_bytes = state + 8 * (2 + k * _EACH), ROOMS[k] * PAGE
        if size > n_bytes:
            continue
        n_used, n_free = _get(place + 8), _get(place + 16)
        if n_free:
            slot = _get(place + 24 + 8 * (n_free - 1))
            _put(place + 16, n_free - 1)
        elif n_used < SLOTS:
            slot = n_used
            if _mprotect(_get(place) + slot * _stride(ROOMS[k]), n_bytes, _BOTH):
                return 0
            _put(place + 8, n_used + 1)
        else:
            continue
        _put(place + 24 + 8 * (SLOTS + slot), size)
        return _filled(state, _get(place) + slot * _stride(ROOMS[k]), n_bytes, size, byte)
    n_bytes = (size + PAGE - 1) // PAGE * PAGE
    whole = GUARD + PAGE + n_bytes + GUARD
    start = _mmap(0, whole, _NONE, _FLAGS, -1, 0)
    header = start + GUARD  # a page with the size, without rights until the array is freed
    if start == -1:
        return 0
    if _mprotect(header, PAGE + n_bytes, _BOTH):
        _munmap(start, whole)
        return 0
    _put(header, size)
    _mprotect(header, PAGE, _NONE)
    return _filled(state, header + PAGE, n_bytes, size, byte)


@numba.njit(cache=True)
def _size(state, address):
    """The size of an array."""
    place = _room_of(state, address)
    if place:
        return _get(place + 24 + 8 * (SLOTS + _slot(place, state, address)))
    header = address // PAGE * PAGE - PAGE
    _mprotect(header, PAGE, _READ)
    return _get(header)


@numba.njit(cache=True)
def _give(state, address):
    """Take memory back."""
    place = _room_of(state, address)
    if place:
        n_free = _get(place + 16)
        _put(place + 24 + 8 * n_free, _slot(place, state, address))
        _put(place + 16, n_free + 1)
        return
    n_bytes = (_size(state, address) + PAGE - 1) // PAGE * PAGE
    start = address // PAGE * PAGE - PAGE - GUARD
    _munmap(start, GUARD + PAGE + n_bytes + GUARD)


def _functions():
    """The functions of the allocator, as C knows them."""

    def malloc(state, size):
        return _take(state, size, _get(state + 8))

    def calloc(state, n, size):
        return _take(state, n * size, 0)

    def realloc(state, address, size):
        new = _take(state, size, _get(state + 8))
        if new and address:
            _memcpy(new, address, min(size, _size(state, address)))
            _give(state, address)
        return new

    def free(state, address, _):
        if address:
            _give(state, address)

    signatures = [_word(*n * [_word]) for n in (2, 3, 3)] + [types.void(_word, _word, _word)]
    functions = malloc, calloc, realloc, free
    return [numba.cfunc(s, cache=True)(f) for s, f in zip(signatures, functions, strict=True)]


class _Handler(ctypes.Structure):
    """``PyDataMem_Handler`` of NumPy."""

    _fields_ = [
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("state", ctypes.c_void_p),
        *((name, ctypes.c_void_p) for name in ("malloc", "calloc", "realloc", "free")),
    ]


class Fences:
    """The allocator of this thread's arrays from now on, until the process ends."""

    def __init__(self):
        self._state = np.zeros(_STATE, dtype=np.intp)
        for k, room in enumerate(ROOMS):
            n_bytes = SLOTS * (room * PAGE + GUARD) + GUARD
            self._state[2 + k * _EACH] = _reserve(n_bytes) + GUARD
        self._functions = _functions()
        addresses = [function.address for function in self._functions]
        self._handler = _Handler(b"fences", 1, self._state.ctypes.data, *addresses)
        _ALL.append(self)
        self.set(True, 255)
        new, pointer = ctypes.pythonapi.PyCapsule_New, ctypes.pythonapi.PyCapsule_GetPointer
        new.restype, pointer.restype = ctypes.py_object, ctypes.c_void_p
        new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
        capsule = new(ctypes.addressof(self._handler), b"mem_handler", None)
        table = pointer(np._core._multiarray_umath._ARRAY_API, None)
        function = ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[_SET_HANDLER]
        ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(function)(capsule)

    def set(self, at_end, byte):
        """Let arrays lie at the end or beginning of pages that are filled with a byte."""
        self._state[:2] = at_end, byte


#: Arrays keep their allocator until they are freed.
_ALL = []
