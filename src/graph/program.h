// Program: a model's forward pass as a list of ops over values; built once at load, executed for every step.
//
// Owns its tables (values, ops, weight declarations, rope specs) and no tensor memory. Immutable once passes
// have run; thread safe to read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/op.h"
#include "graph/value.h"
#include "graph/weight.h"
#include "kernels/attention.h"

namespace quire::graph {

// One rotary embedding: angle of pair i at position p is p * inv_freq[i]; cos and sin are multiplied by
// magnitude.
struct RopeSpec {
  std::vector<float> inv_freq;
  float magnitude = 1;
  friend bool operator==(const RopeSpec&, const RopeSpec&) = default;
};

using kernels::KvForm;

// The keys and values one attention layer keeps. The engine binds memory to it by index.
struct KvLayer {
  int32_t n_head_kv = 0, d_k = 0, d_v = 0;
  int32_t window = 0;  // 0 = every position
  KvForm form = KvForm::kKeysAndValues;
};

// What one recurrent layer keeps of a sequence, in floats: the newest rows that its convolution meets again,
// then the state of its scan. Both parts are multiples of 16. The engine binds memory to it by index.
struct StateLayer {
  int64_t tail = 0, state = 0;
};

struct Program {
  std::vector<ValueInfo> values;
  std::vector<Op> ops;
  std::vector<WeightDecl> weights;
  std::vector<RopeSpec> ropes;
  std::vector<KvLayer> kv_layers;
  std::vector<StateLayer> state_layers;
  Value logits;  // [outputs, n_vocab], a tap
  Value state;   // [outputs, d_model], what the vocabulary's layer takes; invalid in programs without one

  const ValueInfo& info(Value value) const { return values[static_cast<size_t>(value.id)]; }
  // The value that owns the memory: the parent of a view, else the value itself.
  Value root(Value value) const { return info(value).parent.valid() ? info(value).parent : value; }
};

// One line per op, for people and for tests: "linear blk.0.attn_q: %3 -> %4".
std::string describe(const Program& program);

}  // namespace quire::graph
