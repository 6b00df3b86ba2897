"""Writes a GGUF file again with every tensor decoded to F32. Runs in an environment that has the `gguf` package.

    python to_f32.py model.gguf model-f32.gguf
"""

import sys

import gguf
import numpy


def copy_metadata(reader, writer):
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name == gguf.Keys.General.ARCHITECTURE:
            continue
        if field.name in (gguf.Keys.General.FILE_TYPE, gguf.Keys.General.QUANTIZATION_VERSION):
            continue
        sub_type = field.types[-1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), field.types[0], sub_type=sub_type)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)


def main():
    source, target = sys.argv[1:]
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(target, reader.fields[gguf.Keys.General.ARCHITECTURE].contents())
    copy_metadata(reader, writer)
    for tensor in reader.tensors:
        shape = [int(n) for n in reversed(tensor.shape)]
        size = 4 * int(numpy.prod(shape))
        writer.add_tensor_info(tensor.name, shape, numpy.dtype(numpy.float32), size)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    for tensor in reader.tensors:
        values = gguf.dequantize(tensor.data, tensor.tensor_type).astype(numpy.float32)
        writer.write_tensor_data(values.reshape([int(n) for n in reversed(tensor.shape)]))
    writer.close()


if __name__ == "__main__":
    main()
