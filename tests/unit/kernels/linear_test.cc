// Every linear kernel row of every ISA this machine has gives, to the bit, what a plain computation gives,
// for any number of rows, columns and any split of the work.

#include "kernels/linear.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "kernels/kernel_table.h"
#include "linear_cases.h"

namespace quire::kernels {
namespace {

constexpr int64_t kMaxM = 70, kMaxN = 48;
constexpr float kUntouched = 12345.0f;

struct AlignedBytes {
  explicit AlignedBytes(size_t n) : storage(n + 64), data(storage.data()) {
    while (reinterpret_cast<uintptr_t>(data) % 64 != 0) ++data;
    std::fill(storage.begin(), storage.end(), std::byte{0xa5});
  }
  std::vector<std::byte> storage;
  std::byte* data;
};

AlignedBytes pack(const PackedFormat& format, const TensorView& weights) {
  const int64_t groups = n_groups(weights.n_rows());
  const size_t group_bytes = format.group_bytes(weights.n_cols());
  EXPECT_EQ(group_bytes % 64, 0u);
  AlignedBytes packed(static_cast<size_t>(groups) * group_bytes);
  for (int64_t g = 0; g < groups; ++g) {
    format.pack_group(weights, g, packed.data + static_cast<size_t>(g) * group_bytes);
  }
  return packed;
}

// A layer with its packed weights, run on some ISA and the first m rows of x.
class PackedLayer {
 public:
  PackedLayer(const TensorView& weights, ActivationSetting setting)
      : format_(*packed_format(weights.type, setting)),
        n_(weights.n_rows()),
        k_(weights.n_cols()),
        packed_(pack(format_, weights)) {}

  // Output with kUntouched behind the columns of every row.
  std::vector<float> run(Isa isa, const std::vector<float>& x, int64_t m, int64_t split = 0) const {
    const KernelTable& table = kernel_table(isa);
    const LinearKernel& kernel = linear_kernel(table, format_);
    EXPECT_EQ(kernel.isa, isa);
    std::vector<float> out(static_cast<size_t>(m * ld_out()), kUntouched);
    AlignedBytes quantized(activation_bytes(format_.activation, m, k_));
    LinearArgs args = {.weights = packed_.data,
                       .n = n_,
                       .k = k_,
                       .activations = nullptr,
                       .ld_activations = 0,
                       .m = m,
                       .out = out.data(),
                       .ld_out = ld_out()};
    if (format_.activation == ActivationKind::kF32) {
      args.activations = reinterpret_cast<const std::byte*>(x.data());
      args.ld_activations = k_;
    } else {
      const QuantizeArgs quantize = {.x = x.data(), .ld_x = k_, .out = quantized.data, .m = m, .k = k_};
      table.linear.quantize(quantize, m / 2, m);
      table.linear.quantize(quantize, 0, m / 2);
      args.activations = quantized.data;
    }
    kernel.run(args, split, n_groups(n_));
    kernel.run(args, 0, split);
    return out;
  }
  int64_t ld_out() const { return n_ + 3; }

 private:
  const PackedFormat& format_;
  int64_t n_, k_;
  AlignedBytes packed_;
};

// Compares with the first m rows and n columns of the reference.
void expect_equal(const std::vector<float>& out, int64_t ld_out, const std::vector<float>& reference,
                  int64_t ld_reference, int64_t m, int64_t n) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const float got = out[static_cast<size_t>(i * ld_out + j)];
      const float want = reference[static_cast<size_t>(i * ld_reference + j)];
      ASSERT_TRUE(same_value(got, want)) << "row " << i << " of " << m << ", column " << j << " of " << n
                                         << ": " << got << " instead of " << want;
    }
    for (int64_t j = n; j < ld_out; ++j) {
      ASSERT_EQ(out[static_cast<size_t>(i * ld_out + j)], kUntouched) << "row " << i << " column " << j;
    }
  }
}

struct Layer {
  ElementType type;
  ActivationSetting setting;
};

std::vector<Layer> all_layers() {
  std::vector<Layer> layers;
  for (const ElementTypeInfo& info : element_types()) {
    const PackedFormat* int8 = packed_format(info.type, ActivationSetting::kInt8);
    const PackedFormat* exact = packed_format(info.type, ActivationSetting::kF32);
    if (int8 != nullptr) layers.push_back({info.type, ActivationSetting::kInt8});
    if (exact != nullptr && exact != int8) layers.push_back({info.type, ActivationSetting::kF32});
  }
  return layers;
}

std::vector<int64_t> lengths(ElementType type) {
  const int block = element_type_info(type).block_elems;
  if (block == 256) return {256, 768};
  if (block > 1) return {block, 2 * block, 19 * block};
  return {1, 37, 300};
}

class LinearLayerTest : public testing::TestWithParam<Layer> {};

TEST_P(LinearLayerTest, EqualsThePlainComputation) {
  const auto [type, setting] = GetParam();
  for (const int64_t k : lengths(type)) {
    SCOPED_TRACE("k = " + std::to_string(k));
    const std::vector<float> x = random_rows(kMaxM, k, 7);
    const TestMatrix weights = random_matrix(type, kMaxN, k, 11);
    const std::vector<float> reference = linear_reference(weights.view, setting, x, kMaxM);
    for (const int64_t n : {1, 15, 16, 17, 48}) {
      TensorView part = weights.view;
      part.dims[1] = n;
      const PackedLayer layer(part, setting);
      for (const Isa isa : supported_isas()) {
        SCOPED_TRACE(isa_name(isa));
        for (const int64_t m : {1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 16, 17, 24, 25, 32, 33, 64, 70}) {
          // Every m with two groups and a partial one, every n with a few m.
          if (n != 17 && m != 1 && m != 5 && m != 13) continue;
          if (isa == Isa::kScalar && m > 2 && m != 13) continue;
          expect_equal(layer.run(isa, x, m), layer.ld_out(), reference, kMaxN, m, n);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(LinearLayerTest, EqualsThePlainComputationForManyRows) {
  const auto [type, setting] = GetParam();
  const int64_t k = lengths(type)[1], n = 17;
  for (const int64_t m : {100, 512}) {
    const std::vector<float> x = random_rows(m, k, 17);
    const TestMatrix weights = random_matrix(type, n, k, 13);
    const std::vector<float> reference = linear_reference(weights.view, setting, x, m);
    const PackedLayer layer(weights.view, setting);
    for (const Isa isa : supported_isas()) {
      if (isa == Isa::kScalar) continue;
      SCOPED_TRACE(isa_name(isa));
      expect_equal(layer.run(isa, x, m), layer.ld_out(), reference, n, m, n);
    }
  }
}

TEST_P(LinearLayerTest, AnySplitOfGroupsGivesTheSame) {
  const auto [type, setting] = GetParam();
  const int64_t k = lengths(type)[0], m = 14, n = 48;
  const std::vector<float> x = random_rows(m, k, 3);
  const TestMatrix weights = random_matrix(type, n, k, 5);
  const PackedLayer layer(weights.view, setting);
  const Isa isa = supported_isas().back();
  const std::vector<float> whole = layer.run(isa, x, m, 0);
  EXPECT_EQ(layer.run(isa, x, m, 1), whole);
  EXPECT_EQ(layer.run(isa, x, m, 2), whole);
}

// A value that is not finite makes the outputs of its own row not finite and leaves all others alone.
TEST_P(LinearLayerTest, NonFiniteValuesStayInTheirRow) {
  const auto [type, setting] = GetParam();
  const int64_t k = lengths(type)[1], m = 5, n = 17;
  const TestMatrix weights = random_matrix(type, n, k, 23);
  const PackedLayer layer(weights.view, setting);
  const std::vector<float> clean = random_rows(m, k, 29);
  std::vector<float> x = clean;
  x[static_cast<size_t>(2 * k + k / 2)] = std::numeric_limits<float>::quiet_NaN();
  for (const Isa isa : supported_isas()) {
    SCOPED_TRACE(isa_name(isa));
    const std::vector<float> want = layer.run(isa, clean, m), got = layer.run(isa, x, m);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        const auto at = static_cast<size_t>(i * layer.ld_out() + j);
        if (i == 2) {
          EXPECT_TRUE(std::isnan(got[at]));
        } else {
          EXPECT_TRUE(same_value(got[at], want[at]));
        }
      }
    }
  }
}

std::string layer_name(const testing::TestParamInfo<Layer>& info) {
  return std::string(element_type_info(info.param.type).name) +
         (info.param.setting == ActivationSetting::kF32 ? "_exact" : "");
}

INSTANTIATE_TEST_SUITE_P(Types, LinearLayerTest, testing::ValuesIn(all_layers()), layer_name);

// The largest sums there are: codes at an end of their range, activations at +-127.
class ExtremeLayerTest : public testing::TestWithParam<ElementType> {};

TEST_P(ExtremeLayerTest, LargestSumsAreExact) {
  const ElementType type = GetParam();
  const int64_t k = 512, m = 6, n = 17;
  std::vector<float> x(static_cast<size_t>(m * k));
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t c = 0; c < k; ++c) {
      const bool minus =
          (i == 1) || (i == 2 && c % 2 == 1) || (i == 3 && c % 4 >= 2) || (i == 4 && c % 32 >= 16);
      x[static_cast<size_t>(i * k + c)] = minus ? -1.0f : 1.0f;
    }
  }
  for (const Extreme extreme : {Extreme::kLowest, Extreme::kHighest}) {
    SCOPED_TRACE(extreme == Extreme::kLowest ? "lowest codes" : "highest codes");
    const TestMatrix weights = extreme_matrix(type, n, k, extreme);
    const std::vector<float> reference = linear_reference(weights.view, ActivationSetting::kInt8, x, m);
    const PackedLayer layer(weights.view, ActivationSetting::kInt8);
    for (const Isa isa : supported_isas()) {
      SCOPED_TRACE(isa_name(isa));
      expect_equal(layer.run(isa, x, m), layer.ld_out(), reference, n, m, n);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ExtremeLayerTest,
                         testing::Values(ElementType::kQ4_0, ElementType::kQ4_1, ElementType::kQ5_0,
                                         ElementType::kQ5_1, ElementType::kQ8_0, ElementType::kIQ4_NL,
                                         ElementType::kIQ4_XS, ElementType::kMXFP4, ElementType::kNVFP4,
                                         ElementType::kQ2_K, ElementType::kQ3_K, ElementType::kQ4_K,
                                         ElementType::kQ5_K, ElementType::kQ6_K),
                         [](const auto& each) { return std::string(element_type_info(each.param).name); });

TEST(LinearTableTest, EveryIsaHasTheSameRowsAndEveryRowIsUsedBySomeType) {
  std::set<const PackedFormat*> used;
  for (const Layer& layer : all_layers()) used.insert(packed_format(layer.type, layer.setting));
  for (const Isa isa : supported_isas()) {
    std::set<const PackedFormat*> rows;
    for (const LinearKernel& kernel : kernel_table(isa).linear.kernels) {
      EXPECT_EQ(kernel.isa, isa);
      EXPECT_EQ(std::string(kernel.name), std::string(kernel.format->name) + "/" + isa_name(isa));
      EXPECT_TRUE(rows.insert(kernel.format).second) << kernel.name << " occurs twice";
    }
    EXPECT_EQ(rows, used) << isa_name(isa);
  }
}

TEST(LinearTableTest, TypesThatHoldNoWeightsHaveNoFormat) {
  for (const ElementType type : {ElementType::kI8, ElementType::kI16, ElementType::kI32, ElementType::kI64,
                                 ElementType::kF64, ElementType::kQ8_1, ElementType::kQ8_K}) {
    EXPECT_EQ(packed_format(type, ActivationSetting::kInt8), nullptr);
    EXPECT_EQ(packed_format(type, ActivationSetting::kF32), nullptr);
  }
}

TEST(LinearTilingTest, TilesOfWorkAreAtLeastOneGroupAndFitTheCache) {
  for (const ElementType type : {ElementType::kQ4_K, ElementType::kQ8_0, ElementType::kF32}) {
    const PackedFormat& format = *packed_format(type, ActivationSetting::kInt8);
    for (const int64_t n : {1, 16, 576, 1536, 151936}) {
      for (const int64_t k : {256, 8960}) {
        for (const int64_t m : {1, 4, 64, 512}) {
          for (const int n_threads : {1, 2, 64}) {
            const int64_t groups = groups_per_tile(format, n, k, m, n_threads);
            EXPECT_GE(groups, 1);
            EXPECT_LE(groups, n_groups(n));
            if (m > 1 && groups > 1) {
              EXPECT_LE(static_cast<size_t>(groups) * format.group_bytes(k), 512u * 1024);
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace quire::kernels
