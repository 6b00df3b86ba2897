#include "graph/cpu_executor.h"

#include <algorithm>
#include <chrono>
#include <variant>

#include "base/check.h"
#include "graph/cpu/attention_step.h"
#include "graph/cpu/expert_steps.h"
#include "graph/cpu/gated_step.h"
#include "graph/cpu/head_step.h"
#include "graph/cpu/linear_step.h"
#include "graph/cpu/recurrent_step.h"
#include "graph/cpu/row_steps.h"
#include "graph/cpu/step_context.h"

namespace quire::graph {
namespace {

// Copies the rows whose logits are wanted.
class GatherStep {
 public:
  explicit GatherStep(const Op& op) : op_(&op) {}
  void run(const StepContext& context) const {
    const Value x = op_->inputs[0];
    const Value y = op_->outputs[0];
    const kernels::CopyRowsArgs args{.x = context.f32(x),
                                     .ld_x = context.ld(x),
                                     .index = context.step->output_rows.data(),
                                     .y = context.f32(y),
                                     .ld_y = context.ld(y),
                                     .n_cols = context.program->info(y).cols};
    context.kernels->rows.copy_rows(args, 0, context.n_rows(Rows::kOutputs));
  }

 private:
  const Op* op_;
};

// The last linear layer: every program ends with the vocabulary's.
size_t head_phase(const std::vector<Phase>& phases) {
  for (size_t i = phases.size(); i-- > 0;) {
    if (phases[i].kind == PhaseKind::kHead || phases[i].kind == PhaseKind::kLinear) return i;
  }
  return phases.size();
}

using PhaseStep = std::variant<RowSteps, LinearStep, AttentionStep, GatherStep, SortPairsStep,
                               ExpertLinearStep, HeadStep, GatedStep, RecurrentStep>;

}  // namespace

struct CpuExecutor::State {
  StepLimits limits;
  std::vector<KvBinding> kv;
  std::vector<StateBinding> states;
  std::vector<Phase> phases;
  std::vector<PhaseStep> steps;  // by phase
  size_t head_phase = 0;         // the vocabulary's layer; only what follows from it comes later
  ArenaPlan plan;
  MemoryRegion arena;
  MemoryRegion scratch;
  AttentionBuffers attention;
  HeadBuffers head;
  bool has_argmax = false;  // of the last step
  StepContext context;
  Profiler* profiler = nullptr;
};

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
  QUIRE_CHECK(config.states.size() == config.program->state_layers.size());
  const Program& program = *config.program;
  auto state = std::make_unique<State>();
  state->limits = config.limits;
  state->kv.assign(config.kv.begin(), config.kv.end());
  state->states.assign(config.states.begin(), config.states.end());
  state->phases = make_phases(program, config.row_phases);
  if (config.head_tiles == HeadTiles::kOn) merge_head(program, state->phases);
  if (config.gated_tiles == GatedTiles::kOn) merge_gated(program, state->phases);
  state->head_phase = head_phase(state->phases);
  state->plan = plan_arena(program, state->phases, config.limits);
  QUIRE_ASSIGN_OR_RETURN(state->arena, MemoryRegion::allocate(state->plan.bytes, config.allocation));
  state->arena.fault_in(0, state->arena.size());

  size_t scratch_stride = 0;
  bool attends = false;
  for (const Phase& phase : state->phases) {
    const Op& op = program.ops[static_cast<size_t>(phase.first_op)];
    switch (phase.kind) {
      case PhaseKind::kRows:
        state->steps.emplace_back(RowSteps(program, phase));
        break;
      case PhaseKind::kLinear:
        state->steps.emplace_back(LinearStep(program, op, *config.kernels));
        break;
      case PhaseKind::kAttention: {
        const auto layer = static_cast<size_t>(std::get<AttentionAttrs>(op.attrs).kv_layer);
        const AttentionStep step(op, config.kv[layer], *config.kernels);
        scratch_stride = std::max(scratch_stride, step.scratch_bytes());
        attends = true;
        state->steps.emplace_back(step);
        break;
      }
      case PhaseKind::kGather:
        state->steps.emplace_back(GatherStep(op));
        break;
      case PhaseKind::kSortPairs:
        state->steps.emplace_back(SortPairsStep(op));
        break;
      case PhaseKind::kHead:
        state->steps.emplace_back(HeadStep(program, phase, *config.kernels));
        break;
      case PhaseKind::kGatedLinear: {
        const GatedStep step(program, phase, *config.kernels);
        scratch_stride = std::max(scratch_stride, step.scratch_bytes(config.limits));
        state->steps.emplace_back(step);
        break;
      }
      case PhaseKind::kExpertLinear:
        state->steps.emplace_back(ExpertLinearStep(program, op, *config.kernels));
        break;
      case PhaseKind::kRecurrent:
        state->steps.emplace_back(RecurrentStep(op));
        break;
    }
  }
  const size_t thread_scratch = scratch_stride * static_cast<size_t>(config.n_threads);
  const int64_t n_partials = config.attention_split == AttentionSplit::kOn && attends
                                 ? AttentionStep::partial_floats(config.n_threads)
                                 : 0;
  QUIRE_ASSIGN_OR_RETURN(
      state->scratch, MemoryRegion::allocate(thread_scratch + static_cast<size_t>(n_partials) * sizeof(float),
                                             config.allocation));
  state->scratch.fault_in(0, state->scratch.size());
  if (!dry && n_partials > 0) {
    state->attention.partials = reinterpret_cast<float*>(state->scratch.data() + thread_scratch);
    state->attention.n_partials = n_partials;
    state->attention.split.reserve(static_cast<size_t>(AttentionStep::max_split_units(config.n_threads)));
  }
  if (!dry) {
    const auto n = static_cast<size_t>(config.n_threads) * static_cast<size_t>(config.limits.max_outputs);
    state->head = {.tops = std::vector<TopLogit>(n),
                   .ids = std::vector<int32_t>(n),
                   .max_rows = static_cast<size_t>(config.limits.max_outputs)};
  }
  if (!dry) state->attention.tiles.reserve(static_cast<size_t>(config.limits.max_tokens));
  state->context = {.program = config.program,
                    .weights = config.weights,
                    .kernels = config.kernels,
                    .pool = config.pool,
                    .n_threads = config.n_threads,
                    .kv = state->kv,
                    .states = state->states,
                    .arena = state->arena.data(),
                    .offsets = state->plan.offsets.data(),
                    .scratch = state->scratch.data(),
                    .scratch_stride = scratch_stride,
                    .attention = &state->attention,
                    .head = &state->head};
  return CpuExecutor(std::move(state));
}

void CpuExecutor::set_profiler(Profiler* profiler) { state_->profiler = profiler; }

void CpuExecutor::run(const StepInput& step) {
  State& s = *state_;
  QUIRE_CHECK(s.context.weights != nullptr);
  QUIRE_CHECK(static_cast<int64_t>(step.tokens.size()) <= s.limits.max_tokens);
  QUIRE_CHECK(static_cast<int64_t>(step.output_rows.size()) <= s.limits.max_outputs);
  if (step.tokens.empty()) return;
  s.context.step = &step;
  QUIRE_CHECK(step.head == Head::kRun || s.context.program->state.valid());
  const size_t n_phases = step.head == Head::kRun ? s.phases.size() : s.head_phase;
  s.has_argmax = step.argmax_columns > 0 && !step.output_rows.empty() && n_phases == s.phases.size() &&
                 s.phases.back().kind == PhaseKind::kHead;
  for (size_t i = 0; i < n_phases; ++i) {
    if (s.phases[i].rows == Rows::kOutputs && step.output_rows.empty()) continue;
    const auto run_phase = [&] { std::visit([&](const auto& part) { part.run(s.context); }, s.steps[i]); };
    if (s.profiler == nullptr) {
      run_phase();
      continue;
    }
    const auto start = std::chrono::steady_clock::now();
    run_phase();
    s.profiler->on_phase(s.phases[i], std::chrono::steady_clock::now() - start);
  }
  s.context.step = nullptr;
}

std::span<const float> CpuExecutor::logits_row(int64_t i) const {
  return tap_row(state_->context.program->logits, i);
}

std::optional<int32_t> CpuExecutor::argmax(int64_t i) const {
  if (!state_->has_argmax) return std::nullopt;
  return state_->head.tops[static_cast<size_t>(i)].id;
}

std::span<const float> CpuExecutor::tap_row(Value tap, int64_t i) const {
  const StepContext& context = state_->context;
  const Program& program = *context.program;
  QUIRE_CHECK(program.info(program.root(tap)).tap);
  return {context.f32(tap) + i * context.ld(tap), static_cast<size_t>(program.info(tap).cols)};
}

size_t CpuExecutor::arena_bytes() const { return state_->plan.bytes - state_->plan.tap_bytes; }
size_t CpuExecutor::tap_bytes() const { return state_->plan.tap_bytes; }
size_t CpuExecutor::scratch_bytes() const { return state_->scratch.size(); }
int64_t CpuExecutor::n_split_attentions() const { return state_->attention.n_split; }
int64_t CpuExecutor::n_phases() const { return static_cast<int64_t>(state_->phases.size()); }

}  // namespace quire::graph
