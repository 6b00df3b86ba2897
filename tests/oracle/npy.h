// Reads float32 .npy files of one or two dimensions: the form of the oracle's logits and hidden rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace quire::oracle {

struct Array {
  std::vector<int64_t> shape;
  std::vector<float> values;
  // Row r of a matrix, or of an array whose last dimension is a row.
  std::span<const float> row(int64_t r) const {
    const auto width = static_cast<size_t>(shape.back());
    return {values.data() + static_cast<size_t>(r) * width, width};
  }
};

Result<Array> read_npy(const std::string& path);

}  // namespace quire::oracle
