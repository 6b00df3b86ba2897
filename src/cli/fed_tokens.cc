#include "cli/fed_tokens.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/token_list.h"

namespace quire::cli {

void FedTokens::add_options(CLI::App& app, EngineSettings& settings) {
  CLI::Option* tokens = app.add_option("--tokens", list_, "Token ids to feed")->type_name("1,2,3");
  app.add_option("-p,--prompt", text_, "Text to feed instead, tokenized as by `quire tokenize`")
      ->type_name("TEXT")
      ->excludes(tokens);
  settings.max_batch_tokens = kDefaultChunk;
  app.add_option("--chunk", settings.max_batch_tokens,
                 fmt::format("Tokens of one step (default: {})", kDefaultChunk))
      ->check(CLI::Range(1, 65536).description(""))
      ->type_name("N");
  app.callback([this] {
    if (!list_ && !text_) throw CLI::RequiredError("--tokens 1,2,3 or --prompt TEXT");
  });
}

Result<std::vector<TokenId>> FedTokens::read(const Tokenizer* tokenizer, const Model& model) const {
  QUIRE_ASSIGN_OR_RETURN(
      std::vector<TokenId> tokens,
      list_ ? parse_token_ids(*list_) : tokenizer->encode(*text_, SpecialTokens::kParse, AddSpecial::kYes));
  if (tokens.empty()) return make_error(ErrorCode::kInvalidArgument, "there are no tokens to feed");
  for (const TokenId token : tokens) {
    if (token < 0 || token >= model.n_vocab()) {
      return make_error(ErrorCode::kInvalidArgument, "token id {} is outside the vocabulary of {}", token,
                        model.n_vocab());
    }
  }
  if (static_cast<int64_t>(tokens.size()) > model.ctx()) {
    return make_error(ErrorCode::kContextLength,
                      "{} tokens are longer than the context of {}: feed fewer or give a larger --ctx",
                      tokens.size(), model.ctx());
  }
  return tokens;
}

Result<ExitCode> feed_rows(Runner& runner, std::span<const TokenId> tokens, RowOutput output,
                           const InterruptGuard& interrupt,
                           FunctionRef<Status(int64_t position, TokenId token, int64_t row)> row) {
  QUIRE_ASSIGN_OR_RETURN(const SequenceId sequence, runner.open());
  const auto chunk = static_cast<size_t>(runner.settings().max_batch_tokens);
  for (size_t begin = 0; begin < tokens.size(); begin += chunk) {
    if (interrupt.interrupted()) return ExitCode::kInterrupted;
    const std::span<const TokenId> part = tokens.subspan(begin, std::min(chunk, tokens.size() - begin));
    const BatchItem item{.sequence = sequence, .tokens = part, .logits = Logits::kAll, .output = output};
    QUIRE_RETURN_IF_ERROR(runner.step({&item, 1}));
    for (size_t i = 0; i < part.size(); ++i)
      QUIRE_RETURN_IF_ERROR(row(static_cast<int64_t>(begin + i), part[i], static_cast<int64_t>(i)));
  }
  return ExitCode::kDone;
}

}  // namespace quire::cli
