#include "graph/cpu/pair_rows.h"

#include <algorithm>
#include <cstring>

#include "graph/cpu/expert_steps.h"

namespace quire::graph {
namespace {

// Calls run(args, row_begin, row_end) for the stretch of each expert in sorted rows [begin, end): args for
// all rows of the expert, with x still to be set, and rows of it.
template <typename Run>
void for_each_stretch(const StepContext& context, Value out, const ExpertOrder& order, int64_t begin,
                      int64_t end, Run run) {
  const ValueInfo& info = context.program->info(out);
  const int64_t cols = memory_cols(info);
  for (size_t i = order.group_of(begin); begin < end; ++i) {
    const ExpertGroup& group = order.groups[i];
    const int64_t stop = std::min<int64_t>(end, group.begin + group.n_rows);
    const kernels::QuantizeArgs args{
        .planes = planes(info.type) == 2 ? kernels::ActivationPlanes::kTwo : kernels::ActivationPlanes::kOne,
        .x = nullptr,
        .ld_x = 0,
        .out = context.bytes(out) + pair_tiles_offset(i, group.begin * planes(info.type), cols),
        .m = group.n_rows,
        .k = cols};
    run(args, group, begin, stop);
    begin = stop;
  }
}

}  // namespace

void run_gather_pairs(const StepContext& context, const Op& op, int64_t begin, int64_t end) {
  const Value x = op.inputs[0], out = op.outputs[0];
  const ValueInfo& info = context.program->info(out);
  const ExpertOrder order = order_of(context, op.inputs[1]);
  begin *= info.n_used;
  end *= info.n_used;
  if (!is_quantized(info.type)) {
    const kernels::CopyRowsArgs args{.x = context.f32(x),
                                     .ld_x = context.ld(x),
                                     .index = order.source,
                                     .y = context.f32(out),
                                     .ld_y = memory_cols(info),
                                     .n_cols = memory_cols(info)};
    context.kernels->rows.copy_rows(args, begin, end);
    return;
  }
  if (context.n_rows(info.rows) == 1) end = 1;  // a tile of one row is the same for every expert
  const auto quantize = [&](kernels::QuantizeArgs args, const ExpertGroup& group, int64_t from, int64_t to) {
    for (int64_t row = from; row < to; ++row) {
      args.x = context.f32(x) + order.source[row] * context.ld(x);  // for any row of args: its ld_x is 0
      context.kernels->linear.quantize(args, row - group.begin, row - group.begin + 1);
    }
  };
  for_each_stretch(context, out, order, begin, end, quantize);
  if (context.n_rows(info.rows) > 1) return;
  const int64_t n_planes = planes(info.type);
  const size_t bytes =
      kernels::activation_bytes(kernels::ActivationKind::kQ8x32, n_planes, memory_cols(info));
  for (size_t i = 1; i < order.groups.size(); ++i) {
    const size_t offset = pair_tiles_offset(i, static_cast<int64_t>(i) * n_planes, memory_cols(info));
    std::memcpy(context.bytes(out) + offset, context.bytes(out), bytes);
  }
}

void run_quantize_pairs(const StepContext& context, const Op& op, int64_t begin, int64_t end) {
  const Value x = op.inputs[0], out = op.outputs[0];
  const ValueInfo& info = context.program->info(out);
  const auto quantize = [&](kernels::QuantizeArgs args, const ExpertGroup& group, int64_t from, int64_t to) {
    args.x = context.f32(x) + group.begin * args.k;
    args.ld_x = args.k;
    context.kernels->linear.quantize(args, from - group.begin, to - group.begin);
  };
  for_each_stretch(context, out, order_of(context, op.inputs[1]), begin * info.n_used, end * info.n_used,
                   quantize);
}

void run_combine(const StepContext& context, const Op& op, int64_t begin, int64_t end) {
  const Value y = op.inputs[0], out = op.outputs[0];
  const ValueInfo& info = context.program->info(y);
  const kernels::CombineArgs args{.y = context.f32(y),
                                  .ld_y = memory_cols(info),
                                  .rows = order_of(context, op.inputs[1]).sorted,
                                  .weights = context.f32(op.inputs[2]),
                                  .n_used = info.n_used,
                                  .out = context.f32(out),
                                  .ld_out = context.ld(out),
                                  .n_cols = context.program->info(out).cols};
  context.kernels->rows.combine(args, begin, end);
}

}  // namespace quire::graph
