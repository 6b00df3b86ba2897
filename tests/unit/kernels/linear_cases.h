// Weights and activations for the tests of linear layers, and a plain computation of what a layer must give.
//
// The reference shares nothing with the kernels: it takes codes and scales from the decoders of the file
// format and adds in the order that docs/numerics.md states ("Linear layers").
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/linear.h"
#include "tensor/tensor_view.h"

namespace quire::kernels {

// A small counter-based generator: the same numbers everywhere.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint32_t next();
  // In [-1, 1).
  float uniform() { return static_cast<float>(static_cast<int32_t>(next())) * 0x1p-31f; }

 private:
  uint64_t state_;
};

struct TestMatrix {
  std::vector<std::byte> bytes;
  TensorView view;  // [n, k]
};

// Random blocks that decode to finite values of moderate size.
TestMatrix random_matrix(ElementType type, int64_t n, int64_t k, uint64_t seed);

// Blocks whose codes, sub-block scales and minimums are all the lowest or all the highest, scales of
// blocks 1. Only for the types with a layout of their own.
enum class Extreme { kLowest, kHighest };
TestMatrix extreme_matrix(ElementType type, int64_t n, int64_t k, Extreme extreme);

// Random blocks, one in every row with a scale at the ends of what its type holds: zeros, denormals, the
// largest, infinities and NaNs, any exponent.
TestMatrix hostile_scales_matrix(ElementType type, int64_t n, int64_t k, uint64_t seed);

// [m, k], values of very different size.
std::vector<float> random_rows(int64_t m, int64_t k, uint64_t seed);

// One activation row as int8 codes.
struct QuantizedRow {
  std::vector<int> codes;     // [k]
  std::vector<float> scales;  // [k / block]
  int block;                  // 32
};
QuantizedRow quantize_reference(const float* x, int64_t k);

// out[m, n] for every row of x.
std::vector<float> linear_reference(const TensorView& weights, ActivationSetting setting,
                                    const std::vector<float>& x, int64_t m);

// Bits are equal, or both are NaN.
bool same_value(float a, float b);

}  // namespace quire::kernels
