#include "engine/engine.h"

#include <pthread.h>

#include <algorithm>
#include <limits>

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
    : runner_(std::move(runner)), options_(options), inbox_(std::make_shared<Inbox>()) {
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
  inbox_->n_waiting.resize(static_cast<size_t>(options.n_tenants));
}

Result<std::unique_ptr<Engine>> Engine::create(std::unique_ptr<Runner> runner, const EngineOptions& options) {
  QUIRE_RETURN_IF_ERROR(check_options(options, runner->settings(), runner->model().n_vocab()));
  std::unique_ptr<Engine> engine(new Engine(std::move(runner), options));
  engine->thread_ = std::thread([raw = engine.get()] { raw->work(); });
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

Status Engine::check(const Request& request) const {
  if (request.prompt.empty()) return make_error(ErrorCode::kInvalidArgument, "the prompt has no tokens");
  for (const int32_t id : request.prompt) {
    if (id < 0 || id >= model().n_vocab()) {
      return make_error(ErrorCode::kInvalidArgument, "token id {} is outside the vocabulary of {}", id,
                        model().n_vocab());
    }
  }
  const auto n_prompt = static_cast<int64_t>(request.prompt.size());
  if (n_prompt >= max_length_) {
    return make_error(ErrorCode::kContextLength,
                      "the prompt has {} tokens, and with a token of answer at most {} fit", n_prompt,
                      max_length_);
  }
  if (request.settings.max_tokens < -1) {
    return make_error(ErrorCode::kInvalidArgument, "max_tokens is {}, must be at least 0, or -1 for no limit",
                      request.settings.max_tokens);
  }
  if (request.settings.min_tokens < 0) {
    return make_error(ErrorCode::kInvalidArgument, "min_tokens is {}, must be at least 0",
                      request.settings.min_tokens);
  }
  if (request.settings.top_logprobs < 0 || request.settings.top_logprobs > kMaxTopLogprobs) {
    return make_error(ErrorCode::kInvalidArgument, "top_logprobs is {}, must be between 0 and {}",
                      request.settings.top_logprobs, kMaxTopLogprobs);
  }
  if (request.reading != PromptReading::kNone && runner_->settings().prompt_rows == 0)
    return make_error(ErrorCode::kUnsupported,
                      "prompts cannot be read: no rows are planned for them (--prompt-rows)");
  if (request.tenant < 0 || request.tenant >= options_.n_tenants) {
    return make_error(ErrorCode::kInvalidArgument, "tenant {} is unknown, there are {}", request.tenant,
                      options_.n_tenants);
  }
  if (request.tenant_weight < 1 || request.tenant_weight > kMaxTenantWeight) {
    return make_error(ErrorCode::kInvalidArgument, "a tenant's weight is {}, must be between 1 and {}",
                      request.tenant_weight, kMaxTenantWeight);
  }
  return request.settings.sampling.validate(n_vocab_);
}

int64_t Engine::answer_limit(const Request& request) const {
  const int64_t room = max_length_ - static_cast<int64_t>(request.prompt.size());
  return request.settings.max_tokens < 0 ? room : std::min(room, request.settings.max_tokens);
}

SamplingSettings Engine::without_ends(const GenerationSettings& settings) const {
  SamplingSettings sampling = settings.sampling;
  const auto exclude = [&](const std::vector<int32_t>& ids) {
    for (const int32_t id : ids) {
      if (id >= 0 && id < n_vocab_) sampling.suppress.push_back(id);
    }
  };
  if (settings.end_tokens == EndTokens::kStop) exclude(options_.end_tokens);
  exclude(settings.stop_tokens);
  return sampling;
}

Result<AnswerHandle> Engine::submit(Request request) {
  QUIRE_RETURN_IF_ERROR(check(request));
  const int64_t limit = answer_limit(request);
  auto job = std::make_shared<Job>(std::move(request), limit, model().n_hidden());
  job->n_prompt = static_cast<int64_t>(job->request.prompt.size());
  job->max_tokens = job->n_prompt + std::max<int64_t>(limit, 1);
  job->tokens = std::move(job->request.prompt);
  job->tokens.reserve(static_cast<size_t>(job->max_tokens));
  job->tenant = job->request.tenant;
  job->weight = job->request.tenant_weight;
  job->priority = job->request.priority;
  job->scope = job->request.scope;
  if (reads_all_rows(job->request.reading)) job->rows = RowUse::kAll;
  job->claim.arrived = now();
  if (job->request.deadline) job->deadline = job->claim.arrived + *job->request.deadline;
  if (job->request.settings.min_tokens > 0) job->not_to_end = without_ends(job->request.settings);
  AnswerHandle handle(job, inbox_);
  if (limit == 0 && job->request.reading == PromptReading::kNone) {  // nothing is asked for
    job->stream.end({.reason = FinishReason::kLength, .usage = {.prompt_tokens = job->n_prompt}});
    return handle;
  }
  {
    const std::lock_guard lock(inbox_->mutex);
    int32_t& of_tenant = inbox_->n_waiting[static_cast<size_t>(job->tenant)];
    if (inbox_->closed) return make_error(ErrorCode::kCancelled, "the engine is shutting down");
    if (inbox_->n_waiting_total >= options_.max_queued) {
      return make_error(ErrorCode::kResourceExhausted,
                        "{} requests are waiting, as many as the queue holds; try again later",
                        inbox_->n_waiting_total);
    }
    if (of_tenant >= options_.max_queued_per_tenant) {
      return make_error(ErrorCode::kResourceExhausted,
                        "{} requests of this tenant are waiting, as many as it may have; try again later",
                        of_tenant);
    }
    ++inbox_->n_waiting_total;
    ++of_tenant;
    inbox_->arrivals.push_back(std::move(job));
  }
  inbox_->rung.notify_one();
  return handle;
}

EngineGauges Engine::gauges() const {
  const std::lock_guard lock(gauges_mutex_);
  return gauges_;
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
    finished = inbox_->closed;
  }
  for (std::shared_ptr<Job>& job : arrived_) {
    table_->add(*job, job->claim.arrived);
    jobs_.push_back(std::move(job));
  }
  arrived_.clear();
  if (look_around || now() >= next_look_) end_cancelled_and_late();
  pause_and_resume();
  {
    const std::lock_guard lock(inbox_->mutex);
    const std::span<const int32_t> queued = table_->n_queued_by_tenant();
    std::ranges::copy(queued, inbox_->n_waiting.begin());
    inbox_->n_waiting_total = table_->n_queued();
    for (const std::shared_ptr<Job>& job : inbox_->arrivals) {
      ++inbox_->n_waiting[static_cast<size_t>(job->tenant)];
      ++inbox_->n_waiting_total;
    }
    finished = finished && inbox_->arrivals.empty();
  }
  if (!finished || !table_->empty()) return true;
  note_gauges();
  return false;
}

void Engine::wait_for_work(std::unique_lock<std::mutex>& lock) {
  if (went_forward_) return;
  const auto rung = [&] { return !inbox_->arrivals.empty() || inbox_->look_around || inbox_->closed; };
  if (table_->empty()) {
    inbox_->rung.wait(lock, rung);
  } else {
    inbox_->rung.wait_for(lock, kDeadlineLook, rung);
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

// A stream whose reader is behind waits for it; nobody else does.
void Engine::pause_and_resume() {
  if (options_.max_unread == 0) return;
  for (const std::shared_ptr<Job>& job : jobs_) {
    if (job->slot < 0) continue;
    const auto behind = [&] { return job->stream.n_unread() >= options_.max_unread; };
    // Looked at again after saying so: the reader rings if it reads on after that.
    job->paused.store(behind());
    if (job->paused.load() && !behind()) job->paused.store(false);
    table_->set_use(job->slot, job->paused.load() ? SlotUse::kPaused : SlotUse::kRuns);
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

Status Engine::step(const BatchPlan& plan) {
  step_start_ = now();
  items_.clear();
  sampled_slots_.clear();
  sampled_rows_.clear();
  first_rows_.clear();
  bool any_greedy = false;
  int64_t n_rows = 0;
  for (const PlannedRows& rows : plan.rows) {
    const Job& job = job_at(rows.slot);
    const bool completes = table_->completes(rows);
    const bool reads = job.rows == RowUse::kAll && job.read.wants(table_->held(rows.slot), rows.n_tokens);
    const Logits logits = reads ? Logits::kAll : completes ? Logits::kLast : Logits::kNone;
    items_.push_back({.sequence = job.sequence, .tokens = table_->tokens(rows), .logits = logits});
    first_rows_.push_back(logits == Logits::kNone ? -1 : n_rows);
    n_rows += logits == Logits::kAll ? rows.n_tokens : logits == Logits::kLast ? 1 : 0;
    if (!completes || !job.answers) continue;
    sampled_slots_.push_back(rows.slot);
    sampled_rows_.push_back(n_rows - 1);
    any_greedy = any_greedy || job.sampling().is_plain_greedy();
  }
  return runner_->step(items_, any_greedy ? n_vocab_ : 0);
}

void Engine::publish(const BatchPlan& plan) {
  sample();
  read_prompts(plan);
  const EngineTime time = now();
  table_->advance(plan, time, std::chrono::duration<double>(time - step_start_).count());
  tell_step(plan, time);
  for (size_t row = 0; row < sampled_slots_.size(); ++row)
    deliver(job_at(sampled_slots_[row]), samples_[row]);
  end_readers(plan);
}

// Rows of prompts that somebody reads, each once; those of last states are the rows that complete the prompt.
void Engine::read_prompts(const BatchPlan& plan) {
  prompt_rows_.clear();
  for (size_t i = 0; i < plan.rows.size(); ++i) {
    const PlannedRows& rows = plan.rows[i];
    Job& job = job_at(rows.slot);
    const int64_t begin = table_->held(rows.slot), end = begin + rows.n_tokens;
    if (first_rows_[i] < 0 || !job.read.wants(begin, rows.n_tokens)) continue;
    const int64_t first = end - (job.rows == RowUse::kAll ? rows.n_tokens : 1);
    for (int64_t position = first; position < end; ++position) {
      if (!job.read.wants(position)) continue;
      const int64_t row = first_rows_[i] + position - first;
      if (reads_state(job.read.reading())) {
        job.read.take_state(position, runner_->state(row));
      } else {
        prompt_rows_.push_back({&job, position, row});
      }
    }
  }
  runner_->device().pool().run(static_cast<int64_t>(prompt_rows_.size()), [&](int64_t i, int) {
    const PromptRow& at = prompt_rows_[static_cast<size_t>(i)];
    const std::span<const int32_t> prompt =
        std::span(at.job->tokens).first(static_cast<size_t>(at.job->n_prompt));
    at.job->read.take_logits(at.position, prompt,
                             runner_->logits(at.row).first(static_cast<size_t>(n_vocab_)));
  });
  for (const PlannedRows& rows : plan.rows) {
    Job& job = job_at(rows.slot);
    if (job.read.done()) continue;
    job.read.taken(table_->held(rows.slot) + rows.n_tokens);
    if (job.read.done()) job.rows = RowUse::kLast;  // let in again, it is like any other
  }
}

// Those that only wanted their prompt read.
void Engine::end_readers(const BatchPlan& plan) {
  for (const PlannedRows& rows : plan.rows) {
    LiveRequest* const live = table_->at_or_null(rows.slot);
    if (live == nullptr) continue;
    Job& job = static_cast<Job&>(*live);
    if (!job.answers && job.read.done()) end(job, FinishReason::kLength);
  }
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

// A sample depends on its own row, settings and tokens only, so rows are shared out among the threads.
void Engine::sample() {
  if (options_.observer != nullptr) {
    for (size_t row = 0; row < sampled_slots_.size(); ++row) {
      const Job& job = job_at(sampled_slots_[row]);
      options_.observer->on_logits(job.request.tag, static_cast<int64_t>(job.tokens.size()) - 1,
                                   runner_->logits(sampled_rows_[row]));
    }
  }
  if (!sampled_slots_.empty() && runner_->argmax(sampled_rows_[0])) {
    argmax_rows_ += std::ranges::count_if(
        sampled_slots_, [&](int32_t slot) { return job_at(slot).sampling().is_plain_greedy(); });
  }
  runner_->device().pool().run(static_cast<int64_t>(sampled_slots_.size()), [&](int64_t index, int thread) {
    const auto i = static_cast<size_t>(index);
    const int64_t row = sampled_rows_[i];
    Job& job = job_at(sampled_slots_[i]);
    const GenerationSettings& settings = job.request.settings;
    const std::optional<int32_t> top = runner_->argmax(row);
    if (top.value_or(-1) >= 0 && job.sampling().is_plain_greedy() && settings.top_logprobs == 0) {
      samples_[i] = SampledToken{.id = *top, .logprob = std::numeric_limits<float>::quiet_NaN()};
      return;
    }
    const std::span<const float> logits = runner_->logits(row).first(static_cast<size_t>(n_vocab_));
    samples_[i] = runner_->sampler(thread).sample(
        logits, job.sampling(), job.tokens,
        {.seed = settings.seed, .choice = settings.choice, .position = job.tokens.size()});
    if (settings.top_logprobs > 0 && samples_[i].ok()) top_log_probabilities(logits, job.stream.next_top());
  });
}

bool Engine::ends_answer(const GenerationSettings& settings, int32_t id) const {
  const auto among = [id](const std::vector<int32_t>& ids) {
    return std::ranges::find(ids, id) != ids.end();
  };
  return (settings.end_tokens == EndTokens::kStop && among(options_.end_tokens)) ||
         among(settings.stop_tokens);
}

void Engine::deliver(Job& job, const Result<SampledToken>& sampled) {
  if (!sampled.ok()) return end(job, FinishReason::kFailed, sampled.error());
  const bool last = ends_answer(job.request.settings, sampled->id);
  // Who compares the probabilities of texts wants that of their end too.
  if (last && job.request.reading != PromptReading::kLogprobs) return end(job, FinishReason::kStop);
  if (job.n_answer() == 0) job.first_token = now();
  table_->push(job.slot, sampled->id);
  job.stream.push(*sampled);
  if (last) return end(job, FinishReason::kStop);
  if (static_cast<int64_t>(job.tokens.size()) == job.max_tokens) end(job, FinishReason::kLength);
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

// --- Handles ---

AnswerHandle& AnswerHandle::operator=(AnswerHandle&& other) {
  if (this != &other) {
    cancel();
    job_ = std::move(other.job_);
    inbox_ = std::move(other.inbox_);
  }
  return *this;
}

AnswerHandle::~AnswerHandle() { cancel(); }

std::span<const SampledToken> AnswerHandle::next() {
  const std::span<const SampledToken> tokens = job_->stream.next();
  wake_if_paused();
  return tokens;
}

std::span<const SampledToken> AnswerHandle::take() {
  const std::span<const SampledToken> tokens = job_->stream.take();
  wake_if_paused();
  return tokens;
}

void AnswerHandle::wake_if_paused() {
  if (job_->paused.load()) inbox_->ring();
}

std::span<const TokenLogprob> AnswerHandle::top(const SampledToken& token) const {
  return job_->stream.top(token);
}

const PromptRecord& AnswerHandle::prompt() const { return job_->read; }
bool AnswerHandle::ended() const { return job_->stream.ended(); }
const Outcome& AnswerHandle::outcome() const { return job_->stream.outcome(); }

void AnswerHandle::cancel() {
  if (job_ == nullptr || ended() || job_->cancelled.exchange(true)) return;
  inbox_->ring();
}

}  // namespace quire
