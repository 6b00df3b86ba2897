// The tokens that a command feeds to a model as they are: --tokens or --prompt, and the loop over steps.
//
// Used by commands that print what a model computes at every position. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "base/result.h"
#include "cli/chat/interrupt.h"
#include "cli/exit_code.h"
#include "engine/runner.h"
#include "tokenizer/tokenizer.h"

namespace CLI {
class App;
}

namespace quire::cli {

// Rows of a step are in memory together; what is computed does not depend on how many.
inline constexpr int64_t kDefaultChunk = 64;

class FedTokens {
 public:
  // --tokens, --prompt, and --chunk for settings.max_batch_tokens. Both must outlive the parsing, which fails
  // without tokens and prompt.
  void add_options(CLI::App& app, EngineSettings& settings);
  bool from_text() const { return text_.has_value(); }
  // `tokenizer` may be null unless from_text(). Errors: kInvalidArgument (no tokens, an id outside the
  // model's vocabulary), kContextLength.
  Result<std::vector<TokenId>> read(const Tokenizer* tokenizer, const Model& model) const;

 private:
  std::optional<std::string> list_;
  std::optional<std::string> text_;
};

// Feeds one sequence in steps of max_batch_tokens and calls `row` for every position, in order, after its
// step: with the position, the token, and its row among the step's outputs; `output` says what `row` reads of
// it. EngineSettings::max_outputs must hold a step. Errors: those of Runner::step and of `row`. kInterrupted
// after Ctrl-C, between steps.
Result<ExitCode> feed_rows(Runner& runner, std::span<const TokenId> tokens, RowOutput output,
                           const InterruptGuard& interrupt,
                           FunctionRef<Status(int64_t position, TokenId token, int64_t row)> row);

}  // namespace quire::cli
