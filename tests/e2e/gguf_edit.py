"""A small editor for GGUF files (version 3): keys and tensors can be changed, added and removed.

Values are kept as the bytes that the file has; data of tensors is moved as it is, so that files can be made that
say one thing and hold another."""

import struct

ALIGNMENT = 32
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
STRING, ARRAY = 8, 9


def string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        self.at += size
        return self.data[self.at - size:self.at]

    def number(self, code):
        return struct.unpack("<" + code, self.take(struct.calcsize(code)))[0]

    def text(self):
        return self.take(self.number("Q")).decode()

    def value(self, kind):
        """The bytes of a value of this type."""
        start = self.at
        if kind == STRING:
            self.take(self.number("Q"))
        elif kind == ARRAY:
            element, count = self.number("I"), self.number("Q")
            for _ in range(count):
                self.value(element)
        else:
            self.take(SIZES[kind])
        return self.data[start:self.at]


class Tensor:
    def __init__(self, dims, kind, data):
        self.dims, self.kind, self.data = dims, kind, data


class Gguf:
    def __init__(self, path):
        with open(path, "rb") as file:
            reader = Reader(file.read())
        assert reader.take(4) == b"GGUF" and reader.number("I") == 3
        n_tensors, n_keys = reader.number("Q"), reader.number("Q")
        self.keys = {}
        for _ in range(n_keys):
            key, kind = reader.text(), reader.number("I")
            self.keys[key] = (kind, reader.value(kind))
        directory = []
        for _ in range(n_tensors):
            name, n_dims = reader.text(), reader.number("I")
            dims = [reader.number("Q") for _ in range(n_dims)]
            directory.append((name, dims, reader.number("I"), reader.number("Q")))
        base = -(-reader.at // ALIGNMENT) * ALIGNMENT
        ends = sorted([offset for _, _, _, offset in directory] + [len(reader.data) - base])
        self.tensors = {}
        for name, dims, kind, offset in directory:
            end = ends[ends.index(offset) + 1]
            self.tensors[name] = Tensor(dims, kind, reader.data[base + offset:base + end])

    def set_string(self, key, text):
        self.keys[key] = (STRING, string(text))

    def set_u32(self, key, number):
        self.keys[key] = (4, struct.pack("<I", number))

    def bytes(self):
        out = b"GGUF" + struct.pack("<IQQ", 3, len(self.tensors), len(self.keys))
        for key, (kind, value) in self.keys.items():
            out += string(key) + struct.pack("<I", kind) + value
        offset = 0
        for name, tensor in self.tensors.items():
            out += string(name) + struct.pack(f"<I{len(tensor.dims)}QIQ", len(tensor.dims), *tensor.dims, tensor.kind, offset)
            offset += -(-len(tensor.data) // ALIGNMENT) * ALIGNMENT
        for tensor in self.tensors.values():
            out += b"\0" * (-len(out) % ALIGNMENT) + tensor.data
        return out + b"\0" * (-len(out) % ALIGNMENT)
