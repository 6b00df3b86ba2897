// AnswerHandle: the reader's side of a request (engine.h).
#include "engine/engine_job.h"

namespace quire {

AnswerHandle& AnswerHandle::operator=(AnswerHandle&& other) {
  if (this != &other) {
    cancel();
    job_ = std::move(other.job_);
    inbox_ = std::move(other.inbox_);
  }
  return *this;
}

AnswerHandle::~AnswerHandle() { cancel(); }

// Before it waits: what the engine has paused goes on when the reader has let go of enough.
std::span<const SampledToken> AnswerHandle::next() {
  job_->stream.release();
  wake_if_paused();
  return job_->stream.next();
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
