#include "engine/engine.h"

#include <pthread.h>

#include <algorithm>
#include <system_error>

#include "base/check.h"
#include "base/numerics_environment.h"
#include "engine/engine_job.h"
#include "measure/copy_speed.h"

namespace quire {
namespace {

// How often deadlines are looked at.
constexpr std::chrono::milliseconds kDeadlineLook{20};

Status check_options(const EngineOptions& options, const EngineSettings& settings, int64_t n_vocab) {
  const auto at_least = [](const char* name, int64_t value, int64_t low) -> Status {
    if (value >= low) return {};
    return make_error(ErrorCode::kInvalidArgument, "{} is {}, expected at least {}", name, value, low);
  };
  QUIRE_RETURN_IF_ERROR(at_least("the length of the queue", options.max_queued, 1));
  QUIRE_RETURN_IF_ERROR(at_least("a tenant's part of the queue", options.max_queued_per_tenant, 1));
  QUIRE_RETURN_IF_ERROR(at_least("the number of tenants", options.n_tenants, 1));
  QUIRE_RETURN_IF_ERROR(at_least("the longest gap between tokens", options.max_token_gap.count(), 0));
  QUIRE_RETURN_IF_ERROR(at_least("the reserve for answers", options.decode_reserve, 1));
  QUIRE_RETURN_IF_ERROR(at_least("the number of unread tokens", options.max_unread, 0));
  QUIRE_RETURN_IF_ERROR(at_least("the number of tokens in a batch, with this many sequences,",
                                 settings.max_batch_tokens, settings.max_sequences));
  if (settings.max_outputs != 0) {
    QUIRE_RETURN_IF_ERROR(at_least("the number of logit rows, with this many sequences,",
                                   settings.max_outputs, settings.max_sequences));
  }
  if (options.n_vocab < 0 || options.n_vocab > n_vocab) {
    return make_error(ErrorCode::kInvalidArgument, "{} ids may be sampled, the model knows {}",
                      options.n_vocab, n_vocab);
  }
  return {};
}

}  // namespace

Engine::Engine(std::unique_ptr<Runner> runner, const EngineOptions& options)
    : runner_(std::move(runner)),
      options_(options),
      inbox_(std::make_shared<Inbox>()),
      answer_memory_(std::make_shared<AnswerMemory>(runner_->settings().answer_bytes)) {
  const EngineSettings& settings = runner_->settings();
  SequenceMemory& memory = runner_->memory_module();
  const int64_t ctx = model().ctx();
  max_length_ = RequestTable::longest_sequence(memory, ctx);
  n_vocab_ = options.n_vocab > 0 ? options.n_vocab : static_cast<int32_t>(model().n_vocab());
  table_.emplace(memory, RequestTableConfig{
                             .limits = {.max_batch_tokens =
                                            std::min(settings.max_batch_tokens, ctx * settings.max_sequences),
                                        .max_prompt_rows = settings.prompt_rows,
                                        .max_token_gap = options.max_token_gap,
                                        .ageing = options.ageing},
                             .max_sequences = settings.max_sequences,
                             .max_queued = options.max_queued,
                             .n_tenants = options.n_tenants,
                             .decode_reserve = options.decode_reserve,
                             .preemption = options.preemption,
                             .copy_bytes_per_second = memory.spill_bytes() > 0 ? measure_copy_speed() : 0});

  // Everything a step touches is sized here.
  const auto n_slots = static_cast<size_t>(settings.max_sequences);
  const auto n_waiting = static_cast<size_t>(options.max_queued);
  jobs_.reserve(n_slots + n_waiting);
  arrived_.reserve(n_waiting);
  items_.reserve(n_slots);
  sampled_slots_.reserve(n_slots);
  sampled_rows_.reserve(n_slots);
  first_rows_.reserve(n_slots);
  prompt_rows_.reserve(n_slots + static_cast<size_t>(settings.prompt_rows));
  samples_.resize(n_slots, SampledToken{});
  inbox_->arrivals.reserve(n_waiting);
  inbox_->n_queued.resize(static_cast<size_t>(options.n_tenants));
  inbox_->n_entering.resize(static_cast<size_t>(options.n_tenants));
}

Result<std::unique_ptr<Engine>> Engine::create(std::unique_ptr<Runner> runner, const EngineOptions& options) {
  QUIRE_RETURN_IF_ERROR(check_options(options, runner->settings(), runner->model().n_vocab()));
  std::unique_ptr<Engine> engine(new Engine(std::move(runner), options));
  try {
    engine->thread_ = std::thread([raw = engine.get()] { raw->work(); });
  } catch (const std::system_error&) {
    return make_error(ErrorCode::kResourceExhausted, "the operating system gives no thread for the engine");
  }
  ::pthread_setname_np(engine->thread_.native_handle(), "quire-engine");
  return engine;
}

Engine::~Engine() {
  {
    const std::lock_guard lock(inbox_->mutex);
    inbox_->closed = inbox_->abandoned = true;
  }
  inbox_->rung.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Engine::drain() {
  {
    const std::lock_guard lock(inbox_->mutex);
    inbox_->closed = true;
  }
  inbox_->rung.notify_one();
  if (thread_.joinable()) thread_.join();
}

// --- Any thread ---

EngineGauges Engine::gauges() const {
  const std::lock_guard lock(gauges_mutex_);
  EngineGauges gauges = gauges_;
  gauges.answer_bytes = answer_memory_->used();
  return gauges;
}

EngineTime Engine::now() const {
  return std::chrono::duration_cast<EngineTime>(std::chrono::steady_clock::now() - start_);
}

// --- The engine's thread ---

void Engine::work() {
  const NumericsScope numerics;
  while (receive()) {
    if (const BatchPlan* plan = run(schedule())) publish(*plan);
  }
}

// Takes in what has arrived; waits while there is nothing to do. False: there will be nothing any more.
bool Engine::receive() {
  note_gauges();
  bool look_around = false, finished = false;
  {
    std::unique_lock lock(inbox_->mutex);
    wait_for_work(lock);
    std::swap(arrived_, inbox_->arrivals);
    look_around = std::exchange(inbox_->look_around, false) || inbox_->abandoned;
  }
  for (const std::shared_ptr<Job>& job : arrived_) {
    table_->add(*job, job->claim.arrived);
    jobs_.push_back(job);
  }
  if (look_around || now() >= next_look_) end_cancelled_and_late();
  pause_and_resume();
  {
    const std::lock_guard lock(inbox_->mutex);
    std::ranges::copy(table_->n_queued_by_tenant(), inbox_->n_queued.begin());
    inbox_->n_queued_total = table_->n_queued();
    for (const std::shared_ptr<Job>& job : arrived_) --inbox_->n_entering[static_cast<size_t>(job->tenant)];
    inbox_->n_entering_total -= static_cast<int32_t>(arrived_.size());
    finished = inbox_->is_shut();
  }
  arrived_.clear();
  if (!finished || !table_->empty()) return true;
  note_gauges();
  return false;
}

void Engine::wait_for_work(std::unique_lock<std::mutex>& lock) {
  if (went_forward_) return;
  const auto called = [&] { return !inbox_->arrivals.empty() || inbox_->look_around || inbox_->abandoned; };
  if (table_->empty()) {
    inbox_->rung.wait(lock, [&] { return called() || inbox_->is_shut(); });
  } else {
    inbox_->rung.wait_for(lock, kDeadlineLook, called);
  }
}

void Engine::end_cancelled_and_late() {
  const EngineTime time = now();
  next_look_ = time + kDeadlineLook;
  bool abandoned = false;
  {
    const std::lock_guard lock(inbox_->mutex);
    abandoned = inbox_->abandoned;
  }
  for (size_t i = jobs_.size(); i-- > 0;) {  // end() puts the last one in its place
    Job& job = *jobs_[i];
    if (abandoned || job.cancelled.load()) {
      end(job, FinishReason::kCancelled);
    } else if (job.deadline <= time) {
      end(job, FinishReason::kDeadline);
    }
  }
}

// A stream whose reader is behind waits for it; nobody else does. One that had to give its place up comes
// back when it is worth it: with half of what it may be behind still to say.
void Engine::pause_and_resume() {
  if (options_.max_unread == 0) return;
  for (const std::shared_ptr<Job>& job : jobs_) {
    const bool running = job->slot >= 0;
    if (!running && !job->paused.load()) continue;
    const int64_t most = running ? options_.max_unread - 1 : options_.max_unread / 2;
    const auto behind = [&] { return job->stream.n_unread() > most; };
    // Looked at again after saying so: the reader rings if it reads on after that.
    job->paused.store(behind());
    if (job->paused.load() && !behind()) job->paused.store(false);
    table_->set_reader(*job, job->paused.load() ? Reader::kBehind : Reader::kKeepsUp);
  }
}

const BatchPlan& Engine::schedule() {
  table_->admit(now());
  const BatchPlan& plan = table_->plan(now());
  went_forward_ = !plan.rows.empty();
  return plan;
}

Engine::Job& Engine::job_at(int32_t slot) { return static_cast<Job&>(table_->at(slot)); }

// Pages are counted before a step is planned. Where the count was too low all the same, the youngest gives
// its own to the others, without anybody being let in between; who is alone and does not fit ends.
const BatchPlan* Engine::run(const BatchPlan& planned) {
  const BatchPlan* plan = &planned;
  while (!plan->rows.empty()) {
    const Status ran = step(*plan);
    if (ran.ok()) return plan;
    if (ran.error().code != ErrorCode::kResourceExhausted || !table_->make_room()) {
      for (const PlannedRows& rows : plan->rows) end(job_at(rows.slot), FinishReason::kFailed, ran.error());
      return nullptr;
    }
    plan = &table_->plan(now());
  }
  return nullptr;
}

void Engine::note_gauges() {
  page_map_board_->draw_if_asked(runner_->memory_module(), *table_);
  const std::lock_guard lock(gauges_mutex_);
  gauges_ = {.queued = table_->n_queued(),
             .running = table_->n_running(),
             .schedule = table_->counters(),
             .memory = runner_->memory_module().gauges(),
             .cost = table_->cost(),
             .argmax_rows = argmax_rows_};
}

void Engine::end(Job& job, FinishReason reason, std::optional<Error> error) {
  const auto seconds = [&](EngineTime time) {
    return std::chrono::duration<double>(time - job.claim.arrived).count();
  };
  Outcome outcome{.reason = reason, .error = std::move(error)};
  outcome.usage = {.prompt_tokens = job.n_prompt,
                   .reused_tokens = job.n_reused,
                   .answer_tokens = job.n_answer(),
                   .preemptions = job.n_preempted,
                   .queued_seconds = job.n_admitted > 0 ? seconds(job.first_admitted) : seconds(now()),
                   .first_token_seconds = job.n_answer() > 0 ? seconds(job.first_token) : 0.0,
                   .total_seconds = seconds(now())};
  tell_end(job, outcome);
  table_->remove(job);
  // Keeps it alive until its last word is said.
  const auto at = std::ranges::find(jobs_, &job, &std::shared_ptr<Job>::get);
  const std::shared_ptr<Job> last_word = std::move(*at);
  *at = std::move(jobs_.back());
  jobs_.pop_back();
  last_word->stream.end(std::move(outcome));
}

}  // namespace quire
