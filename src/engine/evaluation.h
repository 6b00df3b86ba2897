// Running a text through a model, window by window, to see what it predicts for every next token.
//
// A text is cut into windows of equal length, each a sequence of its own: the vocabulary's begin token where
// it asks for one, then the next tokens of the text. Every token of a window but its first is scored.
//
//   const EvaluationText text = cut_text(ids, {.window = 512, .begin =
//   tokenizer.special(SpecialRole::kBos)}); QUIRE_RETURN_IF_ERROR(evaluate(runner, text, [&](const
//   Prediction& p) { ...; return Status(); }, progress));
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "base/result.h"
#include "engine/runner.h"
#include "tokenizer/token.h"

namespace quire {

struct WindowOptions {
  int64_t window = 512;      // tokens, the begin token among them; at least 2
  TokenId begin = kNoToken;  // put before every window; kNoToken for none
};

struct EvaluationText {
  int64_t window = 0;           // tokens of every window but the last, which may be shorter
  std::vector<TokenId> tokens;  // of all windows, one after the other

  int64_t n_windows() const;
  std::span<const TokenId> operator[](int64_t i) const;
  int64_t n_scored() const;  // tokens but the first of each window
};

// A rest of the text too short to score anything is left out.
EvaluationText cut_text(std::span<const TokenId> text, const WindowOptions& options);

// What the model said before it saw `next`.
struct Prediction {
  std::span<const float> logits;  // [n_vocab]
  TokenId next;
};

// Runs every window in steps of the runner's max_batch_tokens, which must not be above its max_outputs; its
// context must hold a window. `sink` hears every prediction in the order of the text; `progress` the number
// of tokens scored so far, and stops the work by returning false. Errors: those of Runner::open and step; of
// the sink; kCorrupt (logits that are no numbers); kCancelled.
Status evaluate(Runner& runner, const EvaluationText& text, FunctionRef<Status(const Prediction&)> sink,
                FunctionRef<bool(int64_t)> progress);

}  // namespace quire
