#include "engine/evaluation.h"

#include <algorithm>

#include "base/check.h"
#include "sampling/log_softmax.h"

namespace quire {
namespace {

// Predictions for all of `window` but its first token, from an empty sequence.
Status evaluate_window(Runner& runner, SequenceId sequence, std::span<const TokenId> window,
                       FunctionRef<Status(const Prediction&)> sink) {
  runner.truncate(sequence, 0);
  const auto step = static_cast<size_t>(runner.settings().max_batch_tokens);
  const size_t n_fed = window.size() - 1;
  for (size_t begin = 0; begin < n_fed; begin += step) {
    const size_t n = std::min(step, n_fed - begin);
    const BatchItem item{.sequence = sequence, .tokens = window.subspan(begin, n), .logits = Logits::kAll};
    QUIRE_RETURN_IF_ERROR(runner.step({&item, 1}));
    for (size_t i = 0; i < n; ++i) {
      const Prediction prediction{.logits = runner.logits(static_cast<int64_t>(i)),
                                  .next = window[begin + i + 1]};
      if (argmax_logit(prediction.logits) < 0)
        return make_error(ErrorCode::kCorrupt,
                          "the model predicts no token at all: its weights or scales are broken");
      QUIRE_RETURN_IF_ERROR(sink(prediction));
    }
  }
  return {};
}

}  // namespace

int64_t EvaluationText::n_windows() const {
  return (static_cast<int64_t>(tokens.size()) + window - 1) / window;
}

std::span<const TokenId> EvaluationText::operator[](int64_t i) const {
  const auto begin = static_cast<size_t>(i * window);
  return std::span(tokens).subspan(begin, std::min(static_cast<size_t>(window), tokens.size() - begin));
}

int64_t EvaluationText::n_scored() const { return static_cast<int64_t>(tokens.size()) - n_windows(); }

EvaluationText cut_text(std::span<const TokenId> text, const WindowOptions& options) {
  QUIRE_CHECK(options.window >= 2);
  EvaluationText cut{.window = options.window, .tokens = {}};
  const size_t n_begin = options.begin == kNoToken ? 0 : 1;
  while (text.size() + n_begin >= 2 && !text.empty()) {
    const size_t n = std::min(static_cast<size_t>(options.window) - n_begin, text.size());
    if (n_begin > 0) cut.tokens.push_back(options.begin);
    cut.tokens.insert(cut.tokens.end(), text.begin(), text.begin() + static_cast<std::ptrdiff_t>(n));
    text = text.subspan(n);
  }
  return cut;
}

Status evaluate(Runner& runner, const EvaluationText& text, FunctionRef<Status(const Prediction&)> sink,
                FunctionRef<bool(int64_t)> progress) {
  QUIRE_ASSIGN_OR_RETURN(const SequenceId sequence, runner.open());
  int64_t scored = 0;
  Status status;
  for (int64_t i = 0; i < text.n_windows() && status.ok(); ++i) {
    status = progress(scored) ? evaluate_window(runner, sequence, text[i], sink)
                              : Status(Error{ErrorCode::kCancelled, "the evaluation was interrupted"});
    scored += static_cast<int64_t>(text[i].size()) - 1;
  }
  runner.close(sequence);
  return status;
}

}  // namespace quire
