// The plain computation of a linear layer (linear_cases.h).

#include <cmath>
#include <cstdlib>
#include <vector>

#include "linear_cases.h"

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

// Types with one scale for all 32 values of a block; the others have one per 16.
bool has_scale_per_32(ElementType type) {
  switch (type) {
    case ElementType::kQ4_0:
    case ElementType::kQ4_1:
    case ElementType::kQ5_0:
    case ElementType::kQ5_1:
    case ElementType::kQ8_0:
    case ElementType::kIQ4_NL:
    case ElementType::kMXFP4:
    case ElementType::kQ4_K:
    case ElementType::kQ5_K:
    case ElementType::kIQ4_XS:
      return true;
    default:
      return false;
  }
}

// isum * scale rounded once, a zero being +0; beyond that the formula that stands for it.
float product(int isum, float scale) {
  if (!(std::fabs(scale) < 0x1p104f)) {
    constexpr float kBias = 12582912.0f;
    return std::fma(kBias + static_cast<float>(isum), scale, -(kBias * scale));
  }
  return isum == 0 || scale == 0 ? 0.0f : static_cast<float>(isum) * scale;
}

// One row of weights as codes.
struct CodedRow {
  bool scale_per_32, has_offsets;
  std::vector<int8_t> codes;
  std::vector<float> scales, offsets;
};
CodedRow coded_row(const TensorView& weights, int64_t row) {
  const ElementTypeInfo& info = element_type_info(weights.type);
  const auto k = static_cast<size_t>(weights.n_cols());
  CodedRow coded = {.scale_per_32 = has_scale_per_32(weights.type),
                    .has_offsets = info.has_offsets,
                    .codes = std::vector<int8_t>(k),
                    .scales = std::vector<float>(k / 16),
                    .offsets = std::vector<float>(k / 16, 0.0f)};
  info.unpack(weights.row(row), Int8Codes{coded.codes.data(), coded.scales.data(), coded.offsets.data()},
              weights.n_cols());
  return coded;
}

float dot_int8(const CodedRow& w, const QuantizedRow& x) {
  float acc = 0.0f;
  for (size_t b = 0; b < w.codes.size() / 32; ++b) {
    int isum[2] = {}, asum[2] = {};
    for (size_t i = 0; i < 32; ++i) {
      isum[i / 16] += w.codes[32 * b + i] * x.codes[32 * b + i];
      asum[i / 16] += x.codes[32 * b + i];
    }
    const float* scale = &w.scales[2 * b];
    const float* offset = &w.offsets[2 * b];
    float t;
    if (w.scale_per_32) {
      t = product(isum[0] + isum[1], scale[0]);
      if (w.has_offsets) t = std::fma(offset[0], static_cast<float>(asum[0] + asum[1]), t);
    } else {
      t = std::fma(static_cast<float>(isum[1]), scale[1], product(isum[0], scale[0]));
      for (int i = 0; w.has_offsets && i < 2; ++i) t = std::fma(offset[i], static_cast<float>(asum[i]), t);
    }
    acc = std::fma(t, x.scales[b], acc);
  }
  return acc;
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
  std::vector<QuantizedRow> rows;
  for (int64_t i = 0; i < m; ++i) rows.push_back(quantize_reference(&x[static_cast<size_t>(i * k)], k));
  for (int64_t j = 0; j < n; ++j) {
    const CodedRow coded = coded_row(weights, j);
    for (int64_t i = 0; i < m; ++i) {
      out[static_cast<size_t>(i * n + j)] = dot_int8(coded, rows[static_cast<size_t>(i)]);
    }
  }
  return out;
}

}  // namespace quire::kernels
