// Engine: a planned step, and what becomes of its rows. On the engine's thread.
#include <algorithm>
#include <limits>

#include "engine/engine_job.h"

namespace quire {

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
    const bool only_state = !job.answers && reads_state(job.read.reading());
    items_.push_back({.sequence = job.sequence,
                      .tokens = table_->tokens(rows),
                      .logits = logits,
                      .output = only_state ? RowOutput::kState : RowOutput::kLogits});
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

}  // namespace quire
