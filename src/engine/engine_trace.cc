#include "engine/engine_trace.h"

#include "engine/bench_profile.h"

namespace quire {
namespace {

constexpr const char* kEngine = "engine";
constexpr const char* kRequest = "request";

EngineClock::duration ticks(double seconds) {
  return std::chrono::duration_cast<EngineClock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

EngineTrace::EngineTrace(TraceFile& file, const graph::Program& program)
    : file_(file),
      program_(program),
      step_(file.add_kind({"step", kEngine, {"streams", "prompt_tokens", "running", "queued"}})),
      request_(file.add_kind(
          {"request", kRequest, {"prompt_tokens", "cached_tokens", "answer_tokens", "preemptions"}})),
      queued_(file.add_kind({"queued", kRequest, {}})),
      prompt_(file.add_kind({"prompt", kRequest, {}})),
      answer_(file.add_kind({"answer", kRequest, {}})),
      phases_(program.ops.size(), -1) {}

void EngineTrace::on_step(const StepEvent& step) {
  file_.record({.kind = step_,
                .begin = step.begin,
                .end = step.end,
                .arguments = {step.stream_rows, step.prompt_tokens, step.running, step.queued}});
}

void EngineTrace::on_phase(const graph::Phase& phase, std::chrono::nanoseconds elapsed) {
  const EngineClock::time_point end = EngineClock::now();
  int32_t& kind = phases_[static_cast<size_t>(phase.first_op)];
  if (kind < 0) {
    const PhaseName name = phase_name(program_, phase);
    kind = file_.add_kind({.name = name.label.empty() ? name.ops : name.label, .category = name.ops});
  }
  file_.record({.kind = kind, .begin = end - elapsed, .end = end});
}

// A request's stages lie inside it.
void EngineTrace::on_request_ended(const RequestEvent& request) {
  const Usage& usage = request.usage;
  file_.record(
      {.kind = request_,
       .id = request.number,
       .begin = request.arrived,
       .end = request.ended,
       .arguments = {usage.prompt_tokens, usage.reused_tokens, usage.answer_tokens, usage.preemptions}});
  const EngineClock::time_point admitted = request.arrived + ticks(usage.queued_seconds);
  file_.record({.kind = queued_, .id = request.number, .begin = request.arrived, .end = admitted});
  if (usage.answer_tokens == 0) return;
  const EngineClock::time_point first = request.arrived + ticks(usage.first_token_seconds);
  file_.record({.kind = prompt_, .id = request.number, .begin = admitted, .end = first});
  const EngineClock::time_point last = request.arrived + ticks(usage.total_seconds);
  file_.record({.kind = answer_, .id = request.number, .begin = first, .end = last});
}

}  // namespace quire
