// Engine::submit(): what a request is asked before it waits. On the caller's thread.
#include <algorithm>
#include <new>

#include "engine/engine_job.h"

namespace quire {

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

Status Engine::Inbox::enter(int32_t tenant, const EngineOptions& options) {
  const std::lock_guard lock(mutex);
  const auto t = static_cast<size_t>(tenant);
  const int32_t n_waiting = n_queued_total + n_entering_total, of_tenant = n_queued[t] + n_entering[t];
  if (closed) return make_error(ErrorCode::kCancelled, "the engine is shutting down");
  if (n_waiting >= options.max_queued) {
    return make_error(ErrorCode::kResourceExhausted,
                      "{} requests are waiting, as many as the queue holds; try again later", n_waiting);
  }
  if (of_tenant >= options.max_queued_per_tenant) {
    return make_error(ErrorCode::kResourceExhausted,
                      "{} requests of this tenant are waiting, as many as it may have; try again later",
                      of_tenant);
  }
  ++n_entering[t];
  ++n_entering_total;
  return {};
}

void Engine::Inbox::leave(int32_t tenant) {
  {
    const std::lock_guard lock(mutex);
    --n_entering[static_cast<size_t>(tenant)];
    --n_entering_total;
  }
  rung.notify_one();  // who waits for the last one may go
}

void Engine::Inbox::arrive(std::shared_ptr<Job> job) {
  {
    const std::lock_guard lock(mutex);
    arrivals.push_back(std::move(job));
  }
  rung.notify_one();
}

// Its size is the asker's choice, so it is counted before it is allocated.
Result<std::shared_ptr<Engine::Job>> Engine::make_job(Request&& request, int64_t max_answer) {
  const int64_t max_unread =
      options_.max_unread == 0 ? max_answer : std::min(max_answer, options_.max_unread);
  const Job::Sizes sizes{.max_answer = max_answer, .max_unread = max_unread, .n_hidden = model().n_hidden()};
  QUIRE_ASSIGN_OR_RETURN(AnswerMemory::Share share, answer_memory_->take(Job::bytes(request, sizes)));
  std::shared_ptr<Job> job;
  try {
    job = std::make_shared<Job>(std::move(request), sizes, std::move(share));
  } catch (const std::bad_alloc&) {
    return make_error(ErrorCode::kResourceExhausted, "no memory for an answer of {} tokens", max_answer);
  }
  job->tenant = job->request.tenant;
  job->weight = job->request.tenant_weight;
  job->priority = job->request.priority;
  job->scope = job->request.scope;
  if (reads_all_rows(job->request.reading)) job->rows = RowUse::kAll;
  job->claim.arrived = now();
  if (job->request.deadline) job->deadline = job->claim.arrived + *job->request.deadline;
  if (job->request.settings.min_tokens > 0) job->not_to_end = without_ends(job->request.settings);
  return job;
}

Result<AnswerHandle> Engine::submit(Request request) {
  QUIRE_RETURN_IF_ERROR(check(request));
  const int64_t limit = answer_limit(request);
  if (limit == 0 && request.reading == PromptReading::kNone) {  // nothing is asked for
    QUIRE_ASSIGN_OR_RETURN(std::shared_ptr<Job> job, make_job(std::move(request), limit));
    job->stream.end({.reason = FinishReason::kLength, .usage = {.prompt_tokens = job->n_prompt}});
    return AnswerHandle(std::move(job), inbox_);
  }
  const int32_t tenant = request.tenant;
  QUIRE_RETURN_IF_ERROR(inbox_->enter(tenant, options_));
  const Result<std::shared_ptr<Job>> job = make_job(std::move(request), limit);
  if (!job.ok()) {
    inbox_->leave(tenant);
    return job.error();
  }
  inbox_->arrive(*job);
  return AnswerHandle(*job, inbox_);
}

}  // namespace quire
