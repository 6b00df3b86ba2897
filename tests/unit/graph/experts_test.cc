// Mixtures of experts: pairs sorted by expert, programs of experts against plain loops, and rows whose bits
// do not depend on who shares the step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "graph/cpu_device.h"
#include "graph/cpu_executor.h"
#include "graph/expert_order.h"
#include "graph/op_cost.h"
#include "graph/passes.h"
#include "unit/graph/memory_source.h"
#include "unit/graph/output_rows.h"

namespace quire::graph {
namespace {

using ::testing::HasSubstr;
using testing::MemorySource;
using testing::output_rows;

TEST(ExpertOrder, SortsPairsByExpertAndKeepsTheirRowsInOrder) {
  std::mt19937 random(5);
  for (const auto& [n_rows, n_used, n_expert] :
       {std::tuple{1, 1, 1}, {1, 4, 9}, {7, 2, 3}, {40, 3, 60}, {33, 1, 5}}) {
    std::vector<int32_t> ids;
    for (int row = 0; row < n_rows; ++row) {
      std::vector<int32_t> all(static_cast<size_t>(n_expert));
      std::iota(all.begin(), all.end(), 0);
      std::shuffle(all.begin(), all.end(), random);
      ids.insert(ids.end(), all.begin(), all.begin() + n_used);
    }
    std::vector<std::byte> memory(expert_order_bytes(n_rows, n_used, n_expert));
    sort_pairs(ids.data(), n_rows, n_used, n_expert, memory.data());
    const ExpertOrder order = read_expert_order(memory.data(), n_rows, n_used, n_expert);

    int32_t next = 0, last_expert = -1;
    for (size_t g = 0; g < order.groups.size(); ++g) {
      const ExpertGroup& group = order.groups[g];
      EXPECT_GT(group.expert, last_expert);
      EXPECT_EQ(group.begin, next);
      ASSERT_GT(group.n_rows, 0);
      for (int32_t row = group.begin; row < group.begin + group.n_rows; ++row) {
        EXPECT_EQ(order.group_of(row), g);
        if (row > group.begin) EXPECT_LT(order.source[row - 1], order.source[row]);
      }
      last_expert = group.expert;
      next += group.n_rows;
    }
    EXPECT_EQ(next, n_rows * n_used);
    for (int pair = 0; pair < n_rows * n_used; ++pair) {
      const int32_t place = order.sorted[pair];
      EXPECT_EQ(order.source[place], pair / n_used);
      EXPECT_EQ(order.groups[order.group_of(place)].expert, ids[static_cast<size_t>(pair)]);
    }
  }
}

constexpr int64_t kVocab = 24, kWidth = 64, kHidden = 96, kExperts = 7, kUsed = 3;

struct Form {
  ElementType type = ElementType::kF32;
  kernels::ActivationPlanes planes = kernels::ActivationPlanes::kOne;
  bool fused = false;   // gate and up in one tensor
  bool biases = false;  // of all three
  int64_t n_expert = kExperts, n_used = kUsed;
};

void add_tensors(MemorySource& source, ElementType type, int64_t n_expert = kExperts) {
  source.add_random("embd", {kWidth, kVocab});
  source.add_random("router", {kWidth, n_expert});
  source.add_random("up", {kWidth, 2 * kHidden, n_expert}, type);
  source.add_random("gate", {kWidth, kHidden, n_expert}, type);
  source.add_random("down", {kHidden, kWidth, n_expert}, type);
  source.add_random("up.bias", {kHidden, n_expert});
  source.add_random("gate.bias", {kHidden, n_expert});
  source.add_random("down.bias", {kWidth, n_expert});
}

Program build(const MemorySource& source, const Form& form) {
  ProgramBuilder b(source, kernels::ActivationSetting::kInt8);
  b.set_planes(form.planes);
  const Value x = b.embed("embd", kVocab, kWidth);
  const Routing routing = b.route(
      b.linear(x, "router", form.n_expert),
      {.n_expert = form.n_expert, .n_used = form.n_used, .normalise = kernels::GateWeights::kSumToOne});
  const auto bias = [&](const char* name) { return form.biases ? std::string(name) : std::string(); };
  // The first half of "up" is up; the second is the gate of the fused form.
  const ExpertLinearParams gate =
      form.fused
          ? ExpertLinearParams{.weight = "up", .n = kHidden, .first_row = kHidden, .tensor_rows = 2 * kHidden}
          : ExpertLinearParams{.weight = "gate", .bias = bias("gate.bias"), .n = kHidden};
  const Value g = b.expert_linear(x, routing, gate);
  const Value u = b.expert_linear(
      x, routing, {.weight = "up", .bias = bias("up.bias"), .n = kHidden, .tensor_rows = 2 * kHidden});
  const Value h = b.gated_activation(g, u, kernels::Activation::kSilu);
  const Value y = b.expert_linear(h, routing, {.weight = "down", .bias = bias("down.bias"), .n = kWidth});
  return std::move(b).finish(b.select_outputs(b.add(x, b.combine(y, routing)))).value();
}

using Outputs = testing::OutputRows;

struct Options {
  int threads = 2;
  const char* isa = "auto";
  RowPhases row_phases = RowPhases::kMerged;
  bool passes = true;
};

// The output rows of `tokens`, fed `chunk` at a time.
Outputs run(const MemorySource& source, const Form& form, const std::vector<int32_t>& tokens, size_t chunk,
            const Options& options = {}) {
  Program program = build(source, form);
  if (options.passes) run_passes(program, {});
  return output_rows(program, source, options.isa,
                     {.n_threads = options.threads,
                      .kv = {},
                      .limits = {.max_tokens = 64, .max_outputs = 64},
                      .row_phases = options.row_phases},
                     tokens, chunk);
}

bool same_bits(const Outputs& a, const Outputs& b) {
  if (a.size() != b.size()) return false;
  for (size_t r = 0; r < a.size(); ++r) {
    if (std::memcmp(a[r].data(), b[r].data(), a[r].size() * sizeof(float)) != 0) return false;
  }
  return true;
}

std::vector<int32_t> some_tokens() {
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < 50; ++i) tokens.push_back(i * i % static_cast<int32_t>(kVocab));
  return tokens;
}

// What one token's row should be, in double.
std::vector<double> plain_row(const MemorySource& source, const Form& form, int32_t token) {
  using Row = std::vector<double>;
  const auto matrix = [&](const Row& x, const char* name, size_t first_row, size_t n) {
    Row y(n, 0);
    for (size_t r = 0; r < n; ++r) {
      for (size_t c = 0; c < x.size(); ++c)
        y[r] += x[c] * static_cast<double>(source.values(name)[(first_row + r) * x.size() + c]);
    }
    return y;
  };
  const auto add_bias = [&](Row& y, const char* name, size_t expert) {
    if (!form.biases) return;
    for (size_t i = 0; i < y.size(); ++i)
      y[i] += static_cast<double>(source.values(name)[expert * y.size() + i]);
  };
  Row x(kWidth);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<double>(source.values("embd")[static_cast<size_t>(token) * kWidth + i]);
  const Row logits = matrix(x, "router", 0, kExperts);
  std::vector<size_t> order(kExperts);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return logits[a] > logits[b]; });
  double sum = 0;
  for (size_t j = 0; j < kUsed; ++j) sum += std::exp(logits[order[j]]);
  Row y = x;
  for (size_t j = 0; j < kUsed; ++j) {
    const size_t e = order[j];
    Row gate = form.fused ? matrix(x, "up", (2 * e + 1) * kHidden, kHidden)
                          : matrix(x, "gate", e * kHidden, kHidden);
    Row up = matrix(x, "up", 2 * e * kHidden, kHidden);
    if (!form.fused) add_bias(gate, "gate.bias", e);
    add_bias(up, "up.bias", e);
    Row h(kHidden);
    for (size_t i = 0; i < h.size(); ++i) h[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
    Row answer = matrix(h, "down", e * kWidth, kWidth);
    add_bias(answer, "down.bias", e);
    for (size_t i = 0; i < y.size(); ++i) y[i] += std::exp(logits[e]) / sum * answer[i];
  }
  return y;
}

TEST(Experts, MatchPlainLoops) {
  MemorySource source;
  add_tensors(source, ElementType::kF32);
  const std::vector<int32_t> tokens = some_tokens();
  for (bool fused : {false, true}) {
    for (bool biases : {false, true}) {
      const Form form{.fused = fused, .biases = biases};
      const Outputs rows = run(source, form, tokens, tokens.size());
      for (size_t r = 0; r < rows.size(); ++r) {
        const std::vector<double> want = plain_row(source, form, tokens[r]);
        for (size_t i = 0; i < want.size(); ++i)
          ASSERT_NEAR(static_cast<double>(rows[r][i]), want[i], 1e-5) << "row " << r << " column " << i;
      }
    }
  }
}

// A quantised program stays close to the exact one, and two planes closer.
TEST(Experts, QuantisedActivationsStayCloseAndTwoPlanesCloser) {
  MemorySource source;
  add_tensors(source, ElementType::kQ8_0);
  const std::vector<int32_t> tokens = some_tokens();
  const auto distance = [&](const Outputs& rows, const Outputs& exact) {
    double largest = 0;
    for (size_t r = 0; r < rows.size(); ++r) {
      for (size_t i = 0; i < rows[r].size(); ++i)
        largest = std::max(largest, static_cast<double>(std::fabs(rows[r][i] - exact[r][i])));
    }
    return largest;
  };
  MemorySource decoded;  // the same random numbers, exactly those of the quantised tensors
  add_tensors(decoded, ElementType::kF32);
  for (const char* name : {"up", "gate", "down"}) {
    const TensorView& view = *source.find(name);
    std::vector<float> values(static_cast<size_t>(view.n_elems()));
    element_type_info(view.type).decode(view.data, values.data(), view.n_elems());
    decoded.add(name, {view.dims[0], view.dims[1], view.dims[2]}, values);
  }
  const Outputs exact = run(decoded, {}, tokens, 50);
  const double one = distance(run(source, {}, tokens, 50), exact);
  const double two = distance(run(source, {.planes = kernels::ActivationPlanes::kTwo}, tokens, 50), exact);
  EXPECT_LT(one, 0.1);
  EXPECT_GT(one, 1e-4);
  EXPECT_LT(two, one / 30);
}

TEST(Experts, ARowsBitsDoNotDependOnWhoSharesTheStep) {
  const std::vector<int32_t> tokens = some_tokens();
  for (ElementType type : {ElementType::kF32, ElementType::kQ8_0, ElementType::kMXFP4}) {
    MemorySource source;
    add_tensors(source, type);
    for (kernels::ActivationPlanes planes :
         {kernels::ActivationPlanes::kOne, kernels::ActivationPlanes::kTwo}) {
      for (bool biases : {false, true}) {
        const Form form{.planes = planes, .fused = biases, .biases = biases};
        const Outputs alone = run(source, form, tokens, 1);
        for (size_t chunk : {2u, 13u, 50u}) EXPECT_TRUE(same_bits(run(source, form, tokens, chunk), alone));
        for (int threads : {1, 3}) {
          for (RowPhases row_phases : {RowPhases::kMerged, RowPhases::kSeparate}) {
            for (bool passes : {true, false}) {
              const Options options{.threads = threads, .row_phases = row_phases, .passes = passes};
              EXPECT_TRUE(same_bits(run(source, form, tokens, 37, options), alone)) << threads << " threads";
            }
          }
        }
        for (Isa isa : supported_isas())
          EXPECT_TRUE(same_bits(run(source, form, tokens, 25, {.isa = isa_name(isa)}), alone))
              << isa_name(isa);
      }
    }
  }
}

TEST(Experts, OneExpertAndAllOfThemAreNoSpecialCases) {
  struct Counts {
    int64_t n_expert, n_used;
  };
  for (const Counts& counts : {Counts{1, 1}, Counts{kExperts, 1}, Counts{kExperts, kExperts}}) {
    MemorySource source;
    add_tensors(source, ElementType::kQ8_0, counts.n_expert);
    for (kernels::ActivationPlanes planes :
         {kernels::ActivationPlanes::kOne, kernels::ActivationPlanes::kTwo}) {
      const Form form{.planes = planes, .n_expert = counts.n_expert, .n_used = counts.n_used};
      const Outputs alone = run(source, form, some_tokens(), 1);
      for (Isa isa : supported_isas()) {
        for (size_t chunk : {33u, 50u}) {
          EXPECT_TRUE(same_bits(run(source, form, some_tokens(), chunk, {.isa = isa_name(isa)}), alone))
              << isa_name(isa) << " chunk " << chunk << " of " << counts.n_used << "/" << counts.n_expert;
        }
      }
    }
  }
}

// A row of NaNs has no best expert: it goes somewhere, stays NaN and leaves the others alone.
TEST(Experts, ARowOfNaNsLeavesTheOthersAlone) {
  constexpr int32_t kBroken = 4;
  MemorySource source;
  add_tensors(source, ElementType::kQ8_0);
  std::vector<float> embeddings(source.values("embd"), source.values("embd") + kVocab * kWidth);
  std::fill_n(embeddings.begin() + kBroken * kWidth, kWidth, std::numeric_limits<float>::quiet_NaN());
  source.add("embd", {kWidth, kVocab}, embeddings);
  const std::vector<int32_t> tokens = some_tokens();
  ASSERT_GT(std::ranges::count(tokens, kBroken), 1);
  const Outputs alone = run(source, {}, tokens, 1);
  for (Isa isa : supported_isas()) {
    SCOPED_TRACE(isa_name(isa));
    const Outputs rows = run(source, {}, tokens, 50, {.isa = isa_name(isa)});
    for (size_t r = 0; r < rows.size(); ++r) {
      if (tokens[r] == kBroken) {
        EXPECT_TRUE(std::ranges::all_of(rows[r], [](float x) { return std::isnan(x); })) << "row " << r;
      } else {
        EXPECT_TRUE(same_bits({rows[r]}, {alone[r]})) << "row " << r;
      }
    }
  }
}

TEST(Experts, GateAndUpShareOneDivisionOfWork) {
  MemorySource source;
  add_tensors(source, ElementType::kQ8_0);
  Program program = build(source, {.fused = true});
  run_passes(program, {});
  std::vector<size_t> layers;
  for (const Op& op : program.ops) {
    if (std::holds_alternative<ExpertLinearAttrs>(op.attrs)) layers.push_back(op.weights.size() / 2);
  }
  EXPECT_EQ(layers, (std::vector<size_t>{2, 1}));
  // embed | router | route | sort | gather | gate|up | gated, quantize | down | combine, add | select
  EXPECT_EQ(make_phases(program, RowPhases::kMerged).size(), 10u);
}

TEST(Experts, FusedTensorsArePackedAsTwo) {
  MemorySource source;
  add_tensors(source, ElementType::kQ4_0);
  const Program program = build(source, {.fused = true});
  ThreadPool pool(2);
  size_t last_total = 0;
  const WeightStore store = WeightStore::load(program, source, pool, [&](size_t, size_t total) {
                              last_total = total;
                              return true;
                            }).value();
  EXPECT_EQ(store.bytes(), WeightStore::plan_bytes(program));
  EXPECT_EQ(last_total,
            source.find("router")->bytes() + source.find("up")->bytes() + source.find("down")->bytes());
  for (size_t w = 0; w < program.weights.size(); ++w) {
    const WeightDecl& decl = program.weights[w];
    if (decl.name != "up") continue;
    const size_t group_bytes = decl.format->group_bytes(kWidth);
    std::vector<std::byte> group(group_bytes);
    for (int64_t expert = 0; expert < kExperts; ++expert) {
      TensorView half = *source.find("up");
      half.data = half.row(expert * 2 * kHidden + decl.first_row);
      half.dims = {kWidth, kHidden, 1, 1};
      for (int64_t g = 0; g < kernels::n_groups(kHidden); ++g) {
        decl.format->pack_group(half, g, group.data());
        const size_t at =
            static_cast<size_t>(expert) * decl.packed_bytes() + static_cast<size_t>(g) * group_bytes;
        EXPECT_EQ(
            std::memcmp(store.packed(WeightId{static_cast<int32_t>(w)}) + at, group.data(), group_bytes), 0);
      }
    }
  }
}

TEST(Experts, CostsCountTheExpertsThatAreRead) {
  MemorySource source;
  add_tensors(source, ElementType::kQ8_0);
  const Program program = build(source, {});
  const SpanShape one{.n_tokens = 1}, many{.n_tokens = 1000};
  for (const Op& op : program.ops) {
    if (!std::holds_alternative<ExpertLinearAttrs>(op.attrs)) continue;
    const WeightDecl& decl = program.weights[static_cast<size_t>(op.weights[0].id)];
    const auto bytes = static_cast<double>(decl.packed_bytes());
    const OpCost cost = op_cost(program, op, {.spans = {&one, 1}});
    EXPECT_NEAR(cost.memory_bytes, static_cast<double>(kUsed) * bytes, 1e-6 * bytes);
    EXPECT_DOUBLE_EQ(cost.dot_operations, 2.0 * kUsed * static_cast<double>(kWidth * kHidden));
    // So many rows reach every expert.
    EXPECT_NEAR(op_cost(program, op, {.spans = {&many, 1}}).memory_bytes,
                static_cast<double>(kExperts) * bytes, 1e-6 * bytes);
  }
}

TEST(Experts, TensorsOfAnotherShapeAreRefusedByName) {
  MemorySource source;
  add_tensors(source, ElementType::kF32);
  source.add_random("gate", {kWidth, kExperts, kHidden});  // as many rows, in another order
  ProgramBuilder b(source, kernels::ActivationSetting::kInt8);
  const Value x = b.embed("embd", kVocab, kWidth);
  const Routing routing = b.route(b.linear(x, "router", kExperts), {.n_expert = kExperts, .n_used = kUsed});
  b.expert_linear(x, routing, {.weight = "gate", .n = kHidden});
  const Result<Program> program = std::move(b).finish(b.select_outputs(x));
  ASSERT_FALSE(program.ok());
  EXPECT_THAT(program.error().message,
              HasSubstr("tensor gate has shape [64, 7, 96, 1], expected [64, 96, 7]"));
}

}  // namespace
}  // namespace quire::graph
