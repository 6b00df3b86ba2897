// Generation: answers to prompts over one sequence of a Runner, reusing what the sequence already holds.
//
// A prompt that begins like the tokens of the last one (a conversation one turn longer) is fed only from
// where the two part. The text is a pure function of prompt and settings: greedy or sampled, alone or after
// other prompts, reused or fed afresh. Holds one open sequence of the runner for its lifetime; runner and
// tokenizer must outlive it. Used by one thread at a time.
//
//   QUIRE_ASSIGN_OR_RETURN(auto generation, Generation::create(runner, tokenizer));
//   QUIRE_ASSIGN_OR_RETURN(GenerationResult answer, generation->run(prompt, {.max_tokens = 100}, observer));
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/finish_reason.h"
#include "engine/generation_settings.h"
#include "engine/runner.h"
#include "sampling/sampler.h"
#include "tokenizer/tokenizer.h"

namespace quire {

enum class Flow : uint8_t { kContinue, kCancel };

// What a caller sees while an answer is generated; called on the thread that runs it.
class GenerationObserver {
 public:
  virtual ~GenerationObserver() = default;
  // After every part of the prompt: tokens fed or reused so far, and in all.
  virtual Flow on_prompt(int64_t /*done*/, int64_t /*total*/) { return Flow::kContinue; }
  // After every token, and once more at the end if text was held: the text it completed, whole UTF-8
  // characters, often empty.
  virtual Flow on_text(std::string_view /*text*/) { return Flow::kContinue; }
};

struct GenerationResult {
  std::string text;             // all that on_text saw
  std::vector<TokenId> tokens;  // generated; an end-of-generation token that ended the answer is not one
  FinishReason finish_reason = FinishReason::kStop;
  int64_t prompt_tokens = 0;
  int64_t reused_tokens = 0;   // of the prompt, already in the sequence
  double prefill_seconds = 0;  // feeding the rest of the prompt
  double decode_seconds = 0;   // from the first sampled token to the last
  int64_t decode_steps = 0;    // steps of the model in decode_seconds

  double prefill_tps() const;  // tokens per second; 0 when nothing was measured
  double decode_tps() const;
};

class Generation {
 public:
  // Errors: kResourceExhausted (no sequence free), kUnsupported (the file has no vocabulary).
  static Result<std::unique_ptr<Generation>> create(Runner& runner, const Tokenizer& tokenizer);
  ~Generation();
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;

  // Generates one answer. Errors, all before anything runs: kContextLength when prompt and one more token do
  // not fit, kInvalidArgument (empty prompt, id outside the vocabulary, settings out of range). Errors of a
  // step: those of Sampler::sample. After an error the next run() starts from what is still held.
  Result<GenerationResult> run(std::span<const TokenId> prompt, const GenerationSettings& settings,
                               GenerationObserver& observer);

  // Tokens whose keys and values the sequence holds: the last prompt and answer, but for the answer's last
  // token.
  std::span<const TokenId> held() const { return held_; }
  int64_t ctx() const { return runner_.model().ctx(); }

 private:
  Generation(Runner& runner, const Tokenizer& tokenizer, SequenceId sequence);
  Status check(std::span<const TokenId> prompt, const GenerationSettings& settings) const;
  // Makes the sequence hold exactly `prompt`, with logits for its last token.
  Result<Flow> feed_prompt(std::span<const TokenId> prompt, GenerationObserver& observer,
                           GenerationResult& result);
  // Tokens one after the other, from the logits of the last step.
  Status decode(const GenerationSettings& settings, GenerationObserver& observer, GenerationResult& result);
  Status feed(std::span<const TokenId> tokens, Logits logits);

  Runner& runner_;
  const Tokenizer& tokenizer_;
  SequenceId sequence_;
  int32_t n_vocab_ = 0;         // that can be sampled
  int32_t argmax_columns_ = 0;  // of the run, > 0 when its tokens are simply the largest logits
  std::vector<TokenId> held_;
};

}  // namespace quire
