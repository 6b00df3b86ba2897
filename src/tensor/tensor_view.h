// TensorView: type, shape and address of a tensor that someone else owns (a mapped file, a MemoryRegion).
//
// Never owns, cheap to copy. Shapes are stored as in GGUF files, contiguous dimension first: dims[0] is the
// row length. Comments elsewhere write shapes outermost first: [n_rows, n_cols] has dims {n_cols, n_rows}.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tensor/element_type.h"

namespace quire {

struct TensorView {
  ElementType type = ElementType::kF32;
  std::array<int64_t, 4> dims = {0, 1, 1, 1};  // contiguous first; missing dimensions are 1
  const std::byte* data = nullptr;

  int64_t n_cols() const { return dims[0]; }
  int64_t n_rows() const { return dims[1] * dims[2] * dims[3]; }
  int64_t n_elems() const { return n_cols() * n_rows(); }
  // Bytes from one row to the next. The type and dims were validated by whoever made the view.
  size_t row_stride() const {
    const ElementTypeInfo& info = element_type_info(type);
    return static_cast<size_t>(dims[0] / info.block_elems) * static_cast<size_t>(info.block_bytes);
  }
  size_t bytes() const { return row_stride() * static_cast<size_t>(n_rows()); }
  const std::byte* row(int64_t r) const { return data + static_cast<size_t>(r) * row_stride(); }
};

}  // namespace quire
