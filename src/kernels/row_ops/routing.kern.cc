// Mixture of experts: choosing each row's experts and their weights, and adding up what they answered.
#include "kernels/row_ops/families.h"
#include "kernels/row_ops/row_loop.h"
#include "kernels/vec/math.h"
#include "kernels/vec/vec.h"

namespace quire::kernels::QUIRE_ISA {
namespace {

constexpr float kLowest = -__builtin_inff();
constexpr float kSmallestSum = 0x1p-14f;  // the least normal f16, which the models' own code divides by

// Indices of the k largest of n values, largest first, the lower index on ties. A NaN is never larger.
void top_k(const float* values, int64_t n, int64_t k, int32_t* ids) {
  int64_t found = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (found == k && !(values[i] > values[ids[k - 1]])) continue;
    int64_t at = found < k ? found++ : k - 1;
    for (; at > 0 && values[i] > values[ids[at - 1]]; --at) ids[at] = ids[at - 1];
    ids[at] = static_cast<int32_t>(i);
  }
}

// y = softmax of n values.
QUIRE_VEC_FN void softmax(const float* x, float* y, int64_t n) {
  const F32 lowest = set1(kLowest);
  F32 largest = lowest;
  for_columns(n, [&](int64_t i, auto io) { largest = max(io.keep(io.load(x + i), lowest), largest); });
  const F32 offset = set1(reduce_max(largest));
  F32 sum = zero();
  for_columns(n, [&](int64_t i, auto io) {
    const F32 e = exp(sub(io.load(x + i), offset));
    io.store(y + i, e);
    sum = add(sum, io.keep(e, zero()));
  });
  const F32 total = set1(reduce_add(sum));
  for_columns(n, [&](int64_t i, auto io) { io.store(y + i, div(io.load(y + i), total)); });
}

QUIRE_VEC_FN void gate(Gating gating, const float* logits, float* scores, int64_t n) {
  switch (gating) {
    case Gating::kSoftmax:
      return softmax(logits, scores, n);
    case Gating::kSigmoid:
      return for_columns(n, [&](int64_t i, auto io) { io.store(scores + i, sigmoid(io.load(logits + i))); });
    case Gating::kSoftmaxOfSelected:
      return for_columns(n, [&](int64_t i, auto io) { io.store(scores + i, io.load(logits + i)); });
  }
}

// The sum of the two largest values of a group; of the only one in groups of one.
float group_score(const float* choice, int64_t group_size) {
  int32_t best[2] = {0, 0};
  const int64_t n = group_size < 2 ? group_size : 2;
  top_k(choice, group_size, n, best);
  return n == 2 ? choice[best[0]] + choice[best[1]] : choice[best[0]];
}

// Sets the experts of all groups but the best n_groups_used to -Inf.
void limit_groups(float* choice, const RouteArgs& args) {
  const int64_t size = args.n_expert / args.n_groups;
  float scores[kMaxExperts];
  bool kept[kMaxExperts] = {};
  int32_t best[kMaxExperts];
  for (int64_t g = 0; g < args.n_groups; ++g) scores[g] = group_score(choice + g * size, size);
  top_k(scores, args.n_groups, args.n_groups_used, best);
  for (int64_t g = 0; g < args.n_groups_used; ++g) kept[best[g]] = true;
  for (int64_t i = 0; i < args.n_expert; ++i) {
    if (!kept[i / size]) choice[i] = kLowest;
  }
}

void route_row(const RouteArgs& args, const float* logits, int32_t* ids, float* weights) {
  float scores[kMaxExperts];
  float choice[kMaxExperts];
  gate(args.gating, logits, scores, args.n_expert);
  for (int64_t i = 0; i < args.n_expert; ++i) {
    const float value = args.selection_bias == nullptr ? scores[i] : scores[i] + args.selection_bias[i];
    choice[i] = value == value ? value : kLowest;
  }
  if (args.n_groups_used < args.n_groups) limit_groups(choice, args);
  top_k(choice, args.n_expert, args.n_used, ids);

  for (int64_t j = 0; j < args.n_used; ++j) weights[j] = scores[ids[j]];
  if (args.gating == Gating::kSoftmaxOfSelected) softmax(weights, weights, args.n_used);
  if (args.normalise == GateWeights::kSumToOne) {
    float sum = 0.0f;
    for (int64_t j = 0; j < args.n_used; ++j) sum += weights[j];
    const float divisor = sum < kSmallestSum ? kSmallestSum : sum;
    for (int64_t j = 0; j < args.n_used; ++j) weights[j] /= divisor;
  }
  for (int64_t j = 0; j < args.n_used; ++j) weights[j] *= args.scale;
}

void route(const RouteArgs& args, int64_t row_begin, int64_t row_end) {
  for (int64_t row = row_begin; row < row_end; ++row) {
    route_row(args, args.logits + row * args.ld_logits, args.ids + row * args.n_used,
              args.weights + row * args.n_used);
  }
}

void combine(const CombineArgs& args, int64_t row_begin, int64_t row_end) {
  for (int64_t row = row_begin; row < row_end; ++row) {
    const int32_t* rows = args.rows + row * args.n_used;
    const float* weights = args.weights + row * args.n_used;
    float* out = args.out + row * args.ld_out;
    for_columns(args.n_cols, [&](int64_t i, auto io) {
      F32 sum = zero();
      for (int64_t j = 0; j < args.n_used; ++j) {
        sum = mul_add(io.load(args.y + rows[j] * args.ld_y + i), set1(weights[j]), sum);
      }
      io.store(out + i, sum);
    });
  }
}

}  // namespace

RoutingOps routing_ops() { return {.route = route, .combine = combine}; }

}  // namespace quire::kernels::QUIRE_ISA
