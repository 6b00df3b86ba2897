// Linear layers: y[m, n] = sum_k x[m, k] * w[n, k], with weights repacked so that one output lives in one
// lane.
//
// Packing (linear/weight_layout.h; the layout depends on the weight type only, never on the ISA): 16
// output rows form a group, a group's bytes are one stream in exactly the order the kernel reads them. The
// last group is padded with zero rows. Activations are f32 rows, or int8 blocks with a scale per 32 values
// (with the block sums the formats need), stored in tiles of a few rows in read order. Numerics
// (docs/numerics.md): an output is one f32 accumulator over K blocks in ascending order, whatever M, tile,
// thread or ISA; inside a block (16 values of some types) sums are int32, hence exact. No split-K.
// Nothing here owns memory; all functions are pure and may run on any thread on disjoint outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "kernels/isa.h"
#include "tensor/tensor_view.h"

namespace quire::kernels {

inline constexpr int kGroupRows = 16;
inline constexpr int kActivationBlock = 32;  // int8 activations that share a scale

// What a linear kernel multiplies its weights with. A numerics setting, not an optimisation.
enum class ActivationKind : uint8_t {
  kF32,    // the rows themselves
  kQ8x32,  // int8, one f32 scale per 32 values (amax / 127, round half to even)
};

// A packed weight layout. One per ElementType that can be a weight; several types may share one layout (the
// rare types are decoded at load to int8 codes with a scale per 16 values, exactly).
struct PackedFormat {
  const char* name;           // "q4_k", "i8x16", "f32", ...
  ActivationKind activation;  // what its kernels take
  int32_t k_block;            // K is padded up to a multiple of this with zero weights
  // Bytes of one 16-row group with K columns, a multiple of 64.
  size_t (*group_bytes)(int64_t k);
  // Packs rows [16 * group, 16 * group + 16) of `weights` (rows past the end are zero) to `out`.
  void (*pack_group)(const TensorView& weights, int64_t group, std::byte* out);
};

// What weights of quantised types are multiplied with (--activations): int8, or, exactly, f32.
enum class ActivationSetting : uint8_t { kInt8, kF32 };

// The layout used for weights of `type`; with kF32 quantised types are decoded to f32. Null when the type
// cannot be a weight.
const PackedFormat* packed_format(ElementType type, ActivationSetting setting);

// Number of groups of a packed matrix of n rows.
inline int64_t n_groups(int64_t n) { return (n + kGroupRows - 1) / kGroupRows; }

// Bytes of m activation rows of k columns in the quantised tile layout (kF32: m * k * 4), a multiple of 64;
// linear in m up to that rounding, so the planner may size for the largest m.
size_t activation_bytes(ActivationKind kind, int64_t m, int64_t k);

// How many int8 codes stand for a value. The second plane holds what the codes of the first leave over, as m
// more rows; a linear layer then runs on 2m rows and the two outputs of a row are added.
enum class ActivationPlanes : uint8_t { kOne, kTwo };

struct QuantizeArgs {
  ActivationPlanes planes = ActivationPlanes::kOne;
  const float* x;
  int64_t ld_x;    // [m, k]
  std::byte* out;  // activation_bytes(kQ8x32, m or 2m, k), 64-byte aligned
  int64_t m, k;
  // For rows in parts: x holds the columns [kActivationBlock * block_begin, + n_columns) of each; 0 for all.
  int64_t block_begin = 0, n_columns = 0;
};

struct LinearArgs {
  const std::byte* weights;      // packed groups, 64-byte aligned
  int64_t n, k;                  // output columns, input columns
  const std::byte* activations;  // quantised tiles of all m rows; for kF32 the rows themselves
  int64_t ld_activations;        // kF32 only: floats between rows
  int64_t m;
  float* out;
  int64_t ld_out;  // [m, n]
};

// A kernel row: the implementation of one packed format on one ISA.
struct LinearKernel {
  const char* name;  // "q4_k/avx512vnni"
  Isa isa;
  const PackedFormat* format;
  // Computes output columns of groups [group_begin, group_end) for all m rows.
  void (*run)(const LinearArgs& args, int64_t group_begin, int64_t group_end);
};

// Row-local quantisation to the tile layout; rows [row_begin, row_end) of a call with m rows in all.
using QuantizeFn = void (*)(const QuantizeArgs& args, int64_t row_begin, int64_t row_end);

struct LinearOps {
  std::span<const LinearKernel> kernels;
  QuantizeFn quantize;
};

// How many consecutive groups one tile of work should take, so that tiles fit the cache and balance over
// threads.
int64_t groups_per_tile(const PackedFormat& format, int64_t n, int64_t k, int64_t m, int n_threads);

}  // namespace quire::kernels
