#include "unit/graph/random_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "graph/builder.h"

namespace quire::graph::testing {
namespace {

constexpr int64_t kWidths[] = {32, 64, 128};

std::string linear_name(bool quantised, int64_t from, int64_t to) {
  return fmt::format("{}.{}.{}.weight", quantised ? "q" : "f", from, to);
}

std::string experts_name(bool quantised, int64_t width) {
  return fmt::format("{}.{}.exps.weight", quantised ? "q" : "f", width);
}

}  // namespace

void add_random_program_tensors(MemorySource& source) {
  source.add_random("token_embd.weight", {64, 8});
  for (int64_t width : kWidths) {
    source.add_random(fmt::format("router.{}.weight", width), {width, 4});
    for (bool quantised : {false, true}) {
      source.add_random(experts_name(quantised, width), {width, width, 4},
                        quantised ? ElementType::kQ8_0 : ElementType::kF32);
    }
  }
  for (int64_t from : kWidths) {
    source.add_random(fmt::format("norm.{}.weight", from), {from});
    for (int64_t to : kWidths) {
      source.add_random(linear_name(false, from, to), {from, to});
      source.add_random(linear_name(true, from, to), {from, to}, ElementType::kQ8_0);
    }
  }
}

Program random_program(const MemorySource& source, uint32_t seed, int n_ops) {
  std::mt19937 random(seed);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  ProgramBuilder b(source, kernels::ActivationSetting::kInt8);
  struct Known {
    Value value;
    int64_t cols;
  };
  std::vector<Known> values = {{b.embed("token_embd.weight", 8, 64), 64}};
  // Mostly a recent value, so that lifetimes are short as in real programs, sometimes any.
  const auto pick = [&](const std::vector<Known>& from) {
    const size_t recent = std::min<size_t>(from.size(), 4);
    return below(4) == 0 ? from[below(from.size())] : from[from.size() - 1 - below(recent)];
  };
  const auto step = [&](std::vector<Known>& known, bool tokens) {
    const Known x = pick(known);
    const int64_t to = kWidths[below(3)];
    switch (below(tokens ? 10 : 8)) {
      case 0:
      case 1:
        b.set_planes(below(4) == 0 ? kernels::ActivationPlanes::kTwo : kernels::ActivationPlanes::kOne);
        known.push_back({b.linear(x.value, linear_name(below(2) == 0, x.cols, to), to), to});
        break;
      case 2:
        known.push_back({b.rms_norm(x.value, fmt::format("norm.{}.weight", x.cols), 1e-5f), x.cols});
        break;
      case 3: {
        const Known y = pick(known);
        if (y.cols != x.cols) break;
        known.push_back({b.add(x.value, y.value), x.cols});
        // What the norm after a sum reads is what the fusion looks for.
        if (below(2) == 0)
          known.push_back(
              {b.rms_norm(known.back().value, fmt::format("norm.{}.weight", x.cols), 1e-5f), x.cols});
        break;
      }
      case 4:
        known.push_back({b.scale(x.value, 2), x.cols});
        break;
      case 5:
        if (x.cols > 32) known.push_back({b.slice(x.value, x.cols - 32, 32), 32});
        break;
      case 6:
        if (below(3) == 0) b.tap(x.value, "tap");
        break;
      case 7: {
        const Routing routing = b.route(b.linear(x.value, fmt::format("router.{}.weight", x.cols), 4),
                                        {.n_expert = 4, .n_used = 2});
        const auto experts = [&](Value in) {
          return b.expert_linear(in, routing, {.weight = experts_name(below(2) == 0, x.cols), .n = x.cols});
        };
        const Value gate = experts(x.value);
        const Value h = b.gated_activation(gate, experts(x.value), kernels::Activation::kSilu);
        known.push_back({b.combine(experts(h), routing), x.cols});
        break;
      }
      case 8:
        known.push_back({b.rope(x.value, {.inv_freq = {1, 0.1f}}, 4, kernels::RopePairs::kHalves), x.cols});
        break;
      case 9: {
        const Known kv = pick(known);
        if (kv.cols > x.cols) break;
        const auto heads = static_cast<int32_t>(x.cols / 8);
        const auto heads_kv = static_cast<int32_t>(kv.cols / 8);
        known.push_back({b.attention(x.value, kv.value, kv.value,
                                     {.n_head = heads, .n_head_kv = heads_kv, .d_k = 8, .d_v = 8}),
                         x.cols});
        break;
      }
      default:
        break;
    }
  };
  for (int i = 0; i < n_ops; ++i) step(values, true);
  std::vector<Known> outputs;
  for (int i = 0; i < 3; ++i) {
    const Known x = pick(values);
    outputs.push_back({b.select_outputs(x.value), x.cols});
  }
  for (int i = 0; i < n_ops / 4; ++i) step(outputs, false);
  const Value logits = pick(outputs).value;
  return std::move(b).finish(logits).value();
}

}  // namespace quire::graph::testing
