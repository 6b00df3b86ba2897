#include "graph/cpu_executor.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"

namespace quire::graph {

using kernels::AttentionTile;
using kernels::KernelTable;

// Steps below this much work (values touched) run on the calling thread: waking others would cost more.
constexpr int64_t kInlineWork = 16 << 10;

struct CpuExecutor::State {
  struct RowOpRunner;

  const Program* program = nullptr;
  const WeightStore* weights = nullptr;
  const KernelTable* kernels = nullptr;
  ThreadPool* pool = nullptr;
  int n_threads = 1;
  std::vector<KvBinding> kv;
  StepLimits limits;
  std::vector<Phase> phases;
  ArenaPlan plan;
  MemoryRegion arena;
  MemoryRegion scratch;
  size_t scratch_stride = 0;         // bytes per thread
  std::vector<AttentionTile> tiles;  // reused by every attention; capacity reserved for the largest step

  Profiler* profiler = nullptr;

  // The step being run.
  const StepInput* step = nullptr;

  int64_t n_rows(Rows rows) const {
    return static_cast<int64_t>(rows == Rows::kTokens ? step->tokens.size() : step->output_rows.size());
  }
  std::byte* bytes(Value value) const { return arena.data() + plan.offsets[static_cast<size_t>(value.id)]; }
  float* f32(Value value) const {
    return reinterpret_cast<float*>(bytes(value)) + program->info(value).offset;
  }
  int64_t ld(Value value) const { return program->info(program->root(value)).cols; }
  const float* vector(WeightId id) const { return id.valid() ? weights->vector(id) : nullptr; }

  void run_phase(const Phase& phase);
  void run_rows(const Phase& phase);
  void run_linear(const Op& op);
  void run_attention(const Op& op);
  void run_gather(const Op& op);
  void run_row_op(const Op& op, int64_t begin, int64_t end) const;
};

// Runs one row op on rows [begin, end): one overload per kind.
struct CpuExecutor::State::RowOpRunner {
  const State& s;
  const Op& op;
  int64_t begin, end;

  Value in(size_t i) const { return op.inputs[i]; }
  Value out(size_t i = 0) const { return op.outputs[i]; }
  int64_t cols(Value value) const { return s.program->info(value).cols; }
  const float* weight(size_t i) const { return i < op.weights.size() ? s.vector(op.weights[i]) : nullptr; }

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
    const kernels::RmsNormArgs args{.x = s.f32(in(0)),
                                    .ld_x = s.ld(in(0)),
                                    .y = s.f32(out()),
                                    .ld_y = s.ld(out()),
                                    .weight = weight(0),
                                    .n_groups = a.n_groups,
                                    .n_cols = cols(out()) / a.n_groups,
                                    .eps = a.eps};
    s.kernels->rows.rms_norm(args, begin, end);
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
  void operator()(const QuantizeAttrs&) const {
    const ValueInfo& info = s.program->info(out());
    const kernels::QuantizeArgs args{
        .planes = planes(info.type) == 2 ? kernels::ActivationPlanes::kTwo : kernels::ActivationPlanes::kOne,
        .x = s.f32(in(0)),
        .ld_x = s.ld(in(0)),
        .out = s.bytes(out()),
        .m = s.n_rows(info.rows),
        .k = info.cols};
    s.kernels->linear.quantize(args, begin, end);
  }
  void operator()(const StoreKvAttrs& a) const {
    const KvBinding& binding = s.kv[static_cast<size_t>(a.kv_layer)];
    const kernels::StoreKvArgs args{.layout = binding.layout,
                                    .pages = binding.pages,
                                    .page_stride = binding.page_stride,
                                    .k = s.f32(in(0)),
                                    .ld_k = s.ld(in(0)),
                                    .v = s.f32(in(1)),
                                    .ld_v = s.ld(in(1)),
                                    .slots = s.step->kv[static_cast<size_t>(binding.table)].slots};
    s.kernels->attention.store_kv(args, begin, end);
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
};

void CpuExecutor::State::run_row_op(const Op& op, int64_t begin, int64_t end) const {
  std::visit(RowOpRunner{*this, op, begin, end}, op.attrs);
}

void CpuExecutor::State::run_rows(const Phase& phase) {
  const int64_t rows = n_rows(phase.rows);
  int64_t width = 0;
  for (int32_t i = phase.first_op; i < phase.end_op; ++i) {
    const Op& op = program->ops[static_cast<size_t>(i)];
    for (Value value : op.outputs) width += program->info(value).cols;
    if (op.outputs.empty()) width += program->info(op.inputs[0]).cols;
  }
  const auto run_all = [&](int64_t begin, int64_t end) {
    for (int32_t i = phase.first_op; i < phase.end_op; ++i)
      run_row_op(program->ops[static_cast<size_t>(i)], begin, end);
  };
  if (rows == 1 || rows * width < kInlineWork || n_threads == 1) {
    run_all(0, rows);
    return;
  }
  // A few rows at a time stay in the nearest cache through all ops; enough tiles to balance.
  const int64_t tile = std::max<int64_t>(1, std::min<int64_t>(16, rows / (int64_t{4} * n_threads)));
  pool->run((rows + tile - 1) / tile,
            [&](int64_t t, int) { run_all(t * tile, std::min(rows, (t + 1) * tile)); });
}

void CpuExecutor::State::run_linear(const Op& op) {
  struct Segment {
    kernels::LinearArgs args;
    const kernels::LinearKernel* kernel;
    int64_t groups, groups_per_tile, first_tile;
  };
  // q|k|v, gate|up and the like: a handful of matrices share one division of work.
  QUIRE_CHECK(op.weights.size() <= kMaxLinears);
  Segment segments[kMaxLinears];
  const ValueInfo& first_output = program->info(op.outputs[0]);
  const int64_t m = n_rows(first_output.rows) * planes(first_output.type);
  if (m == 0) return;
  int64_t n_tiles = 0;
  for (size_t i = 0; i < op.weights.size(); ++i) {
    const WeightDecl& decl = program->weights[static_cast<size_t>(op.weights[i].id)];
    const ValueInfo& input = program->info(op.inputs[i]);
    Segment& segment = segments[i];
    segment.args = {.weights = weights->packed(op.weights[i]),
                    .n = decl.view.n_rows(),
                    .k = decl.view.n_cols(),
                    .activations = bytes(op.inputs[i]),
                    .ld_activations = ld(op.inputs[i]),
                    .m = m,
                    .out = f32(op.outputs[i]),
                    .ld_out = ld(op.outputs[i])};
    if (input.type == DataType::kF32)
      segment.args.activations = reinterpret_cast<const std::byte*>(f32(op.inputs[i]));
    segment.kernel = &kernels::linear_kernel(*kernels, *decl.format);
    segment.groups = kernels::n_groups(segment.args.n);
    segment.groups_per_tile =
        kernels::groups_per_tile(*decl.format, segment.args.n, segment.args.k, m, n_threads);
    segment.first_tile = n_tiles;
    n_tiles += (segment.groups + segment.groups_per_tile - 1) / segment.groups_per_tile;
  }
  pool->run(n_tiles, [&](int64_t tile, int) {
    size_t i = op.weights.size() - 1;
    while (tile < segments[i].first_tile) --i;
    const Segment& segment = segments[i];
    const int64_t begin = (tile - segment.first_tile) * segment.groups_per_tile;
    segment.kernel->run(segment.args, begin, std::min(segment.groups, begin + segment.groups_per_tile));
  });
}

void CpuExecutor::State::run_attention(const Op& op) {
  const auto& attrs = std::get<AttentionAttrs>(op.attrs);
  const KvBinding& binding = kv[static_cast<size_t>(attrs.kv_layer)];
  const KvTables& tables = step->kv[static_cast<size_t>(binding.table)];
  const Value q = op.inputs[0];
  const Value out = op.outputs[0];
  const kernels::AttentionArgs args{.layout = binding.layout,
                                    .pages = binding.pages,
                                    .page_stride = binding.page_stride,
                                    .q = f32(q),
                                    .ld_q = ld(q),
                                    .out = f32(out),
                                    .ld_out = ld(out),
                                    .n_head = attrs.n_head,
                                    .scale = attrs.scale,
                                    .softcap = attrs.softcap,
                                    .window = attrs.window,
                                    .sinks = op.weights.empty() ? nullptr : vector(op.weights[0]),
                                    .spans = tables.spans.data(),
                                    .n_spans = static_cast<int32_t>(tables.spans.size()),
                                    .positions = step->positions};
  const int32_t group = attrs.n_head / binding.layout.n_head_kv;
  const int32_t tile_rows = kernels->attention.tile_rows(group, binding.layout.d_k, binding.layout.d_v);
  tiles.clear();
  for (int32_t span = 0; span < args.n_spans; ++span) {
    // Later rows see more keys: they go first, so that the last tiles handed out are short ones.
    for (int32_t end = args.spans[span].row_end; end > args.spans[span].row_begin; end -= tile_rows) {
      const int32_t begin = std::max(args.spans[span].row_begin, end - tile_rows);
      tiles.push_back({.span = span, .row_begin = begin, .row_end = end});
    }
  }
  const auto n_tiles = static_cast<int64_t>(tiles.size()) * binding.layout.n_head_kv;
  pool->run(n_tiles, [&](int64_t t, int thread) {
    AttentionTile tile = tiles[static_cast<size_t>(t / binding.layout.n_head_kv)];
    tile.head_kv = static_cast<int32_t>(t % binding.layout.n_head_kv);
    kernels->attention.attend(args, tile, scratch.data() + static_cast<size_t>(thread) * scratch_stride);
  });
}

void CpuExecutor::State::run_gather(const Op& op) {
  const Value x = op.inputs[0];
  const Value y = op.outputs[0];
  const kernels::CopyRowsArgs args{.x = f32(x),
                                   .ld_x = ld(x),
                                   .index = step->output_rows.data(),
                                   .y = f32(y),
                                   .ld_y = ld(y),
                                   .n_cols = program->info(y).cols};
  kernels->rows.copy_rows(args, 0, n_rows(Rows::kOutputs));
}

CpuExecutor::CpuExecutor(std::unique_ptr<State> state) : state_(std::move(state)) {}
CpuExecutor::CpuExecutor(CpuExecutor&&) noexcept = default;
CpuExecutor& CpuExecutor::operator=(CpuExecutor&&) noexcept = default;
CpuExecutor::~CpuExecutor() = default;

Result<CpuExecutor> CpuExecutor::create(const ExecutorConfig& config) {
  QUIRE_CHECK(config.program != nullptr && config.kernels != nullptr);
  const bool dry = config.allocation == Allocation::kDry;
  QUIRE_CHECK(dry || (config.weights != nullptr && config.pool != nullptr &&
                      config.pool->size() == config.n_threads));
  QUIRE_CHECK(config.kv.size() == config.program->kv_layers.size());
  auto state = std::make_unique<State>();
  state->program = config.program;
  state->weights = config.weights;
  state->kernels = config.kernels;
  state->pool = config.pool;
  state->n_threads = config.n_threads;
  state->kv.assign(config.kv.begin(), config.kv.end());
  state->limits = config.limits;
  state->phases = make_phases(*config.program, config.row_phases);
  state->plan = plan_arena(*config.program, state->phases, config.limits);
  QUIRE_ASSIGN_OR_RETURN(state->arena, MemoryRegion::allocate(state->plan.bytes, config.allocation));
  state->arena.fault_in(0, state->arena.size());

  for (const Op& op : config.program->ops) {
    const auto* attrs = std::get_if<AttentionAttrs>(&op.attrs);
    if (attrs == nullptr) continue;
    const kernels::KvLayout& layout = config.kv[static_cast<size_t>(attrs->kv_layer)].layout;
    const size_t bytes =
        config.kernels->attention.scratch_bytes(attrs->n_head / layout.n_head_kv, layout.d_k, layout.d_v);
    state->scratch_stride = std::max(state->scratch_stride, (bytes + 63) / 64 * 64);
  }
  QUIRE_ASSIGN_OR_RETURN(state->scratch,
                         MemoryRegion::allocate(state->scratch_stride * static_cast<size_t>(config.n_threads),
                                                config.allocation));
  state->scratch.fault_in(0, state->scratch.size());
  if (!dry) state->tiles.reserve(static_cast<size_t>(config.limits.max_tokens));
  return CpuExecutor(std::move(state));
}

void CpuExecutor::State::run_phase(const Phase& phase) {
  const Op& first = program->ops[static_cast<size_t>(phase.first_op)];
  switch (phase.kind) {
    case PhaseKind::kRows:
      run_rows(phase);
      break;
    case PhaseKind::kLinear:
      run_linear(first);
      break;
    case PhaseKind::kAttention:
      run_attention(first);
      break;
    case PhaseKind::kGather:
      run_gather(first);
      break;
  }
}

void CpuExecutor::set_profiler(Profiler* profiler) { state_->profiler = profiler; }

void CpuExecutor::run(const StepInput& step) {
  State& s = *state_;
  QUIRE_CHECK(s.weights != nullptr);
  QUIRE_CHECK(static_cast<int64_t>(step.tokens.size()) <= s.limits.max_tokens);
  QUIRE_CHECK(static_cast<int64_t>(step.output_rows.size()) <= s.limits.max_outputs);
  if (step.tokens.empty()) return;
  s.step = &step;
  for (const Phase& phase : s.phases) {
    if (phase.rows == Rows::kOutputs && step.output_rows.empty()) continue;
    if (s.profiler == nullptr) {
      s.run_phase(phase);
      continue;
    }
    const auto start = std::chrono::steady_clock::now();
    s.run_phase(phase);
    s.profiler->on_phase(phase, std::chrono::steady_clock::now() - start);
  }
  s.step = nullptr;
}

std::span<const float> CpuExecutor::logits_row(int64_t i) const {
  return tap_row(state_->program->logits, i);
}

std::span<const float> CpuExecutor::tap_row(Value tap, int64_t i) const {
  const State& s = *state_;
  QUIRE_CHECK(s.program->info(s.program->root(tap)).tap);
  return {s.f32(tap) + i * s.ld(tap), static_cast<size_t>(s.program->info(tap).cols)};
}

size_t CpuExecutor::arena_bytes() const { return state_->plan.bytes - state_->plan.tap_bytes; }
size_t CpuExecutor::tap_bytes() const { return state_->plan.tap_bytes; }
size_t CpuExecutor::scratch_bytes() const { return state_->scratch.size(); }
int64_t CpuExecutor::n_phases() const { return static_cast<int64_t>(state_->phases.size()); }

}  // namespace quire::graph
