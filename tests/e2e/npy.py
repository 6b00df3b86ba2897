"""Reads .npy files of float32 matrices, without numpy."""

import array
import ast
import struct


def read(path):
    """(shape, array of all values)."""
    with open(path, "rb") as file:
        magic, version, size = struct.unpack("<6sHH", file.read(10))
        assert magic == b"\x93NUMPY" and version == 1
        header = ast.literal_eval(file.read(size).decode())
        assert header["descr"] == "<f4" and not header["fortran_order"]
        values = array.array("f")
        values.frombytes(file.read())
    return header["shape"], values
