// Op: one step of a program. What it does is a small struct of attributes; what it touches is a list of
// values and weights, so that passes and the planner need not know the kinds.
//
// Every operation is defined by its kernel header (kernels/row_ops.h, attention.h, linear.h). Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "graph/value.h"
#include "graph/weight.h"
#include "kernels/recurrent.h"
#include "kernels/row_ops.h"

namespace quire::graph {

// In the comments: inputs -> outputs; weights. `?` marks an optional one.
struct EmbedAttrs {
  float scale = 1;
};  // () -> x; table. Rows of the step's token ids
// Whether the groups of a norm share one group's weights or have their own.
enum class GroupWeights : uint8_t { kShared, kOwn };
struct RmsNormAttrs {
  float eps = 0;
  int64_t n_groups = 1;
  GroupWeights weights = GroupWeights::kShared;
};  // x -> y; weight?
struct L2NormAttrs {
  float eps = 0;
  int64_t n_groups = 1;
};  // x -> y
struct LayerNormAttrs {
  float eps = 0;
};  // x -> y; weight, bias (either may be invalid)
struct AddRmsNormAttrs {
  float b_scale = 1, eps = 0;
};  // a, b -> sum, y; weight
struct AddAttrs {
  float b_scale = 1;
};                       // a, b -> y
struct AddBiasAttrs {};  // x -> y; bias
struct ScaleAttrs {
  float scale = 1;
};  // x -> y
struct SoftcapAttrs {
  float cap = 0;
};  // x -> y
struct ActivationAttrs {
  kernels::Activation activation{};
};  // x -> y
struct GatedActivationAttrs {
  kernels::Activation activation{};
};  // gate, up -> y
struct ClampedSwigluAttrs {
  float limit = 0, alpha = 1, up_offset = 0;
};                        // gate, up -> y
struct GateRowsAttrs {};  // x, gate [rows, 1] -> y
struct RopeTableAttrs {
  int32_t spec = 0;
};                  // () -> table. From the step's positions
struct RopeAttrs {  // x, table -> y
  int64_t n_heads = 0, d_head = 0;
  kernels::RopePairs pairs{};
};
struct SliceHeadsAttrs {  // x -> y: the columns of each head from `first` on, as many as y has
  int64_t n_heads = 0, first = 0;
};
struct JoinHeadsAttrs {  // a, b -> y: each head's columns of a, then those of b
  int64_t n_heads = 0;
};
struct QuantizeAttrs {};  // x -> activation rows of the output's type; by heads where the output has n_used
// xs -> ys; ws: y_i = w_i x_i, up to kMaxLinears at once. Of a weight of several matrices (one a head),
// matrix h takes part h of x's columns and makes part h of y's.
struct LinearAttrs {};
struct StoreKvAttrs {
  int32_t kv_layer = 0;
};                       // k, v? -> (); latent keys come without v
struct AttentionAttrs {  // q -> out; sinks?
  int32_t kv_layer = 0, n_head = 0;
  float scale = 1, softcap = 0;
  int32_t window = 0;
};
// These advance the state of one layer (StateLayer) by every row.
struct CausalConvAttrs {
  int32_t state_layer = 0;
  int64_t n_taps = 0;
  kernels::ConvActivation activation{};
};                  // x -> y; weight [n_taps, cols], bias?
struct ScanAttrs {  // x, dt, b, c -> y; a, d
  int32_t state_layer = 0;
  int64_t n_head = 0, n_group = 0;
};
struct ChannelScanAttrs {
  int32_t state_layer = 0;
};                   // x, dt, b, c -> y; a, d
struct DeltaAttrs {  // q, k, v, beta, dt -> y; a
  int32_t state_layer = 0;
  int64_t n_head = 0, n_key_head = 0;
  kernels::KeyHeads key_heads{};
  float scale = 1;
};
struct RouteAttrs {  // logits -> ids, weights; selection bias?
  int64_t n_used = 0, n_groups = 1, n_groups_used = 1;
  kernels::Gating gating{};
  kernels::GateWeights normalise{};
  float scale = 1;
};
struct SortPairsAttrs {};      // ids -> order
struct GatherPairsAttrs {};    // x, order -> a row for each pair, in the output's type
struct QuantizePairsAttrs {};  // x of pairs, order -> activation rows of the output's type
// (rows of pairs, order)... -> y...; (matrix, bias?)...: y_i = w_i x_i + b_i with the matrix and bias of each
// pair's expert. With two planes each y follows the value of both: (planes, y)...
struct ExpertLinearAttrs {};
struct CombineAttrs {};        // y of pairs, order, weights -> sum over each row's experts
struct SumPlanesAttrs {};      // x in two planes -> y, their sum
struct SelectOutputsAttrs {};  // x [tokens] -> y [outputs]

using OpAttrs =
    std::variant<EmbedAttrs, RmsNormAttrs, LayerNormAttrs, AddRmsNormAttrs, AddAttrs, AddBiasAttrs,
                 ScaleAttrs, SoftcapAttrs, ActivationAttrs, GatedActivationAttrs, RopeTableAttrs, RopeAttrs,
                 QuantizeAttrs, LinearAttrs, StoreKvAttrs, AttentionAttrs, SumPlanesAttrs, SelectOutputsAttrs,
                 ClampedSwigluAttrs, GateRowsAttrs, RouteAttrs, SortPairsAttrs, GatherPairsAttrs,
                 QuantizePairsAttrs, ExpertLinearAttrs, CombineAttrs, SliceHeadsAttrs, JoinHeadsAttrs,
                 L2NormAttrs, CausalConvAttrs, ScanAttrs, DeltaAttrs, ChannelScanAttrs>;

// Matrices of one linear op: q|k|v, gate|up and the like need a handful.
inline constexpr size_t kMaxLinears = 16;

struct Op {
  OpAttrs attrs;
  std::vector<Value> inputs;
  std::vector<Value> outputs;
  std::vector<WeightId> weights;
  std::string label;  // for profiles and messages, e.g. "blk.3.attn_q"
};

// "rms_norm", "linear", ...: the name of an op's kind.
const char* op_name(const Op& op);

// Whether the op advances the states of sequences: its answer for a row depends on the rows before it.
bool is_recurrent(const Op& op);

// Whether each output row depends on the same row of the inputs only, so that such ops can run one after
// another on a few rows at a time. Linear layers and attention are not: they divide their work by columns and
// heads. Nor are recurrences. Of pairs, the rows that lie in the same place count.
bool is_row_op(const Op& op);

// A row op that finds rows of its inputs by an index: it may not run before all of them are there.
bool reads_by_index(const Op& op);

}  // namespace quire::graph
