#include "graph/op.h"

#include <array>

namespace quire::graph {

const char* op_name(const Op& op) {
  static constexpr std::array<const char*, std::variant_size_v<OpAttrs>> kNames = {
      "embed",          "rms_norm",  "layer_norm",  "add_rms_norm",     "add",          "add_bias",
      "scale",          "softcap",   "activation",  "gated_activation", "rope_table",   "rope",
      "quantize",       "linear",    "store_kv",    "attention",        "sum_planes",   "select_outputs",
      "clamped_swiglu", "gate_rows", "route",       "sort_pairs",       "gather_pairs", "quantize_pairs",
      "expert_linear",  "combine",   "slice_heads", "join_heads",       "l2_norm",      "causal_conv",
      "scan",           "delta",     "channel_scan"};
  return kNames[op.attrs.index()];
}

bool is_recurrent(const Op& op) {
  return std::holds_alternative<CausalConvAttrs>(op.attrs) || std::holds_alternative<ScanAttrs>(op.attrs) ||
         std::holds_alternative<ChannelScanAttrs>(op.attrs) || std::holds_alternative<DeltaAttrs>(op.attrs);
}

bool is_row_op(const Op& op) {
  return !is_recurrent(op) && !std::holds_alternative<LinearAttrs>(op.attrs) &&
         !std::holds_alternative<AttentionAttrs>(op.attrs) &&
         !std::holds_alternative<SelectOutputsAttrs>(op.attrs) &&
         !std::holds_alternative<SortPairsAttrs>(op.attrs) &&
         !std::holds_alternative<ExpertLinearAttrs>(op.attrs);
}

bool reads_by_index(const Op& op) {
  return std::holds_alternative<GatherPairsAttrs>(op.attrs) || std::holds_alternative<CombineAttrs>(op.attrs);
}

}  // namespace quire::graph
