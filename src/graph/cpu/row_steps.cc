#include "graph/cpu/row_steps.h"

#include <algorithm>

#include "base/check.h"
#include "graph/cpu/pair_rows.h"
#include "graph/expert_order.h"
#include "kernels/activation_tiles.h"

namespace quire::graph {
namespace {

// Steps below this much work (values touched) run on the calling thread: waking others would cost more.
constexpr int64_t kInlineWork = 16 << 10;

// Runs one row op on rows [begin, end): one overload per kind.
struct RowOpRunner {
  const StepContext& s;
  const Op& op;
  int64_t begin, end;

  Value in(size_t i) const { return op.inputs[i]; }
  Value out(size_t i = 0) const { return op.outputs[i]; }
  int64_t cols(Value value) const { return s.program->info(value).cols; }
  const float* weight(size_t i) const { return i < op.weights.size() ? s.vector(op.weights[i]) : nullptr; }

  // Columns of the heads of a value: each head has `stride`, and these begin at `first`.
  struct Heads {
    Value value;
    int64_t stride, first;
  };
  void copy_heads(const Heads& from, const Heads& to, int64_t n_heads, int64_t n) const {
    for (int64_t r = begin; r < end; ++r) {
      const float* x = s.f32(from.value) + r * s.ld(from.value) + from.first;
      float* y = s.f32(to.value) + r * s.ld(to.value) + to.first;
      for (int64_t head = 0; head < n_heads; ++head)
        std::copy_n(x + head * from.stride, n, y + head * to.stride);
    }
  }

  void operator()(const EmbedAttrs& a) const {
    const TensorView& table = s.weights->table(op.weights[0]);
    const ElementTypeInfo& type = element_type_info(table.type);
    const int64_t d = cols(out());
    for (int64_t r = begin; r < end; ++r) {
      type.decode(table.row(s.step->tokens[static_cast<size_t>(r)]), s.f32(out()) + r * s.ld(out()), d);
    }
    if (a.scale != 1.0f) {
      const kernels::ScaleArgs args{.x = s.f32(out()),
                                    .ld_x = s.ld(out()),
                                    .y = s.f32(out()),
                                    .ld_y = s.ld(out()),
                                    .n_cols = d,
                                    .scale = a.scale};
      s.kernels->rows.scale(args, begin, end);
    }
  }
  void operator()(const RmsNormAttrs& a) const {
    const kernels::RmsNormArgs args{
        .x = s.f32(in(0)),
        .ld_x = s.ld(in(0)),
        .y = s.f32(out()),
        .ld_y = s.ld(out()),
        .weight = weight(0),
        .ld_weight = a.weights == GroupWeights::kOwn ? cols(out()) / a.n_groups : 0,
        .n_groups = a.n_groups,
        .n_cols = cols(out()) / a.n_groups,
        .eps = a.eps};
    s.kernels->rows.rms_norm(args, begin, end);
  }
  void operator()(const L2NormAttrs& a) const {
    const kernels::L2NormArgs args{.x = s.f32(in(0)),
                                   .ld_x = s.ld(in(0)),
                                   .y = s.f32(out()),
                                   .ld_y = s.ld(out()),
                                   .n_groups = a.n_groups,
                                   .n_cols = cols(out()) / a.n_groups,
                                   .eps = a.eps};
    s.kernels->rows.l2_norm(args, begin, end);
  }
  void operator()(const LayerNormAttrs& a) const {
    const kernels::LayerNormArgs args{.x = s.f32(in(0)),
                                      .ld_x = s.ld(in(0)),
                                      .y = s.f32(out()),
                                      .ld_y = s.ld(out()),
                                      .weight = weight(0),
                                      .bias = weight(1),
                                      .n_cols = cols(out()),
                                      .eps = a.eps};
    s.kernels->rows.layer_norm(args, begin, end);
  }
  void operator()(const AddRmsNormAttrs& a) const {
    const kernels::AddRmsNormArgs args{.a = s.f32(in(0)),
                                       .ld_a = s.ld(in(0)),
                                       .b = s.f32(in(1)),
                                       .ld_b = s.ld(in(1)),
                                       .b_scale = a.b_scale,
                                       .sum = s.f32(out(0)),
                                       .ld_sum = s.ld(out(0)),
                                       .y = s.f32(out(1)),
                                       .ld_y = s.ld(out(1)),
                                       .weight = weight(0),
                                       .n_cols = cols(out(0)),
                                       .eps = a.eps};
    s.kernels->rows.add_rms_norm(args, begin, end);
  }
  void operator()(const AddAttrs& a) const {
    const kernels::AddArgs args{.a = s.f32(in(0)),
                                .ld_a = s.ld(in(0)),
                                .b = s.f32(in(1)),
                                .ld_b = s.ld(in(1)),
                                .y = s.f32(out()),
                                .ld_y = s.ld(out()),
                                .n_cols = cols(out()),
                                .b_scale = a.b_scale};
    s.kernels->rows.add(args, begin, end);
  }
  void operator()(const AddBiasAttrs&) const {
    const kernels::AddBiasArgs args{.x = s.f32(in(0)),
                                    .ld_x = s.ld(in(0)),
                                    .bias = weight(0),
                                    .y = s.f32(out()),
                                    .ld_y = s.ld(out()),
                                    .n_cols = cols(out())};
    s.kernels->rows.add_bias(args, begin, end);
  }
  void operator()(const ScaleAttrs& a) const {
    const kernels::ScaleArgs args{.x = s.f32(in(0)),
                                  .ld_x = s.ld(in(0)),
                                  .y = s.f32(out()),
                                  .ld_y = s.ld(out()),
                                  .n_cols = cols(out()),
                                  .scale = a.scale};
    s.kernels->rows.scale(args, begin, end);
  }
  void operator()(const SoftcapAttrs& a) const {
    const kernels::SoftcapArgs args{.x = s.f32(in(0)),
                                    .ld_x = s.ld(in(0)),
                                    .y = s.f32(out()),
                                    .ld_y = s.ld(out()),
                                    .n_cols = cols(out()),
                                    .cap = a.cap};
    s.kernels->rows.softcap(args, begin, end);
  }
  void operator()(const ActivationAttrs& a) const {
    const kernels::ActivationArgs args{.x = s.f32(in(0)),
                                       .ld_x = s.ld(in(0)),
                                       .y = s.f32(out()),
                                       .ld_y = s.ld(out()),
                                       .n_cols = cols(out()),
                                       .activation = a.activation};
    s.kernels->rows.activation(args, begin, end);
  }
  void operator()(const GatedActivationAttrs& a) const {
    const kernels::GatedActivationArgs args{.gate = s.f32(in(0)),
                                            .ld_gate = s.ld(in(0)),
                                            .up = s.f32(in(1)),
                                            .ld_up = s.ld(in(1)),
                                            .y = s.f32(out()),
                                            .ld_y = s.ld(out()),
                                            .n_cols = cols(out()),
                                            .activation = a.activation};
    s.kernels->rows.gated_activation(args, begin, end);
  }
  void operator()(const ClampedSwigluAttrs& a) const {
    const kernels::ClampedSwigluArgs args{.gate = s.f32(in(0)),
                                          .ld_gate = s.ld(in(0)),
                                          .up = s.f32(in(1)),
                                          .ld_up = s.ld(in(1)),
                                          .y = s.f32(out()),
                                          .ld_y = s.ld(out()),
                                          .n_cols = cols(out()),
                                          .limit = a.limit,
                                          .alpha = a.alpha,
                                          .up_offset = a.up_offset};
    s.kernels->rows.clamped_swiglu(args, begin, end);
  }
  void operator()(const GateRowsAttrs&) const {
    const kernels::GateRowsArgs args{.x = s.f32(in(0)),
                                     .ld_x = s.ld(in(0)),
                                     .gate = s.f32(in(1)),
                                     .ld_gate = s.ld(in(1)),
                                     .y = s.f32(out()),
                                     .ld_y = s.ld(out()),
                                     .n_cols = cols(out())};
    s.kernels->rows.gate_rows(args, begin, end);
  }
  void operator()(const RouteAttrs& a) const {
    const kernels::RouteArgs args{.logits = s.f32(in(0)),
                                  .ld_logits = s.ld(in(0)),
                                  .selection_bias = weight(0),
                                  .ids = reinterpret_cast<int32_t*>(s.bytes(out(0))),
                                  .weights = s.f32(out(1)),
                                  .n_expert = cols(in(0)),
                                  .n_used = a.n_used,
                                  .n_groups = a.n_groups,
                                  .n_groups_used = a.n_groups_used,
                                  .gating = a.gating,
                                  .normalise = a.normalise,
                                  .scale = a.scale};
    s.kernels->rows.route(args, begin, end);
  }
  void operator()(const GatherPairsAttrs&) const { run_gather_pairs(s, op, begin, end); }
  void operator()(const QuantizePairsAttrs&) const { run_quantize_pairs(s, op, begin, end); }
  void operator()(const CombineAttrs&) const { run_combine(s, op, begin, end); }
  void operator()(const RopeTableAttrs& a) const {
    const RopeSpec& spec = s.program->ropes[static_cast<size_t>(a.spec)];
    const kernels::RopeTableArgs args{.positions = s.step->positions,
                                      .inv_freq = spec.inv_freq.data(),
                                      .magnitude = spec.magnitude,
                                      .table = s.f32(out()),
                                      .n_pairs = static_cast<int64_t>(spec.inv_freq.size())};
    s.kernels->rows.rope_table(args, begin, end);
  }
  void operator()(const RopeAttrs& a) const {
    const kernels::RopeArgs args{.x = s.f32(in(0)),
                                 .ld_x = s.ld(in(0)),
                                 .y = s.f32(out()),
                                 .ld_y = s.ld(out()),
                                 .table = s.f32(in(1)),
                                 .n_heads = a.n_heads,
                                 .d_head = a.d_head,
                                 .n_pairs = cols(in(1)) / 2,
                                 .pairs = a.pairs};
    s.kernels->rows.rope(args, begin, end);
  }
  void operator()(const SliceHeadsAttrs& a) const {
    copy_heads({in(0), cols(in(0)) / a.n_heads, a.first}, {out(), cols(out()) / a.n_heads, 0}, a.n_heads,
               cols(out()) / a.n_heads);
  }
  void operator()(const JoinHeadsAttrs& a) const {
    const int64_t d_a = cols(in(0)) / a.n_heads, d_b = cols(in(1)) / a.n_heads;
    copy_heads({in(0), d_a, 0}, {out(), d_a + d_b, 0}, a.n_heads, d_a);
    copy_heads({in(1), d_b, 0}, {out(), d_a + d_b, d_a}, a.n_heads, d_b);
  }
  void operator()(const QuantizeAttrs&) const {
    const ValueInfo& info = s.program->info(out());
    const int64_t n_heads = info.n_used > 0 ? info.n_used : 1;
    const int64_t k = memory_cols(info), m = s.n_rows(info.rows);
    for (int64_t head = 0; head < n_heads; ++head) {
      const kernels::QuantizeArgs args{
          .planes =
              planes(info.type) == 2 ? kernels::ActivationPlanes::kTwo : kernels::ActivationPlanes::kOne,
          .x = s.f32(in(0)) + head * k,
          .ld_x = s.ld(in(0)),
          .out =
              s.bytes(out()) + pair_tiles_offset(static_cast<size_t>(head), head * m * planes(info.type), k),
          .m = m,
          .k = k};
      s.kernels->linear.quantize(args, begin, end);
    }
  }
  void operator()(const StoreKvAttrs& a) const {
    const KvBinding& binding = s.kv[static_cast<size_t>(a.kv_layer)];
    const bool latent = binding.layout.form == KvForm::kLatent;
    const kernels::StoreKvArgs args{.layout = binding.layout,
                                    .pages = binding.pages,
                                    .page_stride = binding.page_stride,
                                    .k = s.f32(in(0)),
                                    .ld_k = s.ld(in(0)),
                                    .v = latent ? nullptr : s.f32(in(1)),
                                    .ld_v = latent ? 0 : s.ld(in(1)),
                                    .slots = s.step->kv[static_cast<size_t>(binding.table)].slots};
    kernels::attention_kernels(*s.kernels, binding.layout.form).store_kv(args, begin, end);
  }
  void operator()(const SumPlanesAttrs&) const {
    const float* first = s.f32(in(0));
    const float* second = first + s.n_rows(s.program->info(out()).rows) * s.ld(in(0));
    const kernels::AddArgs args{.a = first,
                                .ld_a = s.ld(in(0)),
                                .b = second,
                                .ld_b = s.ld(in(0)),
                                .y = s.f32(out()),
                                .ld_y = s.ld(out()),
                                .n_cols = cols(out()),
                                .b_scale = 1};
    s.kernels->rows.add(args, begin, end);
  }
  // These divide their work otherwise and never reach a row phase.
  void operator()(const LinearAttrs&) const { QUIRE_CHECK(false); }
  void operator()(const AttentionAttrs&) const { QUIRE_CHECK(false); }
  void operator()(const SelectOutputsAttrs&) const { QUIRE_CHECK(false); }
  void operator()(const SortPairsAttrs&) const { QUIRE_CHECK(false); }
  void operator()(const ExpertLinearAttrs&) const { QUIRE_CHECK(false); }
  void operator()(const CausalConvAttrs&) const { QUIRE_CHECK(false); }
  void operator()(const ScanAttrs&) const { QUIRE_CHECK(false); }
  void operator()(const ChannelScanAttrs&) const { QUIRE_CHECK(false); }
  void operator()(const DeltaAttrs&) const { QUIRE_CHECK(false); }
};

}  // namespace

RowSteps::RowSteps(const Program& program, const Phase& phase)
    : ops_(std::span(program.ops)
               .subspan(static_cast<size_t>(phase.first_op),
                        static_cast<size_t>(phase.end_op - phase.first_op))),
      rows_(phase.rows) {
  for (const Op& op : ops_) {
    for (Value value : op.outputs) width_ += program.info(value).cols;
    if (op.outputs.empty()) width_ += program.info(op.inputs[0]).cols;
    quantizes_ = quantizes_ || std::holds_alternative<QuantizeAttrs>(op.attrs) ||
                 std::holds_alternative<QuantizePairsAttrs>(op.attrs);
  }
}

void RowSteps::run(const StepContext& context) const {
  const int64_t rows = context.n_rows(rows_);
  const auto run_all = [&](int64_t begin, int64_t end) {
    for (const Op& op : ops_) std::visit(RowOpRunner{context, op, begin, end}, op.attrs);
  };
  if (rows == 1 || rows * width_ < kInlineWork || context.n_threads == 1) {
    run_all(0, rows);
    return;
  }
  if (quantizes_) {
    // Rows of one tile of activations share cache lines, for which threads would fight.
    const int64_t n = std::max(kernels::activation_tiles(rows), std::min<int64_t>(rows, context.n_threads));
    context.pool->run(n, [&](int64_t t, int) { run_all(rows * t / n, rows * (t + 1) / n); });
    return;
  }
  // A few rows at a time stay in the nearest cache through all ops; enough tiles to balance.
  const int64_t tile = std::max<int64_t>(1, std::min<int64_t>(16, rows / (int64_t{4} * context.n_threads)));
  context.pool->run((rows + tile - 1) / tile,
                    [&](int64_t t, int) { run_all(t * tile, std::min(rows, (t + 1) * tile)); });
}

}  // namespace quire::graph
