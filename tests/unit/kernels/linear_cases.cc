#include "linear_cases.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>

namespace quire::kernels {

uint32_t Random::next() {
  state_ += 0x9e3779b97f4a7c15u;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<uint32_t>((z ^ (z >> 31)) >> 16);
}

bool same_value(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}

namespace {

TestMatrix empty_matrix(ElementType type, int64_t n, int64_t k) {
  TestMatrix matrix;
  matrix.view.type = type;
  matrix.view.dims = {k, n, 1, 1};
  matrix.bytes.resize(matrix.view.bytes());
  matrix.view.data = matrix.bytes.data();
  return matrix;
}

bool moderate(const ElementTypeInfo& info, const std::byte* block) {
  float values[256];
  info.decode(block, values, info.block_elems);
  return std::all_of(values, values + info.block_elems, [](float v) { return std::fabs(v) < 1e4f; });
}

}  // namespace

TestMatrix random_matrix(ElementType type, int64_t n, int64_t k, uint64_t seed) {
  TestMatrix matrix = empty_matrix(type, n, k);
  const ElementTypeInfo& info = element_type_info(type);
  Random random(seed);
  for (size_t at = 0; at < matrix.bytes.size(); at += static_cast<size_t>(info.block_bytes)) {
    do {
      for (int i = 0; i < info.block_bytes; ++i) {
        matrix.bytes[at + static_cast<size_t>(i)] = static_cast<std::byte>(random.next());
      }
    } while (!moderate(info, &matrix.bytes[at]));
  }
  return matrix;
}

namespace {

// Where f16 fields lie that scale a block (-1: none).
struct ScaleFields {
  int first, second;
};
ScaleFields scale_fields(ElementType type) {
  switch (type) {
    case ElementType::kQ4_1:
    case ElementType::kQ5_1:
    case ElementType::kQ4_K:
    case ElementType::kQ5_K:
      return {0, 2};
    case ElementType::kQ6_K:
      return {208, -1};
    case ElementType::kQ2_K:
      return {80, 82};
    case ElementType::kQ3_K:
      return {108, -1};
    case ElementType::kMXFP4:
    case ElementType::kNVFP4:
      return {-1, -1};
    default:
      return {0, -1};
  }
}

// The byte that makes all codes lowest or highest: int8 from 0x80 to 0x7f, E2M1 from -6 (code 15) to 6 (code
// 7), all others unsigned.
int code_byte(ElementType type, Extreme extreme) {
  const bool highest = extreme == Extreme::kHighest;
  switch (type) {
    case ElementType::kQ8_0:
      return highest ? 0x7f : 0x80;
    case ElementType::kMXFP4:
    case ElementType::kNVFP4:
      return highest ? 0x77 : 0xff;
    default:
      return highest ? 0xff : 0x00;
  }
}

}  // namespace

TestMatrix extreme_matrix(ElementType type, int64_t n, int64_t k, Extreme extreme) {
  TestMatrix matrix = empty_matrix(type, n, k);
  const ElementTypeInfo& info = element_type_info(type);
  const uint16_t one = 0x3c00;
  for (size_t at = 0; at < matrix.bytes.size(); at += static_cast<size_t>(info.block_bytes)) {
    std::byte* block = &matrix.bytes[at];
    std::memset(block, code_byte(type, extreme), static_cast<size_t>(info.block_bytes));
    const ScaleFields fields = scale_fields(type);
    if (fields.first >= 0) std::memcpy(block + fields.first, &one, 2);
    if (fields.second >= 0) std::memcpy(block + fields.second, &one, 2);
    if (type == ElementType::kQ6_K) std::memset(block + 192, extreme == Extreme::kHighest ? 0x7f : 0x80, 16);
    if (type == ElementType::kMXFP4) block[0] = std::byte{127};
    if (type == ElementType::kNVFP4) std::memset(block, 0x7e, 4);  // the largest scale
  }
  return matrix;
}

TestMatrix hostile_scales_matrix(ElementType type, int64_t n, int64_t k, uint64_t seed) {
  TestMatrix matrix = random_matrix(type, n, k, seed);
  const ElementTypeInfo& info = element_type_info(type);
  const ScaleFields fields = scale_fields(type);
  Random random(seed + 1);
  // f16: zeros, denormals, the largest, infinities, NaNs.
  constexpr uint16_t kHalves[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff,
                                  0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00};
  const int64_t row_blocks = k / info.block_elems;
  for (int64_t row = 0; row < n; ++row) {
    const int64_t at = row * row_blocks + static_cast<int64_t>(random.next()) % row_blocks;
    std::byte* block = &matrix.bytes[static_cast<size_t>(at * info.block_bytes)];
    const uint16_t half = kHalves[static_cast<size_t>(row) % std::size(kHalves)];
    if (type == ElementType::kMXFP4 || type == ElementType::kNVFP4) {
      block[0] = static_cast<std::byte>(row * 255 / (n - 1));
    } else if (info.block_elems > 1) {
      std::memcpy(block + (row % 2 == 1 && fields.second >= 0 ? fields.second : fields.first), &half, 2);
    }
  }
  return matrix;
}

std::vector<float> random_rows(int64_t m, int64_t k, uint64_t seed) {
  Random random(seed);
  std::vector<float> x(static_cast<size_t>(m * k));
  for (float& value : x) {
    const int exponent = static_cast<int>(random.next() % 8) - 5;
    value = std::ldexp(random.uniform(), exponent);
  }
  return x;
}

}  // namespace quire::kernels
