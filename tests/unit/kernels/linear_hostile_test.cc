// Linear layers on the values that break them: the largest sums, scales and activations at the ends of what
// floats hold, infinities and NaNs. To the bit of the plain computation, on every ISA.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "linear_cases.h"
#include "packed_layer.h"

namespace quire::kernels {
namespace {

// Rows in registers, in a tile by vectors, and in an odd number of full tiles.
constexpr int64_t kRowCounts[] = {1, 4, 12, 17, 36};

// Of every row count and ISA.
void expect_reference(const TestMatrix& weights, ActivationSetting setting, const std::vector<float>& x) {
  const int64_t n = weights.view.n_rows(), k = weights.view.n_cols();
  const std::vector<float> reference =
      linear_reference(weights.view, setting, x, static_cast<int64_t>(x.size()) / k);
  const PackedLayer layer(weights.view, setting);
  for (const Isa isa : supported_isas()) {
    SCOPED_TRACE(isa_name(isa));
    for (const int64_t m : kRowCounts) {
      if (m * k > static_cast<int64_t>(x.size()) || (isa == Isa::kScalar && m > 12)) continue;
      expect_equal(layer.run(isa, x, m), layer.ld_out(), reference, n, m, n);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

class HostileLayerTest : public testing::TestWithParam<Layer> {};

// A value that is not finite makes the outputs of its own row not finite and leaves all others alone.
TEST_P(HostileLayerTest, NonFiniteValuesStayInTheirRow) {
  const auto [type, setting] = GetParam();
  const int64_t k = 512, n = 17;
  const TestMatrix weights = random_matrix(type, n, k, 23);
  const PackedLayer layer(weights.view, setting);
  for (const int64_t m : {5, 36}) {
    const std::vector<float> clean = random_rows(m, k, 29);
    std::vector<float> x = clean;
    x[static_cast<size_t>(2 * k + k / 2)] = std::numeric_limits<float>::quiet_NaN();
    for (const Isa isa : supported_isas()) {
      if (isa == Isa::kScalar && m > 5) continue;
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
}

// Each row of another size, from denormals to the largest floats.
TEST_P(HostileLayerTest, ActivationsOfAnySize) {
  const auto [type, setting] = GetParam();
  const int64_t m = 36, k = 512;
  std::vector<float> x = random_rows(m, k, 31);
  for (int64_t i = 0; i < m; ++i) {
    const int exponent = static_cast<int>(i * 280 / (m - 1)) - 150;
    for (int64_t c = 0; c < k; ++c) {
      float& value = x[static_cast<size_t>(i * k + c)];
      value = std::ldexp(value, exponent);
      if (std::isinf(value)) value = std::copysign(std::numeric_limits<float>::max(), value);
    }
  }
  expect_reference(random_matrix(type, 17, k, 37), setting, x);
}

TEST_P(HostileLayerTest, ScalesOfAnyBits) {
  const auto [type, setting] = GetParam();
  const int64_t k = 512;
  expect_reference(hostile_scales_matrix(type, 37, k, 41), setting, random_rows(36, k, 43));
}

INSTANTIATE_TEST_SUITE_P(Types, HostileLayerTest, testing::ValuesIn(all_layers()), layer_name);

// The largest sums there are: codes at an end of their range, activations at +-127.
class ExtremeLayerTest : public testing::TestWithParam<ElementType> {};

TEST_P(ExtremeLayerTest, LargestSumsAreExact) {
  const int64_t m = 36, k = 512;
  std::vector<float> x(static_cast<size_t>(m * k));
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t c = 0; c < k; ++c) {
      const int64_t kind = i % 6;
      const bool minus =
          kind == 1 || (kind == 2 && c % 2 == 1) || (kind == 3 && c % 4 >= 2) || (kind == 4 && c % 32 >= 16);
      x[static_cast<size_t>(i * k + c)] = minus ? -1.0f : 1.0f;
    }
  }
  for (const Extreme extreme : {Extreme::kLowest, Extreme::kHighest}) {
    SCOPED_TRACE(extreme == Extreme::kLowest ? "lowest codes" : "highest codes");
    expect_reference(extreme_matrix(GetParam(), 17, k, extreme), ActivationSetting::kInt8, x);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ExtremeLayerTest,
                         testing::Values(ElementType::kQ4_0, ElementType::kQ4_1, ElementType::kQ5_0,
                                         ElementType::kQ5_1, ElementType::kQ8_0, ElementType::kIQ4_NL,
                                         ElementType::kIQ4_XS, ElementType::kMXFP4, ElementType::kNVFP4,
                                         ElementType::kQ2_K, ElementType::kQ3_K, ElementType::kQ4_K,
                                         ElementType::kQ5_K, ElementType::kQ6_K),
                         [](const auto& each) { return std::string(element_type_info(each.param).name); });

}  // namespace
}  // namespace quire::kernels
