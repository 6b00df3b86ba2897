#include "engine/answer_stream.h"

#include "base/check.h"

namespace quire {

std::span<const SampledToken> AnswerStream::take() {
  const int64_t begin = n_read_.load(), end = n_written_.load();
  n_read_.store(end);
  return std::span(tokens_).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
}

std::span<const SampledToken> AnswerStream::next() {
  // Readers wait for whole steps of a model: spinning would only take a core from it.
  events_.await([&] { return n_unread() > 0 || ended(); }, std::chrono::microseconds(0));
  return take();
}

void AnswerStream::push(const SampledToken& token) {
  const int64_t n = n_written_.load();
  QUIRE_CHECK(!ended() && n < static_cast<int64_t>(tokens_.size()));
  tokens_[static_cast<size_t>(n)] = token;
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
