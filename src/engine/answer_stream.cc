#include "engine/answer_stream.h"

#include <algorithm>

#include "base/check.h"

namespace quire {

std::span<const SampledToken> AnswerStream::take() {
  release();
  const auto n = static_cast<size_t>(n_written_.load() - n_taken_);
  if (n == 0) return {};
  const size_t begin = place(n_taken_), n_taken = std::min(n, tokens_.size() - begin);
  n_taken_ += static_cast<int64_t>(n_taken);
  return std::span(tokens_).subspan(begin, n_taken);
}

std::span<const SampledToken> AnswerStream::next() {
  release();
  // Readers wait for whole steps of a model: spinning would only take a core from it.
  events_.await([&] { return n_unread() > 0 || ended(); }, std::chrono::microseconds(0));
  return take();
}

void AnswerStream::push(const SampledToken& token) {
  const int64_t n = n_written_.load();
  QUIRE_CHECK(!ended() && n - n_read_.load() < static_cast<int64_t>(tokens_.size()));
  tokens_[place(n)] = token;
  n_written_.store(n + 1);
  changed();
}

void AnswerStream::end(Outcome outcome) {
  QUIRE_CHECK(!ended());
  outcome_ = std::move(outcome);
  ended_.store(true);
  changed();
}

void AnswerStream::changed() {
  events_.notify_all();
  if (on_change_) on_change_();
}

}  // namespace quire
