#include "graph/cpu/head_step.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace quire::graph {
namespace {

constexpr TopLogit kNoLogit{.value = -std::numeric_limits<float>::infinity(), .id = -1};

// Whether `a` comes before `b`, in whatever order tiles finish. NaN comes before nothing.
bool precedes(const TopLogit& a, const TopLogit& b) {
  return a.value > b.value || (a.value == b.value && a.id < b.id);
}

// Columns [begin, end) of all rows.
void run_columns(const StepContext& context, const Op& op, int64_t begin, int64_t end) {
  const Value x = op.inputs[0], y = op.outputs[0];
  const int64_t rows = context.n_rows(Rows::kOutputs);
  if (const auto* scale = std::get_if<ScaleAttrs>(&op.attrs)) {
    const kernels::ScaleArgs args{.x = context.f32(x) + begin,
                                  .ld_x = context.ld(x),
                                  .y = context.f32(y) + begin,
                                  .ld_y = context.ld(y),
                                  .n_cols = end - begin,
                                  .scale = scale->scale};
    return context.kernels->rows.scale(args, 0, rows);
  }
  if (std::holds_alternative<SumPlanesAttrs>(op.attrs)) {
    const float* first = context.f32(x) + begin;
    const kernels::AddArgs args{.a = first,
                                .ld_a = context.ld(x),
                                .b = first + rows * context.ld(x),
                                .ld_b = context.ld(x),
                                .y = context.f32(y) + begin,
                                .ld_y = context.ld(y),
                                .n_cols = end - begin,
                                .b_scale = 1};
    return context.kernels->rows.add(args, 0, rows);
  }
  const kernels::SoftcapArgs args{.x = context.f32(x) + begin,
                                  .ld_x = context.ld(x),
                                  .y = context.f32(y) + begin,
                                  .ld_y = context.ld(y),
                                  .n_cols = end - begin,
                                  .cap = std::get<SoftcapAttrs>(op.attrs).cap};
  context.kernels->rows.softcap(args, 0, rows);
}

// Takes columns [begin, end) into account for the thread's largest logits.
void find_top(const StepContext& context, int64_t begin, int64_t end, int thread) {
  const Value logits = context.program->logits;
  const int64_t rows = context.n_rows(Rows::kOutputs);
  int32_t* ids = context.head->ids_of(thread);
  TopLogit* tops = context.head->tops_of(thread);
  const float* first = context.f32(logits) + begin;
  const kernels::ArgmaxArgs args{.x = first, .ld_x = context.ld(logits), .ids = ids, .n_cols = end - begin};
  context.kernels->rows.argmax(args, 0, rows);
  for (int64_t row = 0; row < rows; ++row) {
    const TopLogit found{.value = first[row * context.ld(logits) + ids[row]],
                         .id = static_cast<int32_t>(begin) + ids[row]};
    if (found.value > kNoLogit.value && precedes(found, tops[row])) tops[row] = found;
  }
}

}  // namespace

HeadStep::HeadStep(const Program& program, const Phase& phase, const kernels::KernelTable& kernels)
    : linear_(program, program.ops[static_cast<size_t>(phase.first_op)], kernels),
      tail_(std::span(program.ops)
                .subspan(static_cast<size_t>(phase.first_op) + 1,
                         static_cast<size_t>(phase.end_op - phase.first_op) - 1)) {}

void HeadStep::run(const StepContext& context) const {
  HeadBuffers& head = *context.head;
  const int64_t rows = context.n_rows(Rows::kOutputs);
  const int64_t candidates = context.step->argmax_columns;
  QUIRE_CHECK(candidates <= context.program->info(context.program->logits).cols);
  if (candidates > 0) std::fill(head.tops.begin(), head.tops.end(), kNoLogit);
  linear_.run(context, [&](int64_t begin, int64_t end, int thread) {
    for (const Op& op : tail_) run_columns(context, op, begin, end);
    if (begin < candidates) find_top(context, begin, std::min(end, candidates), thread);
  });
  if (candidates == 0) return;
  TopLogit* first = head.tops_of(0);
  for (int thread = 1; thread < context.n_threads; ++thread) {
    const TopLogit* tops = head.tops_of(thread);
    for (int64_t row = 0; row < rows; ++row) {
      if (precedes(tops[row], first[row])) first[row] = tops[row];
    }
  }
}

}  // namespace quire::graph
