#include "server/answer/answer_task.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/utf8.h"

namespace quire::server {

AnswerTask::AnswerTask(const Context& context, AnswerPlan plan, std::shared_ptr<Reply> reply,
                       std::unique_ptr<AnswerWriter> writer, std::function<void(const AnswerRecord&)> on_end)
    : context_(context),
      plan_(std::move(plan)),
      reply_(std::move(reply)),
      writer_(std::move(writer)),
      on_end_(std::move(on_end)) {}

void AnswerTask::cut() {
  cut_ = true;
  context_.pool.schedule(shared_from_this());
}

void AnswerTask::run() {
  if (closed_) return;
  if (!std::exchange(submitted_, true)) {
    self_ = shared_from_this();
    if (const std::optional<ApiError> error = submit()) {
      writer_->fail(*error);
      return close(AnswerRecord::End::kRefused);
    }
    reply_->watch([weak = weak_from_this(), &pool = context_.pool] {
      if (auto self = weak.lock()) pool.schedule(std::move(self));
    });
  }
  if (reply_->gone()) {
    writer_->fail({.kind = ApiErrorKind::kServer, .message = "the client has gone"});
    return close(AnswerRecord::End::kGone);
  }
  if (cut_) {
    writer_->fail({.kind = ApiErrorKind::kUnavailable, .message = "the server is shutting down"});
    return close(AnswerRecord::End::kFailed);
  }
  pump();
}

std::optional<ApiError> AnswerTask::submit() {
  choices_.reserve(plan_.choices.size());
  for (AnswerPlan::Choice& choice : plan_.choices) {
    choice.request.on_change = [weak = weak_from_this(), &pool = context_.pool] {
      if (auto self = weak.lock()) pool.schedule(std::move(self));
    };
    std::vector<int32_t> echoed;
    if (plan_.echo == Echo::kPrompt) echoed = choice.request.prompt;
    Result<AnswerHandle> handle = context_.engine.submit(std::move(choice.request));
    if (!handle.ok()) return from_error(handle.error());
    choices_.emplace_back(choice.prompt, context_.tokenizer, plan_.reader, std::move(*handle));
    choices_.back().echoed = std::move(echoed);
  }
  return {};
}

AnswerTask::Progress AnswerTask::pump() {
  for (size_t i = 0; i < choices_.size(); ++i) {
    if (!reply_->has_room()) return Progress::kWaiting;  // comes back when they are taken
    if (choices_[i].ended) continue;
    if (const std::optional<ApiError> error = advance(i)) {
      writer_->fail(*error);
      close(AnswerRecord::End::kFailed);
      return Progress::kEnded;
    }
  }
  if (!std::ranges::all_of(choices_, &Choice::ended)) return Progress::kWaiting;
  writer_->finish(accounting());
  close(AnswerRecord::End::kDone);
  return Progress::kEnded;
}

std::optional<ApiError> AnswerTask::advance(size_t index) {
  Choice& choice = choices_[index];
  const bool ended = choice.handle.ended();  // before the last tokens are taken
  std::span<const SampledToken> tokens = choice.handle.take();
  if (!tokens.empty()) note_gap(choice);
  if (!tokens.empty() || (ended && !choice.handle.outcome().error)) write_prompt(index);
  for (; !tokens.empty(); tokens = choice.handle.take()) {
    for (const SampledToken& token : tokens) {
      if (choice.text_ended) break;
      choice.reader.push(
          {.id = token.id, .logprob = token.logprob, .top = details_of(choice.handle.top(token))}, deltas_);
      write(index, deltas_);
      if (!choice.reader.ended()) continue;
      end_choice(index, EndReason::kStop);
      choice.handle.cancel();
    }
  }
  if (!ended) return {};
  choice.ended = true;
  if (choice.text_ended) return {};
  const Outcome& outcome = choice.handle.outcome();
  if (outcome.error) return from_error(*outcome.error);
  if (outcome.reason == FinishReason::kDeadline) {
    return ApiError{.kind = ApiErrorKind::kUnavailable,
                    .message = "the answer did not end within the time that this server gives to one"};
  }
  if (outcome.reason == FinishReason::kCancelled)
    return ApiError{.kind = ApiErrorKind::kUnavailable, .message = "the server is shutting down"};
  choice.reader.finish(deltas_);
  const PromptRecord& prompt = choice.handle.prompt();
  if (reads_state(prompt.reading()))
    deltas_.push_back({.kind = DeltaKind::kState, .state = {prompt.state().begin(), prompt.state().end()}});
  write(index, deltas_);
  end_choice(index, outcome.reason == FinishReason::kStop || choice.reader.stopped_by() ? EndReason::kStop
                                                                                        : EndReason::kLength);
  return {};
}

void AnswerTask::note_gap(Choice& choice) {
  const auto now = std::chrono::steady_clock::now();
  if (choice.last_token)
    context_.metrics.observe_gap(std::chrono::duration<double>(now - *choice.last_token).count());
  choice.last_token = now;
}

std::vector<TokenDetail> AnswerTask::details_of(std::span<const TokenLogprob> top) const {
  std::vector<TokenDetail> details;
  for (const TokenLogprob& entry : top) {
    if (entry.id < 0) break;
    details.push_back({.id = entry.id,
                       .bytes = std::string(context_.tokenizer.piece(entry.id, RenderSpecial::kShow)),
                       .logprob = entry.logprob});
  }
  return details;
}

// Before the first delta of its answer: the prompt as it stands, control tokens too.
void AnswerTask::write_prompt(size_t index) {
  Choice& choice = choices_[index];
  const std::vector<int32_t> ids = std::exchange(choice.echoed, {});
  if (ids.empty()) return;
  const Result<std::string> text =
      context_.tokenizer.decode(ids, {.special = RenderSpecial::kShow, .leading_space = LeadingSpace::kKeep});
  QUIRE_CHECK(text.ok());  // the engine has taken them
  Delta delta{.text = replace_invalid_utf8(*text)};
  const PromptRecord& read = choice.handle.prompt();
  for (size_t i = 0; i < read.logprobs().size(); ++i) {
    delta.tokens.push_back({.id = ids[i],
                            .bytes = std::string(context_.tokenizer.piece(ids[i], RenderSpecial::kShow)),
                            .logprob = read.logprobs()[i],
                            .top = details_of(read.top(i))});
  }
  writer_->delta(index, std::move(delta));
}

void AnswerTask::write(size_t index, std::vector<Delta>& deltas) {
  for (Delta& delta : deltas) writer_->delta(index, std::move(delta));
  deltas.clear();
}

void AnswerTask::end_choice(size_t index, EndReason reason) {
  Choice& choice = choices_[index];
  choice.text_ended = true;
  if (reason == EndReason::kStop && choice.reader.called_tools()) reason = EndReason::kToolCalls;
  writer_->choice_end(index, {.reason = reason, .stop_string = choice.reader.stopped_by().value_or("")});
}

Accounting AnswerTask::accounting() const {
  Accounting all;
  size_t n_prompts = 0;
  for (const Choice& choice : choices_) {
    all.completion_tokens += choice.reader.n_tokens();
    all.reasoning_tokens += choice.reader.n_thinking();
    if (!choice.handle.ended()) continue;
    const Usage& usage = choice.handle.outcome().usage;
    if (choice.prompt == n_prompts) {  // the first choice that answers it
      ++n_prompts;
      all.prompt_tokens += usage.prompt_tokens;
      all.cached_tokens += usage.reused_tokens;
    }
    all.total_seconds = std::max(all.total_seconds, usage.total_seconds);
  }
  if (!choices_.empty() && choices_[0].handle.ended()) {
    const Usage& usage = choices_[0].handle.outcome().usage;
    const double first_token =
        usage.first_token_seconds > 0 ? usage.first_token_seconds : usage.total_seconds;
    all.queued_seconds = usage.queued_seconds;
    all.prompt_seconds = first_token - usage.queued_seconds;
    all.answer_seconds = usage.total_seconds - first_token;
  }
  return all;
}

void AnswerTask::close(AnswerRecord::End end) {
  closed_ = true;
  reply_->watch(nullptr);
  AnswerRecord record{.end = end, .accounting = accounting()};
  for (const Choice& choice : choices_) {
    if (choice.handle.ended()) record.reasons.push_back(choice.handle.outcome().reason);
  }
  choices_.clear();  // cancels what has not ended
  on_end_(record);
  self_.reset();  // the worker holds on until run() has returned
}

}  // namespace quire::server
