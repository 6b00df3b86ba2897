// AnswerStream: the tokens of one answer on their way from the engine's thread to a reader, and its outcome.
//
// A ring, allocated at construction, of as many tokens as the reader may be behind: the engine, which pauses
// a request before that is too small, never waits for a reader and never allocates. Tokens handed out stay
// where they are until the reader asks for more, and count as unread until then. One writer (the engine's
// thread), one reader at a time; wait-free for the writer. The one source of both streamed and collected
// answers.
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
  // room: tokens that may be unread. n_top: likeliest tokens beside each. on_change may be empty; it is
  // called by push() and end().
  AnswerStream(int64_t room, int32_t n_top, std::function<void()> on_change)
      : tokens_(static_cast<size_t>(room)),
        top_(static_cast<size_t>(room * n_top)),
        n_top_(static_cast<size_t>(n_top)),
        on_change_(std::move(on_change)) {}
  // That such a stream allocates.
  static size_t bytes(int64_t room, int32_t n_top) {
    return static_cast<size_t>(room) *
           (sizeof(SampledToken) + static_cast<size_t>(n_top) * sizeof(TokenLogprob));
  }

  // --- Reader ---
  // Lets go of the tokens that were handed out.
  void release() { n_read_.store(n_taken_); }
  // release(), and tokens that were not handed out before, not always all of them; waits for at least one, or
  // the end, which is an empty span.
  std::span<const SampledToken> next();
  // The same without waiting: an empty span says nothing about the end.
  std::span<const SampledToken> take();
  // The likeliest tokens at the place of `token`, which is one of those handed out last: [n_top].
  std::span<const TokenLogprob> top(const SampledToken& token) const {
    return std::span(top_).subspan(static_cast<size_t>(&token - tokens_.data()) * n_top_, n_top_);
  }
  bool ended() const { return ended_.load(); }
  const Outcome& outcome() const { return outcome_; }  // once ended()

  // --- Engine ---
  // Where the likeliest tokens of the next push() go: [n_top].
  std::span<TokenLogprob> next_top() {
    return std::span(top_).subspan(place(n_written_.load()) * n_top_, n_top_);
  }
  // There must be room.
  void push(const SampledToken& token);
  void end(Outcome outcome);
  int64_t n_unread() const { return n_written_.load() - n_read_.load(); }

 private:
  size_t place(int64_t i) const { return static_cast<size_t>(i) % tokens_.size(); }
  void changed();

  std::vector<SampledToken> tokens_;  // [room]; those in [n_read_, n_written_) do not change
  std::vector<TokenLogprob> top_;     // [room, n_top]
  size_t n_top_;
  std::function<void()> on_change_;
  std::atomic<int64_t> n_written_{0};
  std::atomic<int64_t> n_read_{0};
  int64_t n_taken_ = 0;  // handed out; the reader's
  std::atomic<bool> ended_{false};
  Outcome outcome_;  // written before ended_
  EventCount events_;
};

}  // namespace quire
