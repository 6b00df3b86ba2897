// AnswerStream: the tokens of one answer on their way from the engine's thread to a reader, and its outcome.
//
// Room for the whole answer is taken at construction, so that the engine never waits for a reader and never
// allocates; spans handed out stay valid as long as the stream. One writer (the engine's thread), one reader
// at a time; wait-free for the writer. The one source of both streamed and collected answers.
//
//   while (std::span<const SampledToken> tokens = stream.next(); !tokens.empty()) send(tokens);
//   stream.outcome()...
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/event_count.h"
#include "engine/request.h"
#include "sampling/sampler.h"
#include "sampling/top_logprobs.h"

namespace quire {

class AnswerStream {
 public:
  // n_top: likeliest tokens beside each. on_change may be empty; it is called by push() and end().
  AnswerStream(int64_t max_tokens, int32_t n_top, std::function<void()> on_change)
      : tokens_(static_cast<size_t>(max_tokens)),
        top_(static_cast<size_t>(max_tokens * n_top)),
        n_top_(static_cast<size_t>(n_top)),
        on_change_(std::move(on_change)) {}

  // --- Reader ---
  // Tokens that were not handed out before; waits for at least one, or the end, which is an empty span.
  std::span<const SampledToken> next();
  // The same without waiting: an empty span says nothing about the end.
  std::span<const SampledToken> take();
  // The likeliest tokens at the place of `token`, which is one of those handed out: [n_top].
  std::span<const TokenLogprob> top(const SampledToken& token) const {
    return std::span(top_).subspan(static_cast<size_t>(&token - tokens_.data()) * n_top_, n_top_);
  }
  bool ended() const { return ended_.load(); }
  const Outcome& outcome() const { return outcome_; }  // once ended()

  // --- Engine ---
  // Where the likeliest tokens of the next push() go: [n_top].
  std::span<TokenLogprob> next_top() {
    return std::span(top_).subspan(static_cast<size_t>(n_written_.load()) * n_top_, n_top_);
  }
  void push(const SampledToken& token);
  void end(Outcome outcome);
  int64_t n_unread() const { return n_written_.load() - n_read_.load(); }

 private:
  void changed();

  std::vector<SampledToken> tokens_;  // [0, n_written_) are written and no longer change
  std::vector<TokenLogprob> top_;     // [max_tokens, n_top]
  size_t n_top_;
  std::function<void()> on_change_;
  std::atomic<int64_t> n_written_{0};
  std::atomic<int64_t> n_read_{0};
  std::atomic<bool> ended_{false};
  Outcome outcome_;  // written before ended_
  EventCount events_;
};

}  // namespace quire
