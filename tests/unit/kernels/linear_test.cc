// Every linear kernel row of every ISA this machine has gives, to the bit, what a plain computation gives,
// for any number of rows, columns and any split of the work.

#include "kernels/linear.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "linear_cases.h"
#include "packed_layer.h"

namespace quire::kernels {
namespace {

constexpr int64_t kMaxM = 70, kMaxN = 48;

// One panel of weights and three, the last a short one: of one block where blocks are of 32.
std::vector<int64_t> lengths(ElementType type) {
  const int block = element_type_info(type).block_elems;
  if (block == 256) return {256, 768, 1792};
  const auto whole = [block](int64_t k) { return (k + block - 1) / block * block; };
  if (block > 1) return {block, 2 * block, whole(19 * 32), whole(49 * 32)};
  return {1, 37, 300};
}

// Every number of rows that a kernel is compiled for, tiles of 7 to 12 rows, an even and an odd number of
// them, equally long and not.
constexpr int64_t kRowCounts[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 16, 17,
                                  19, 20, 22, 23, 24, 25, 28, 29, 32, 33, 36, 37, 40, 48, 64, kMaxM};
// Of these every number of columns, too.
constexpr int64_t kSomeRowCounts[] = {1, 5, 13, 24, 33};

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
        for (const int64_t m : kRowCounts) {
          // Decoded weights share the kernel of F32.
          const bool few = n != 17 || setting == ActivationSetting::kF32;
          if (few && std::ranges::count(kSomeRowCounts, m) == 0) continue;
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

TEST_P(LinearLayerTest, AnySplitOfGroupsGivesTheSameOnAnyThreads) {
  const auto [type, setting] = GetParam();
  const int64_t k = lengths(type).back(), n = 48;
  const TestMatrix weights = random_matrix(type, n, k, 5);
  const PackedLayer layer(weights.view, setting);
  for (const int64_t m : {4, 14, 24, 36}) {
    const std::vector<float> x = random_rows(m, k, 3);
    for (const Isa isa : supported_isas()) {
      if (isa == Isa::kScalar && m > 4) continue;
      SCOPED_TRACE(isa_name(isa));
      const std::vector<float> whole = layer.run(isa, x, m);
      for (const int64_t split : {1, 2}) EXPECT_EQ(layer.run(isa, x, m, {.split = split}), whole);
      for (const int n_threads : {2, 3}) EXPECT_EQ(layer.run(isa, x, m, {.n_threads = n_threads}), whole);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, LinearLayerTest, testing::ValuesIn(all_layers()), layer_name);

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
