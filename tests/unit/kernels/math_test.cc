// The elementary functions against double precision: the error bounds their headers state, and their edges.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string_view>

#include "kernel_values.h"
#include "vec_probes.h"

namespace quire::kernels::test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Applies a probe of the fastest ISA (all ISAs give the same bits, see vec_test.cc).
class Function {
 public:
  explicit Function(std::string_view name) {
    for (const Probe& probe : probes_of(supported_isas().back())) {
      if (name == probe.name) probe_ = &probe;
    }
    EXPECT_NE(probe_, nullptr) << name;
  }
  float operator()(float x, float y = 0.0f) const {
    ProbeInput in = {};
    in.a[0] = x;
    in.b[0] = y;
    ProbeOutput out = {};
    probe_->run(in, out);
    return out.f[0];
  }

 private:
  const Probe* probe_ = nullptr;
};

// The distance between neighbouring floats at |x|.
double ulp_at(double x) {
  const double size = std::max(std::abs(x), 0x1p-126);
  return std::ldexp(1.0, std::ilogb(size) - 23);
}

struct WorstCase {
  double error = 0.0;
  float x = 0.0f;
};

using Reference = std::function<double(double)>;
// What an error is divided by: ulp_at(true value), unless a function promises something else.
using Unit = std::function<double(double x, double truth)>;

WorstCase worst_error(
    std::string_view name, const Reference& reference, float low, float high,
    const Unit& unit = [](double, double truth) { return ulp_at(truth); }) {
  const Function f(name);
  WorstCase worst;
  constexpr int kPoints = 40000;
  std::mt19937 rng(11);
  std::uniform_real_distribution<float> jitter(0.0f, 1.0f);
  for (int i = 0; i <= kPoints; ++i) {
    const float t = (static_cast<float>(i) + (i == kPoints ? 0.0f : jitter(rng))) / kPoints;
    const float x = low + (high - low) * std::min(t, 1.0f);
    const double truth = reference(x);
    const double error = std::abs(static_cast<double>(f(x)) - truth) / unit(x, truth);
    if (error > worst.error) worst = {error, x};
  }
  return worst;
}

void expect_within(double bound, std::string_view name, const Reference& reference, float low, float high) {
  const WorstCase worst = worst_error(name, reference, low, high);
  EXPECT_LE(worst.error, bound) << name << " in [" << low << ", " << high << "], worst at " << worst.x;
  testing::Test::RecordProperty(std::string(name), std::to_string(worst.error));
}

double exact_sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double exact_gelu_tanh(double x) {
  // x * sigmoid(2u) with 2u = 2 sqrt(2 / pi) (x + 0.044715 x^3): the same function, without cancellation.
  return x * exact_sigmoid(2.0 * std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x));
}
double exact_gelu_erf(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }
double exact_softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

TEST(MathTest, Exp) {
  const Reference reference = [](double x) { return std::exp(x); };
  expect_within(1.0, "exp", reference, -1.0f, 1.0f);
  expect_within(1.0, "exp", reference, -104.0f, 88.7f);
  const Function exp("exp");
  EXPECT_EQ(exp(0.0f), 1.0f);
  EXPECT_EQ(exp(88.73f), kInf);
  EXPECT_EQ(exp(kInf), kInf);
  EXPECT_EQ(exp(-104.0f), 0.0f);
  EXPECT_EQ(exp(-kInf), 0.0f);
  EXPECT_TRUE(std::isnan(exp(kNan)));
}

TEST(MathTest, Log) {
  const Reference reference = [](double x) { return std::log(x); };
  expect_within(1.0, "log", reference, 0.5f, 2.0f);
  expect_within(1.0, "log", reference, 0.0001f, 0.7f);
  expect_within(1.0, "log", reference, 1.0f, 1e30f);
  expect_within(1.0, "log", reference, 1e-44f, 1e-38f);
  const Function log("log");
  EXPECT_EQ(log(1.0f), 0.0f);
  EXPECT_EQ(log(0.0f), -kInf);
  EXPECT_EQ(log(-0.0f), -kInf);
  EXPECT_EQ(log(kInf), kInf);
  EXPECT_TRUE(std::isnan(log(-1.0f)));
  EXPECT_TRUE(std::isnan(log(kNan)));
}

TEST(MathTest, Log1p) {
  const Reference reference = [](double x) { return std::log1p(x); };
  expect_within(2.0, "log1p", reference, -0.999f, 1.0f);
  expect_within(2.0, "log1p", reference, -1e-3f, 1e-3f);
  expect_within(2.0, "log1p", reference, 0.0f, 1e-20f);
  expect_within(2.0, "log1p", reference, 0.0f, 1e30f);
  const Function log1p("log1p");
  EXPECT_EQ(log1p(-1.0f), -kInf);
  EXPECT_EQ(log1p(kInf), kInf);
  EXPECT_TRUE(std::isnan(log1p(-1.5f)));
  EXPECT_TRUE(std::isnan(log1p(kNan)));
}

TEST(MathTest, Softplus) {
  expect_within(2.0, "softplus", exact_softplus, -80.0f, 100.0f);
  expect_within(2.0, "softplus", exact_softplus, -4.0f, 4.0f);
  EXPECT_EQ(Function("softplus")(kInf), kInf);
  EXPECT_TRUE(std::isnan(Function("softplus")(kNan)));
}

TEST(MathTest, Pow) {
  const Function pow("pow");
  std::mt19937 rng(5);
  std::uniform_real_distribution<float> log_base(-40.0f, 40.0f), exponent(-12.0f, 12.0f);
  WorstCase worst;
  for (int i = 0; i < 60000; ++i) {
    const float x = i % 2 == 0 ? std::exp(log_base(rng)) : 1.0f + log_base(rng) / 100.0f;
    const float y = i % 3 == 0 ? exponent(rng) * 20.0f : exponent(rng) / 4.0f;
    const double truth = std::pow(static_cast<double>(x), static_cast<double>(y));
    if (truth > 3.4e38) continue;
    const double error = std::abs(pow(x, y) - truth) / ulp_at(truth);
    if (error > worst.error) worst = {error, x};
  }
  EXPECT_LE(worst.error, 4.0) << worst.x;
  EXPECT_EQ(pow(0.0f, 2.0f), 0.0f);
  EXPECT_EQ(pow(0.0f, -2.0f), kInf);
  EXPECT_EQ(pow(kInf, 0.5f), kInf);
  EXPECT_EQ(pow(kInf, -0.5f), 0.0f);
  EXPECT_EQ(pow(7.0f, 0.0f), 1.0f);
  EXPECT_EQ(pow(1.0f, 55.0f), 1.0f);
  EXPECT_EQ(pow(10.0f, 200.0f), kInf);
  EXPECT_EQ(pow(10.0f, -200.0f), 0.0f);
  EXPECT_TRUE(std::isnan(pow(-2.0f, 2.0f)));
  EXPECT_TRUE(std::isnan(pow(2.0f, kNan)));
}

TEST(MathTest, Tanh) {
  const Reference reference = [](double x) { return std::tanh(x); };
  expect_within(2.0, "tanh", reference, -1.0f, 1.0f);
  expect_within(2.0, "tanh", reference, -12.0f, 12.0f);
  const Function tanh("tanh");
  EXPECT_EQ(tanh(kInf), 1.0f);
  EXPECT_EQ(tanh(-kInf), -1.0f);
  EXPECT_TRUE(std::signbit(tanh(-0.0f)));
  EXPECT_TRUE(std::isnan(tanh(kNan)));
}

TEST(MathTest, SigmoidAndSilu) {
  const Reference silu = [](double x) { return x * exact_sigmoid(x); };
  expect_within(2.0, "sigmoid", exact_sigmoid, -87.0f, 40.0f);
  expect_within(2.0, "sigmoid", exact_sigmoid, -5.0f, 5.0f);
  expect_within(3.0, "silu", silu, -87.0f, 40.0f);
  expect_within(3.0, "silu", silu, -5.0f, 5.0f);
  EXPECT_EQ(Function("sigmoid")(-kInf), 0.0f);
  EXPECT_EQ(Function("sigmoid")(kInf), 1.0f);
  EXPECT_TRUE(std::isnan(Function("silu")(kNan)));
}

TEST(MathTest, Gelu) {
  expect_within(6.0, "gelu_erf", exact_gelu_erf, -13.0f, 13.0f);
  expect_within(6.0, "gelu_erf", exact_gelu_erf, -2.0f, 2.0f);
  const auto unit = [](double x, double truth) {
    return 0x1p-22 * std::max(std::abs(truth), 0.125 * std::abs(x));
  };
  for (float range : {0.5f, 2.0f, 12.0f}) {
    const WorstCase worst = worst_error("gelu_tanh", exact_gelu_tanh, -range, range, unit);
    EXPECT_LE(worst.error, 1.0) << worst.x;
  }
  for (const char* name : {"gelu_erf", "gelu_tanh"}) {
    EXPECT_EQ(Function(name)(0.0f), 0.0f) << name;
    EXPECT_EQ(Function(name)(1e20f), 1e20f) << name;
    EXPECT_EQ(Function(name)(-1e20f), 0.0f) << name;
    EXPECT_TRUE(std::isnan(Function(name)(kNan))) << name;
  }
}

TEST(MathTest, SinAndCos) {
  for (float range : {1.0f, 30.0f, 4000.0f, 1048576.0f}) {
    expect_within(
        2.0, "sin", [](double x) { return std::sin(x); }, -range, range);
    expect_within(
        2.0, "cos", [](double x) { return std::cos(x); }, -range, range);
  }
  // Next to multiples of pi/2, where the reduction cancels most.
  const Function sin("sin"), cos("cos");
  for (int n = 1; n < 667000; n += 7) {
    const float x = static_cast<float>(n * M_PI / 2.0);
    const double s = std::sin(static_cast<double>(x)), c = std::cos(static_cast<double>(x));
    ASSERT_LE(std::abs(sin(x) - s), 2.0 * ulp_at(s)) << x;
    ASSERT_LE(std::abs(cos(x) - c), 2.0 * ulp_at(c)) << x;
  }
  EXPECT_EQ(sin(0.0f), 0.0f);
  EXPECT_EQ(cos(0.0f), 1.0f);
  EXPECT_TRUE(std::isnan(sin(kInf)));
  EXPECT_TRUE(std::isnan(cos(kNan)));
}

}  // namespace
}  // namespace quire::kernels::test
