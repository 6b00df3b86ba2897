#include "row_cases.h"

#include <algorithm>
#include <cmath>

#include "kernel_values.h"

namespace quire::kernels::test {
namespace {

constexpr float kEps = 1e-6f;
constexpr float kScale = 0.70710677f;
constexpr int64_t kGroups = 3;

float* output_of(RowBuffers& buffers, Output output) {
  return output == Output::kInPlace ? buffers.a.data() : buffers.y.data();
}

// Truth built value by value: f(row, column) of a [n_rows, width] result.
template <typename F>
std::vector<double> each_value(const RowBuffers& buffers, F f) {
  std::vector<double> values;
  for (int64_t row = 0; row < buffers.n_rows; ++row) {
    for (int64_t col = 0; col < buffers.width; ++col) values.push_back(f(row, col));
  }
  return values;
}
double at(const std::vector<float>& v, const RowBuffers& buffers, int64_t row, int64_t col) {
  return v[static_cast<size_t>(row * buffers.ld + col)];
}
double weight_at(const std::vector<float>& v, int64_t col) { return v[static_cast<size_t>(col)]; }

double inverse_rms(const std::vector<double>& x) {
  double sum = 0.0;
  for (double v : x) sum += v * v;
  return 1.0 / std::sqrt(sum / static_cast<double>(x.size()) + static_cast<double>(kEps));
}

RowCase rms_norm_case(bool weighted) {
  const auto args = [weighted](RowBuffers& b, Output output) {
    return RmsNormArgs{.x = b.a.data(),
                       .ld_x = b.ld,
                       .y = output_of(b, output),
                       .ld_y = b.ld,
                       .weight = weighted ? b.weight.data() : nullptr,
                       .n_groups = kGroups,
                       .n_cols = b.n_cols,
                       .eps = kEps};
  };
  return {.name = weighted ? "rms_norm" : "rms_norm_plain",
          .width_per_col = kGroups,
          .run = [args](const RowOps& ops, RowBuffers& b, Output output, int64_t begin,
                        int64_t end) { ops.rms_norm(args(b, output), begin, end); },
          .truth =
              [weighted](const RowBuffers& b) {
                return each_value(b, [&](int64_t row, int64_t col) {
                  std::vector<double> group;
                  const int64_t first = col / b.n_cols * b.n_cols;
                  for (int64_t i = 0; i < b.n_cols; ++i) group.push_back(at(b.a, b, row, first + i));
                  return at(b.a, b, row, col) * inverse_rms(group) *
                         (weighted ? weight_at(b.weight, col - first) : 1.0);
                });
              },
          .tolerance = 2e-6};
}

RowCase rms_norm_by_group_case() {
  return {.name = "rms_norm_by_group",
          .width_per_col = kGroups,
          .run =
              [](const RowOps& ops, RowBuffers& b, Output output, int64_t begin, int64_t end) {
                ops.rms_norm({.x = b.a.data(),
                              .ld_x = b.ld,
                              .y = output_of(b, output),
                              .ld_y = b.ld,
                              .weight = b.table.data(),  // as long as the rows there are at least
                              .ld_weight = b.n_cols,
                              .n_groups = kGroups,
                              .n_cols = b.n_cols,
                              .eps = kEps},
                             begin, end);
              },
          .truth =
              [](const RowBuffers& b) {
                return each_value(b, [&](int64_t row, int64_t col) {
                  std::vector<double> group;
                  const int64_t first = col / b.n_cols * b.n_cols;
                  for (int64_t i = 0; i < b.n_cols; ++i) group.push_back(at(b.a, b, row, first + i));
                  return at(b.a, b, row, col) * inverse_rms(group) * weight_at(b.table, col);
                });
              },
          .tolerance = 2e-6};
}

RowCase l2_norm_case() {
  return {.name = "l2_norm",
          .width_per_col = kGroups,
          .run =
              [](const RowOps& ops, RowBuffers& b, Output output, int64_t begin, int64_t end) {
                ops.l2_norm({.x = b.a.data(),
                             .ld_x = b.ld,
                             .y = output_of(b, output),
                             .ld_y = b.ld,
                             .n_groups = kGroups,
                             .n_cols = b.n_cols,
                             .eps = kEps},
                            begin, end);
              },
          .truth =
              [](const RowBuffers& b) {
                return each_value(b, [&](int64_t row, int64_t col) {
                  double sum = static_cast<double>(kEps);
                  const int64_t first = col / b.n_cols * b.n_cols;
                  for (int64_t i = 0; i < b.n_cols; ++i) sum += std::pow(at(b.a, b, row, first + i), 2);
                  return at(b.a, b, row, col) / std::sqrt(sum);
                });
              },
          .tolerance = 2e-6};
}

RowCase layer_norm_case(bool affine) {
  const auto args = [affine](RowBuffers& b, Output output) {
    return LayerNormArgs{.x = b.a.data(),
                         .ld_x = b.ld,
                         .y = output_of(b, output),
                         .ld_y = b.ld,
                         .weight = affine ? b.weight.data() : nullptr,
                         .bias = affine ? b.bias.data() : nullptr,
                         .n_cols = b.n_cols,
                         .eps = kEps};
  };
  return {.name = affine ? "layer_norm" : "layer_norm_plain",
          .run = [args](const RowOps& ops, RowBuffers& b, Output output, int64_t begin,
                        int64_t end) { ops.layer_norm(args(b, output), begin, end); },
          .truth =
              [affine](const RowBuffers& b) {
                return each_value(b, [&](int64_t row, int64_t col) {
                  double mean = 0.0;
                  for (int64_t i = 0; i < b.n_cols; ++i) mean += at(b.a, b, row, i);
                  mean /= static_cast<double>(b.n_cols);
                  std::vector<double> centred;
                  for (int64_t i = 0; i < b.n_cols; ++i) centred.push_back(at(b.a, b, row, i) - mean);
                  const double y = centred[static_cast<size_t>(col)] * inverse_rms(centred);
                  return affine ? y * weight_at(b.weight, col) + weight_at(b.bias, col) : y;
                });
              },
          .tolerance = 4e-6};
}

RowCase add_rms_norm_case(float b_scale) {
  const auto added = [b_scale](const RowBuffers& b, int64_t row, int64_t col) {
    return at(b.a, b, row, col) + static_cast<double>(b_scale) * at(b.b, b, row, col);
  };
  return {.name = b_scale == 1.0f ? "add_rms_norm" : "add_rms_norm_scaled",
          .run =
              [b_scale](const RowOps& ops, RowBuffers& b, Output output, int64_t begin, int64_t end) {
                float* sum = output == Output::kInPlace ? b.a.data() : b.sum.data();
                ops.add_rms_norm({.a = b.a.data(),
                                  .ld_a = b.ld,
                                  .b = b.b.data(),
                                  .ld_b = b.ld,
                                  .b_scale = b_scale,
                                  .sum = sum,
                                  .ld_sum = b.ld,
                                  .y = b.y.data(),
                                  .ld_y = b.ld,
                                  .weight = b.weight.data(),
                                  .n_cols = b.n_cols,
                                  .eps = kEps},
                                 begin, end);
              },
          .truth =
              [added](const RowBuffers& b) {
                return each_value(b, [&](int64_t row, int64_t col) {
                  std::vector<double> sums;
                  for (int64_t i = 0; i < b.n_cols; ++i) sums.push_back(added(b, row, i));
                  return sums[static_cast<size_t>(col)] * inverse_rms(sums) * weight_at(b.weight, col);
                });
              },
          .tolerance = 2e-6};
}

RowCase add_case(float b_scale) {
  return {.name = b_scale == 1.0f ? "add" : "add_scaled",
          .run =
              [b_scale](const RowOps& ops, RowBuffers& b, Output output, int64_t begin, int64_t end) {
                ops.add({.a = b.a.data(),
                         .ld_a = b.ld,
                         .b = b.b.data(),
                         .ld_b = b.ld,
                         .y = output_of(b, output),
                         .ld_y = b.ld,
                         .n_cols = b.n_cols,
                         .b_scale = b_scale},
                        begin, end);
              },
          .truth =
              [b_scale](const RowBuffers& b) {
                return each_value(b, [&](int64_t row, int64_t col) {
                  return at(b.a, b, row, col) + static_cast<double>(b_scale) * at(b.b, b, row, col);
                });
              },
          .tolerance = 6e-8};
}

RowCase add_bias_case() {
  return {.name = "add_bias",
          .run =
              [](const RowOps& ops, RowBuffers& b, Output output, int64_t begin, int64_t end) {
                ops.add_bias({.x = b.a.data(),
                              .ld_x = b.ld,
                              .bias = b.bias.data(),
                              .y = output_of(b, output),
                              .ld_y = b.ld,
                              .n_cols = b.n_cols},
                             begin, end);
              },
          .truth =
              [](const RowBuffers& b) {
                return each_value(b, [&](int64_t row, int64_t col) {
                  return at(b.a, b, row, col) + weight_at(b.bias, col);
                });
              },
          .tolerance = 6e-8};
}

RowCase scale_case() {
  return {.name = "scale",
          .run =
              [](const RowOps& ops, RowBuffers& b, Output output, int64_t begin, int64_t end) {
                ops.scale({.x = b.a.data(),
                           .ld_x = b.ld,
                           .y = output_of(b, output),
                           .ld_y = b.ld,
                           .n_cols = b.n_cols,
                           .scale = kScale},
                          begin, end);
              },
          .truth =
              [](const RowBuffers& b) {
                return each_value(b, [&](int64_t row, int64_t col) {
                  return at(b.a, b, row, col) * static_cast<double>(kScale);
                });
              },
          .tolerance = 6e-8};
}

RowCase softcap_case() {
  constexpr float kCap = 3.0f;
  return {.name = "softcap",
          .run =
              [](const RowOps& ops, RowBuffers& b, Output output, int64_t begin, int64_t end) {
                ops.softcap({.x = b.a.data(),
                             .ld_x = b.ld,
                             .y = output_of(b, output),
                             .ld_y = b.ld,
                             .n_cols = b.n_cols,
                             .cap = kCap},
                            begin, end);
              },
          .truth =
              [](const RowBuffers& b) {
                return each_value(b, [&](int64_t row, int64_t col) {
                  return kCap * std::tanh(at(b.a, b, row, col) / kCap);
                });
              },
          .tolerance = 4e-7};
}

struct NamedActivation {
  Activation activation;
  const char* name;
  double (*truth)(double x);
};
double exact_sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
constexpr NamedActivation kActivations[] = {
    {Activation::kSilu, "silu", [](double x) { return x * exact_sigmoid(x); }},
    {Activation::kGeluTanh, "gelu_tanh",
     [](double x) {
       return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
     }},
    {Activation::kGeluErf, "gelu_erf", [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }},
    {Activation::kRelu, "relu", [](double x) { return std::max(x, 0.0); }},
    {Activation::kReluSquared, "relu_squared", [](double x) { return x > 0.0 ? x * x : 0.0; }},
    {Activation::kSigmoid, "sigmoid", exact_sigmoid},
    {Activation::kTanh, "tanh", [](double x) { return std::tanh(x); }},
    {Activation::kIdentity, "identity", [](double x) { return x; }},
    {Activation::kSoftplus, "softplus",
     [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }},
};

RowCase activation_case(const NamedActivation& f) {
  return {.name = f.name,
          .run =
              [&f](const RowOps& ops, RowBuffers& b, Output output, int64_t begin, int64_t end) {
                ops.activation({.x = b.a.data(),
                                .ld_x = b.ld,
                                .y = output_of(b, output),
                                .ld_y = b.ld,
                                .n_cols = b.n_cols,
                                .activation = f.activation},
                               begin, end);
              },
          .truth =
              [&f](const RowBuffers& b) {
                return each_value(b, [&](int64_t row, int64_t col) { return f.truth(at(b.a, b, row, col)); });
              },
          .tolerance = 5e-7};
}

RowCase gated_case(const NamedActivation& f) {
  return {.name = std::string("gated_") + f.name,
          .run =
              [&f](const RowOps& ops, RowBuffers& b, Output output, int64_t begin, int64_t end) {
                ops.gated_activation({.gate = b.a.data(),
                                      .ld_gate = b.ld,
                                      .up = b.b.data(),
                                      .ld_up = b.ld,
                                      .y = output_of(b, output),
                                      .ld_y = b.ld,
                                      .n_cols = b.n_cols,
                                      .activation = f.activation},
                                     begin, end);
              },
          .truth =
              [&f](const RowBuffers& b) {
                return each_value(b, [&](int64_t row, int64_t col) {
                  return f.truth(at(b.a, b, row, col)) * at(b.b, b, row, col);
                });
              },
          .tolerance = 5e-6};  // an error of f, times a value up to about 10
}

RowCase rope_table_case() {
  constexpr float kMagnitude = 1.1386294f;
  return {.name = "rope_table",
          .width_per_col = 2,
          .dense = true,
          .in_place = false,
          .run =
              [](const RowOps& ops, RowBuffers& b, Output, int64_t begin, int64_t end) {
                ops.rope_table({.positions = b.positions.data(),
                                .inv_freq = b.weight.data(),
                                .magnitude = kMagnitude,
                                .table = b.y.data(),
                                .n_pairs = b.n_cols},
                               begin, end);
              },
          .truth =
              [](const RowBuffers& b) {
                return each_value(b, [&](int64_t row, int64_t col) {
                  const int64_t pair = col % b.n_cols;
                  // The angle is the f32 product: that rounding is part of the definition.
                  const float angle = static_cast<float>(b.positions[static_cast<size_t>(row)]) *
                                      b.weight[static_cast<size_t>(pair)];
                  const double turned = col < b.n_cols ? std::cos(static_cast<double>(angle))
                                                       : std::sin(static_cast<double>(angle));
                  return turned * static_cast<double>(kMagnitude);
                });
              },
          .tolerance = 3e-7};
}

// Heads of n_cols values, the first 2 * n_pairs of which turn; `part` is the share that turns, in quarters.
RowCase rope_case(RopePairs pairs, int64_t part, const char* name) {
  const auto n_pairs = [part](const RowBuffers& b) { return b.n_cols / 4 * part / 2; };
  return {.name = name,
          .width_per_col = kGroups,
          .col_multiple = 4,
          .run =
              [pairs, n_pairs](const RowOps& ops, RowBuffers& b, Output output, int64_t begin, int64_t end) {
                ops.rope({.x = b.a.data(),
                          .ld_x = b.ld,
                          .y = output_of(b, output),
                          .ld_y = b.ld,
                          .table = b.table.data(),
                          .n_heads = kGroups,
                          .d_head = b.n_cols,
                          .n_pairs = n_pairs(b),
                          .pairs = pairs},
                         begin, end);
              },
          .truth =
              [pairs, n_pairs](const RowBuffers& b) {
                const int64_t n = n_pairs(b);
                return each_value(b, [&](int64_t row, int64_t col) {
                  const int64_t i = col % b.n_cols, head = col - i;
                  if (i >= 2 * n) return at(b.a, b, row, col);
                  const bool adjacent = pairs == RopePairs::kAdjacent;
                  const int64_t pair = adjacent ? i / 2 : i % n;
                  const int64_t first = head + (adjacent ? 2 * pair : pair),
                                second = first + (adjacent ? 1 : n);
                  const double cos = weight_at(b.table, row * 2 * n + pair),
                               sin = weight_at(b.table, row * 2 * n + n + pair);
                  const double u = at(b.a, b, row, first), v = at(b.a, b, row, second);
                  return col == first ? u * cos - v * sin : u * sin + v * cos;
                });
              },
          .tolerance = 6e-6};
}

RowCase argmax_case() {
  return {.name = "argmax",
          .in_place = false,
          .run =
              [](const RowOps& ops, RowBuffers& b, Output, int64_t begin, int64_t end) {
                ops.argmax({.x = b.a.data(), .ld_x = b.ld, .ids = b.ids.data(), .n_cols = b.n_cols}, begin,
                           end);
              },
          .truth = {}};
}

RowCase copy_rows_case() {
  return {.name = "copy_rows",
          .in_place = false,
          .run =
              [](const RowOps& ops, RowBuffers& b, Output, int64_t begin, int64_t end) {
                ops.copy_rows({.x = b.a.data(),
                               .ld_x = b.ld,
                               .index = b.index.data(),
                               .y = b.y.data(),
                               .ld_y = b.ld,
                               .n_cols = b.n_cols},
                              begin, end);
              },
          .truth =
              [](const RowBuffers& b) {
                return each_value(b, [&](int64_t row, int64_t col) {
                  return at(b.a, b, b.index[static_cast<size_t>(row)], col);
                });
              }};
}

RowCase clamped_swiglu_case() {
  constexpr float kLimit = 3.0f, kAlpha = 1.702f;
  return {.name = "clamped_swiglu",
          .run =
              [](const RowOps& ops, RowBuffers& b, Output output, int64_t begin, int64_t end) {
                ops.clamped_swiglu({.gate = b.a.data(),
                                    .ld_gate = b.ld,
                                    .up = b.b.data(),
                                    .ld_up = b.ld,
                                    .y = output_of(b, output),
                                    .ld_y = b.ld,
                                    .n_cols = b.n_cols,
                                    .limit = kLimit,
                                    .alpha = kAlpha,
                                    .up_offset = 1.0f},
                                   begin, end);
              },
          .truth =
              [](const RowBuffers& b) {
                return each_value(b, [&](int64_t row, int64_t col) {
                  const double limit = static_cast<double>(kLimit);
                  const double g = std::min(at(b.a, b, row, col), limit);
                  const double u = std::clamp(at(b.b, b, row, col), -limit, limit);
                  return g * exact_sigmoid(static_cast<double>(kAlpha) * g) * (u + 1);
                });
              },
          .tolerance = 2e-6};
}

RowCase gate_rows_case() {
  return {.name = "gate_rows",
          .run =
              [](const RowOps& ops, RowBuffers& b, Output output, int64_t begin, int64_t end) {
                ops.gate_rows({.x = b.a.data(),
                               .ld_x = b.ld,
                               .gate = b.b.data(),
                               .ld_gate = b.ld,
                               .y = output_of(b, output),
                               .ld_y = b.ld,
                               .n_cols = b.n_cols},
                              begin, end);
              },
          .truth =
              [](const RowBuffers& b) {
                return each_value(b, [&](int64_t row, int64_t col) {
                  return at(b.a, b, row, col) * exact_sigmoid(at(b.b, b, row, 0));
                });
              },
          .tolerance = 5e-7};
}

struct NamedRouting {
  const char* name;
  Gating gating;
  GateWeights normalise;
  bool biased;
  int64_t n_groups;
};
constexpr NamedRouting kRoutings[] = {
    {"route_softmax", Gating::kSoftmax, GateWeights::kPlain, false, 1},
    {"route_softmax_to_one", Gating::kSoftmax, GateWeights::kSumToOne, false, 1},
    {"route_sigmoid_biased", Gating::kSigmoid, GateWeights::kSumToOne, true, 1},
    {"route_sigmoid_groups", Gating::kSigmoid, GateWeights::kSumToOne, true, 4},
    {"route_selected", Gating::kSoftmaxOfSelected, GateWeights::kPlain, false, 1},
};

// Weights go to y, densely; ids to ids. What they should be is tested by value in row_ops_test.cc.
RowCase route_case(const NamedRouting& r) {
  return {.name = r.name,
          .col_multiple = r.n_groups,
          .max_cols = kMaxExperts,
          .in_place = false,
          .run =
              [&r](const RowOps& ops, RowBuffers& b, Output, int64_t begin, int64_t end) {
                ops.route({.logits = b.a.data(),
                           .ld_logits = b.ld,
                           .selection_bias = r.biased ? b.bias.data() : nullptr,
                           .ids = b.ids.data(),
                           .weights = b.y.data(),
                           .n_expert = b.n_cols,
                           .n_used = std::min<int64_t>(b.n_cols, 8),
                           .n_groups = r.n_groups,
                           .n_groups_used = (r.n_groups + 1) / 2,
                           .gating = r.gating,
                           .normalise = r.normalise,
                           .scale = 2.5f},
                          begin, end);
              },
          .truth = {}};
}

RowCase combine_case() {
  const auto n_used = [](const RowBuffers& b) { return std::min<int64_t>(3, b.n_cols); };
  const auto source = [](const RowBuffers& b, int64_t row, int64_t j) { return (row * 2 + j) % b.n_rows; };
  return {.name = "combine",
          .in_place = false,
          .run =
              [n_used, source](const RowOps& ops, RowBuffers& b, Output, int64_t begin, int64_t end) {
                std::vector<int32_t> rows;
                for (int64_t row = 0; row < b.n_rows; ++row) {
                  for (int64_t j = 0; j < n_used(b); ++j)
                    rows.push_back(static_cast<int32_t>(source(b, row, j)));
                }
                ops.combine({.y = b.a.data(),
                             .ld_y = b.ld,
                             .rows = rows.data(),
                             .weights = b.table.data(),
                             .n_used = n_used(b),
                             .out = b.y.data(),
                             .ld_out = b.ld,
                             .n_cols = b.n_cols},
                            begin, end);
              },
          .truth =
              [n_used, source](const RowBuffers& b) {
                return each_value(b, [&](int64_t row, int64_t col) {
                  double sum = 0;
                  for (int64_t j = 0; j < n_used(b); ++j) {
                    const double weight = weight_at(b.table, row * n_used(b) + j);
                    sum += weight * at(b.a, b, source(b, row, j), col);
                  }
                  return sum;
                });
              },
          .tolerance = 2e-5};  // of terms up to some hundreds that may cancel
}

std::vector<RowCase> make_cases() {
  std::vector<RowCase> cases = {rms_norm_case(true),
                                rms_norm_case(false),
                                rms_norm_by_group_case(),
                                l2_norm_case(),
                                layer_norm_case(true),
                                layer_norm_case(false),
                                add_rms_norm_case(1.0f),
                                add_rms_norm_case(0.22f),
                                add_case(1.0f),
                                add_case(0.22f),
                                add_bias_case(),
                                scale_case(),
                                softcap_case(),
                                rope_table_case(),
                                rope_case(RopePairs::kAdjacent, 4, "rope_adjacent"),
                                rope_case(RopePairs::kHalves, 4, "rope_halves"),
                                rope_case(RopePairs::kAdjacent, 2, "rope_adjacent_partial"),
                                rope_case(RopePairs::kHalves, 2, "rope_halves_partial"),
                                argmax_case(),
                                copy_rows_case(),
                                clamped_swiglu_case(),
                                gate_rows_case(),
                                combine_case()};
  for (const NamedActivation& f : kActivations) cases.push_back(activation_case(f));
  for (const NamedActivation& f : kActivations) cases.push_back(gated_case(f));
  for (const NamedRouting& r : kRoutings) cases.push_back(route_case(r));
  return cases;
}

}  // namespace

const std::vector<RowCase>& row_cases() {
  static const std::vector<RowCase> cases = make_cases();
  return cases;
}

RowBuffers make_buffers(const RowCase& row_case, int64_t n_rows, int64_t n_cols, Values values,
                        uint32_t seed) {
  std::mt19937 rng(seed);
  RowBuffers b;
  b.n_rows = n_rows;
  b.n_cols = n_cols;
  b.width = n_cols * row_case.width_per_col;
  b.ld = b.width + (row_case.dense ? 0 : 1 + static_cast<int64_t>(rng() % 40));
  const auto filled = [&](int64_t n) {
    std::vector<float> v(static_cast<size_t>(n));
    values == Values::kHostile ? fill_hostile(v, rng) : fill_ordinary(v, rng);
    return v;
  };
  b.a = filled(n_rows * b.ld);
  b.b = filled(n_rows * b.ld);
  b.weight = filled(n_cols);
  b.bias = filled(n_cols);
  b.table = filled(n_rows * n_cols);
  b.y.assign(b.a.size(), -77.0f);
  b.sum.assign(b.a.size(), -77.0f);
  b.ids.assign(static_cast<size_t>(n_rows * n_cols), -77);
  for (int64_t row = 0; row < n_rows; ++row) {
    b.index.push_back(static_cast<int32_t>(rng() % static_cast<uint32_t>(n_rows)));
    b.positions.push_back(static_cast<int32_t>(rng() % (1u << 17)));
  }
  return b;
}

}  // namespace quire::kernels::test
