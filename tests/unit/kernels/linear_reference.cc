// The plain computation of a linear layer (linear_cases.h).

#include <cmath>
#include <cstdlib>
#include <vector>

#include "linear_cases.h"
#include "tensor/formats/iq4_nl.h"
#include "tensor/formats/mxfp4.h"
#include "tensor/formats/q4_0.h"
#include "tensor/formats/q4_1.h"
#include "tensor/formats/q4_k.h"
#include "tensor/formats/q5_0.h"
#include "tensor/formats/q5_1.h"
#include "tensor/formats/q5_k.h"
#include "tensor/formats/q6_k.h"
#include "tensor/formats/q8_0.h"
#include "tensor/half.h"

namespace quire::kernels {

QuantizedRow quantize_reference(const float* x, int64_t k) {
  QuantizedRow row;
  row.block = 32;
  for (int64_t first = 0; first < k; first += row.block) {
    std::vector<float> values(static_cast<size_t>(row.block), 0.0f);
    for (int64_t i = 0; i < row.block && first + i < k; ++i) values[static_cast<size_t>(i)] = x[first + i];
    float amax = 0.0f;
    bool finite = true;
    for (const float v : values) {
      finite = finite && std::isfinite(v);
      amax = std::fmax(amax, std::fabs(v));
    }
    const bool tiny = amax < 0x1p-100f;
    row.scales.push_back(!finite ? std::nanf("") : tiny ? 0.0f : amax / 127.0f);
    for (const float v : values) {
      row.codes.push_back(!finite || tiny ? 0 : static_cast<int>(std::nearbyint(v * (127.0f / amax))));
    }
  }
  return row;
}

namespace {

// Blocks of 32: code - offset, and y = code * d (+ m).
struct Codes32 {
  int codes[32];
  float d;
  float m = 0.0f;
};

template <typename Block, typename Code>
Codes32 read_codes(const std::byte* at, Code code, float d, float m = 0.0f) {
  const auto& block = *reinterpret_cast<const Block*>(at);
  Codes32 read = {.codes = {}, .d = d, .m = m};
  for (int i = 0; i < 32; ++i) read.codes[i] = code(block, i);
  return read;
}

template <typename Block>
float scale_of(const std::byte* at) {
  return f16_to_f32(reinterpret_cast<const Block*>(at)->d);
}
template <typename Block>
float minimum_of(const std::byte* at) {
  return f16_to_f32(reinterpret_cast<const Block*>(at)->m);
}

Codes32 read_block32(ElementType type, const std::byte* at) {
  switch (type) {
    case ElementType::kQ4_0:
      return read_codes<BlockQ4_0>(
          at, [](const BlockQ4_0& b, int i) { return q4_0_code(b, i) - 8; }, scale_of<BlockQ4_0>(at));
    case ElementType::kQ5_0:
      return read_codes<BlockQ5_0>(
          at, [](const BlockQ5_0& b, int i) { return q5_0_code(b, i) - 16; }, scale_of<BlockQ5_0>(at));
    case ElementType::kQ8_0:
      return read_codes<BlockQ8_0>(
          at, [](const BlockQ8_0& b, int i) { return int{b.qs[i]}; }, scale_of<BlockQ8_0>(at));
    case ElementType::kIQ4_NL:
      return read_codes<BlockIQ4_NL>(
          at, [](const BlockIQ4_NL& b, int i) { return int{kIq4Values[iq4_nl_code(b, i)]}; },
          scale_of<BlockIQ4_NL>(at));
    case ElementType::kMXFP4:
      return read_codes<BlockMXFP4>(
          at, [](const BlockMXFP4& b, int i) { return int{kFp4Doubled[mxfp4_code(b, i)]}; },
          e8m0_half(reinterpret_cast<const BlockMXFP4*>(at)->e));
    case ElementType::kQ4_1:
      return read_codes<BlockQ4_1>(at, q4_1_code, scale_of<BlockQ4_1>(at), minimum_of<BlockQ4_1>(at));
    case ElementType::kQ5_1:
      return read_codes<BlockQ5_1>(at, q5_1_code, scale_of<BlockQ5_1>(at), minimum_of<BlockQ5_1>(at));
    default:
      std::abort();
  }
}

float dot_blocks32(const TensorView& weights, const std::byte* row, const QuantizedRow& x) {
  const bool has_minimum = element_type_info(weights.type).has_offsets;
  const int block_bytes = element_type_info(weights.type).block_bytes;
  float acc = 0.0f;
  for (int64_t b = 0; b < weights.n_cols() / 32; ++b) {
    const Codes32 block = read_block32(weights.type, row + b * block_bytes);
    int isum = 0, sum = 0;
    for (int i = 0; i < 32; ++i) {
      const int a = x.codes[static_cast<size_t>(b * 32 + i)];
      isum += block.codes[i] * a;
      sum += a;
    }
    const float a_scale = x.scales[static_cast<size_t>(b)];
    acc = std::fma(static_cast<float>(isum), block.d * a_scale, acc);
    if (has_minimum) acc = std::fma(block.m, a_scale * static_cast<float>(sum), acc);
  }
  return acc;
}

template <typename Block, typename Code>
float dot_q45_k(const std::byte* row, int64_t n_blocks, const QuantizedRow& x, Code code) {
  float acc = 0.0f;
  for (int64_t b = 0; b < n_blocks; ++b) {
    const Block& block = reinterpret_cast<const Block*>(row)[b];
    for (int j = 0; j < 8; ++j) {
      int isum = 0, sum = 0;
      for (int l = 0; l < 32; ++l) {
        const int a = x.codes[static_cast<size_t>(b * 256 + j * 32 + l)];
        isum += code(block, j, l) * a;
        sum += a;
      }
      const float a_scale = x.scales[static_cast<size_t>(b * 8 + j)];
      const float scale = f16_to_f32(block.d) * static_cast<float>(k_scale(block.scales, j));
      const float minimum = f16_to_f32(block.dmin) * static_cast<float>(k_min(block.scales, j));
      acc = std::fma(static_cast<float>(isum), scale * a_scale, acc);
      acc = std::fma(-minimum, a_scale * static_cast<float>(sum), acc);
    }
  }
  return acc;
}

float dot_q6_k(const std::byte* row, int64_t n_blocks, const QuantizedRow& x) {
  float acc = 0.0f;
  for (int64_t b = 0; b < n_blocks; ++b) {
    const auto& block = reinterpret_cast<const BlockQ6_K*>(row)[b];
    for (int j = 0; j < 16; ++j) {
      int isum = 0;
      for (int i = 16 * j; i < 16 * j + 16; ++i) {
        isum += q6_k_code(block, i / 32, i % 32) * x.codes[static_cast<size_t>(b * 256 + i)];
      }
      const float scale = f16_to_f32(block.d) * static_cast<float>(block.scales[j]);
      acc = std::fma(static_cast<float>(isum), scale * x.scales[static_cast<size_t>(b * 8 + j / 2)], acc);
    }
  }
  return acc;
}

// The types without a layout of their own: groups of 16 codes.
float dot_codes(const TensorView& weights, const std::byte* row, const QuantizedRow& x) {
  const ElementTypeInfo& info = element_type_info(weights.type);
  const auto k = static_cast<size_t>(weights.n_cols());
  std::vector<int8_t> codes(k);
  std::vector<float> scales(k / 16), offsets(k / 16);
  info.unpack(row, Int8Codes{codes.data(), scales.data(), offsets.data()}, weights.n_cols());
  float acc = 0.0f;
  for (size_t group = 0; group < k / 16; ++group) {
    int isum = 0, sum = 0;
    for (size_t i = 0; i < 16; ++i) {
      isum += codes[group * 16 + i] * x.codes[group * 16 + i];
      sum += x.codes[group * 16 + i];
    }
    const float a_scale = x.scales[group / 2];
    acc = std::fma(static_cast<float>(isum), scales[group] * a_scale, acc);
    if (info.has_offsets) acc = std::fma(offsets[group], a_scale * static_cast<float>(sum), acc);
  }
  return acc;
}

float dot_int8(const TensorView& weights, const std::byte* row, const QuantizedRow& x) {
  const int64_t n_super_blocks = weights.n_cols() / 256;
  switch (weights.type) {
    case ElementType::kQ4_0:
    case ElementType::kQ4_1:
    case ElementType::kQ5_0:
    case ElementType::kQ5_1:
    case ElementType::kQ8_0:
    case ElementType::kIQ4_NL:
    case ElementType::kMXFP4:
      return dot_blocks32(weights, row, x);
    case ElementType::kQ4_K:
      return dot_q45_k<BlockQ4_K>(row, n_super_blocks, x, q4_k_code);
    case ElementType::kQ5_K:
      return dot_q45_k<BlockQ5_K>(row, n_super_blocks, x, q5_k_code);
    case ElementType::kQ6_K:
      return dot_q6_k(row, n_super_blocks, x);
    default:
      return dot_codes(weights, row, x);
  }
}

bool is_float(ElementType type) {
  return type == ElementType::kF32 || type == ElementType::kF16 || type == ElementType::kBF16;
}

}  // namespace

std::vector<float> linear_reference(const TensorView& weights, ActivationSetting setting,
                                    const std::vector<float>& x, int64_t m) {
  const int64_t n = weights.n_rows(), k = weights.n_cols();
  std::vector<float> out(static_cast<size_t>(m * n));
  if (is_float(weights.type) || setting == ActivationSetting::kF32) {
    std::vector<float> row(static_cast<size_t>(k));
    for (int64_t j = 0; j < n; ++j) {
      element_type_info(weights.type).decode(weights.row(j), row.data(), k);
      for (int64_t i = 0; i < m; ++i) {
        float acc = 0.0f;
        for (int64_t c = 0; c < k; ++c) {
          acc = std::fma(row[static_cast<size_t>(c)], x[static_cast<size_t>(i * k + c)], acc);
        }
        out[static_cast<size_t>(i * n + j)] = acc;
      }
    }
    return out;
  }
  for (int64_t i = 0; i < m; ++i) {
    const QuantizedRow row = quantize_reference(&x[static_cast<size_t>(i * k)], k);
    for (int64_t j = 0; j < n; ++j)
      out[static_cast<size_t>(i * n + j)] = dot_int8(weights, weights.row(j), row);
  }
  return out;
}

}  // namespace quire::kernels
