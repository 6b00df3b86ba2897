#include "engine/generation.h"

#include <algorithm>
#include <chrono>

#include "engine/stop.h"
#include "tokenizer/stream_decoder.h"

namespace quire {
namespace {

// Prompts go in parts of this many tokens at most, so that a cancel is seen soon; wide enough for full speed.
constexpr int64_t kPromptPart = 128;

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

double per_second(int64_t count, double seconds) {
  return count > 0 && seconds > 0 ? static_cast<double>(count) / seconds : 0.0;
}

// Tokens that can be sampled: rows of logits may be padded beyond the vocabulary, and the other way round.
int32_t sampled_vocab(const Runner& runner, const Tokenizer& tokenizer) {
  return static_cast<int32_t>(std::min(runner.model().n_vocab(), static_cast<int64_t>(tokenizer.n_vocab())));
}

SamplingSettings with_suppressed(const SamplingSettings& settings, const Tokenizer& tokenizer,
                                 int32_t n_vocab) {
  SamplingSettings all = settings;
  for (const TokenId id : tokenizer.suppressed()) {
    if (id < n_vocab) all.suppress.push_back(id);
  }
  return all;
}

}  // namespace

double GenerationResult::prefill_tps() const {
  return per_second(prompt_tokens - reused_tokens, prefill_seconds);
}
double GenerationResult::decode_tps() const { return per_second(decode_steps, decode_seconds); }

Result<std::unique_ptr<Generation>> Generation::create(Runner& runner, const Tokenizer& tokenizer) {
  if (sampled_vocab(runner, tokenizer) == 0)
    return make_error(ErrorCode::kUnsupported,
                      "the model file has no vocabulary, so there is no text to generate");
  QUIRE_ASSIGN_OR_RETURN(const SequenceId sequence, runner.open());
  return std::unique_ptr<Generation>(new Generation(runner, tokenizer, sequence));
}

Generation::Generation(Runner& runner, const Tokenizer& tokenizer, SequenceId sequence)
    : runner_(runner),
      tokenizer_(tokenizer),
      sequence_(sequence),
      n_vocab_(sampled_vocab(runner, tokenizer)) {
  held_.reserve(static_cast<size_t>(ctx()));
}

Generation::~Generation() { runner_.close(sequence_); }

Status Generation::check(std::span<const TokenId> prompt, const GenerationSettings& settings) const {
  if (prompt.empty()) return make_error(ErrorCode::kInvalidArgument, "the prompt is empty");
  const auto n_prompt = static_cast<int64_t>(prompt.size());
  if (n_prompt >= ctx()) {
    return make_error(ErrorCode::kContextLength,
                      "the prompt is {} tokens, the context holds {} with at least one for the answer",
                      n_prompt, ctx());
  }
  for (const TokenId id : prompt) {
    if (id < 0 || id >= n_vocab_) {
      return make_error(ErrorCode::kInvalidArgument, "token id {} is outside the vocabulary of {}", id,
                        n_vocab_);
    }
  }
  if (settings.max_tokens < -1) {
    return make_error(ErrorCode::kInvalidArgument, "max_tokens is {}, must be at least 0, or -1 for no limit",
                      settings.max_tokens);
  }
  QUIRE_RETURN_IF_ERROR(check_stop_strings(settings.stop));
  return settings.sampling.validate(n_vocab_);
}

Status Generation::feed(std::span<const TokenId> tokens, Logits logits) {
  const BatchItem item{.sequence = sequence_, .tokens = tokens, .logits = logits};
  QUIRE_RETURN_IF_ERROR(runner_.step({&item, 1}, argmax_columns_));
  held_.insert(held_.end(), tokens.begin(), tokens.end());
  return {};
}

Result<Flow> Generation::feed_prompt(std::span<const TokenId> prompt, GenerationObserver& observer,
                                     GenerationResult& result) {
  const auto parts = std::mismatch(held_.begin(), held_.end(), prompt.begin(), prompt.end());
  // The last token is always fed: its logits choose the first token of the answer.
  const size_t equal = std::min(static_cast<size_t>(parts.first - held_.begin()), prompt.size() - 1);
  const auto shared = static_cast<size_t>(runner_.truncate(sequence_, static_cast<int64_t>(equal)));
  held_.resize(shared);
  result.prompt_tokens = static_cast<int64_t>(prompt.size());
  result.reused_tokens = static_cast<int64_t>(shared);

  const auto part_size =
      static_cast<size_t>(std::min({kPromptPart, runner_.settings().max_batch_tokens, ctx()}));
  while (held_.size() < prompt.size()) {
    const std::span<const TokenId> rest = prompt.subspan(held_.size());
    const std::span<const TokenId> part = rest.first(std::min(part_size, rest.size()));
    QUIRE_RETURN_IF_ERROR(feed(part, part.size() == rest.size() ? Logits::kLast : Logits::kNone));
    const Flow flow =
        observer.on_prompt(static_cast<int64_t>(held_.size()), static_cast<int64_t>(prompt.size()));
    if (flow == Flow::kCancel) return Flow::kCancel;
  }
  return Flow::kContinue;
}

Status Generation::decode(const GenerationSettings& settings, GenerationObserver& observer,
                          GenerationResult& result) {
  const SamplingSettings sampling = with_suppressed(settings.sampling, tokenizer_, n_vocab_);
  const int64_t room = ctx() - result.prompt_tokens;
  const int64_t limit = settings.max_tokens < 0 ? room : std::min(room, settings.max_tokens);
  StreamDecoder decoder(tokenizer_);
  StopMatcher stop(settings.stop);
  const auto send = [&](std::string_view text) {
    result.text += text;
    return observer.on_text(text);
  };

  while (true) {
    if (static_cast<int64_t>(result.tokens.size()) >= limit) {
      result.finish_reason = FinishReason::kLength;
      break;
    }
    SampledToken sampled{.id = runner_.argmax(0).value_or(-1)};
    if (sampled.id < 0) {
      QUIRE_ASSIGN_OR_RETURN(
          sampled, runner_.sampler(0).sample(
                       runner_.logits(0).first(static_cast<size_t>(n_vocab_)), sampling, held_,
                       {.seed = settings.seed, .choice = settings.choice, .position = held_.size()}));
    }
    if (settings.end_tokens == EndTokens::kStop && tokenizer_.is_end_of_generation(sampled.id)) {
      result.finish_reason = FinishReason::kStop;
      break;
    }
    result.tokens.push_back(sampled.id);
    const Flow flow = send(stop.push(decoder.push(sampled.id)));
    if (stop.matched()) {
      result.finish_reason = FinishReason::kStop;
      return {};
    }
    if (flow == Flow::kCancel) {
      result.finish_reason = FinishReason::kCancelled;
      break;
    }
    if (static_cast<int64_t>(result.tokens.size()) >= limit) continue;  // nothing will follow it
    QUIRE_RETURN_IF_ERROR(feed({&sampled.id, 1}, Logits::kLast));
    ++result.decode_steps;
  }
  std::string tail = stop.push(decoder.finish());
  tail += stop.finish();
  if (stop.matched()) result.finish_reason = FinishReason::kStop;
  if (!tail.empty()) send(tail);
  return {};
}

Result<GenerationResult> Generation::run(std::span<const TokenId> prompt, const GenerationSettings& settings,
                                         GenerationObserver& observer) {
  QUIRE_RETURN_IF_ERROR(check(prompt, settings));
  GenerationResult result;
  argmax_columns_ = with_suppressed(settings.sampling, tokenizer_, n_vocab_).is_plain_greedy() ? n_vocab_ : 0;
  const Stopwatch prefill;
  QUIRE_ASSIGN_OR_RETURN(const Flow flow, feed_prompt(prompt, observer, result));
  result.prefill_seconds = prefill.seconds();
  if (flow == Flow::kCancel) {
    result.finish_reason = FinishReason::kCancelled;
    return result;
  }
  const Stopwatch decoding;
  QUIRE_RETURN_IF_ERROR(decode(settings, observer, result));
  result.decode_seconds = decoding.seconds();
  return result;
}

}  // namespace quire
