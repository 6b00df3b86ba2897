// ServedBench: times requests that are served by the engine, scheduler, shared prefixes and sampling
// included: many that arrive together, or prompts that arrive among streams.
//
// Owns the engine. Prompts are pseudo-random ids, the same in every run; answers are greedy and of a fixed
// length. One thread besides the engine's.
//
//   QUIRE_ASSIGN_OR_RETURN(ServedBench bench, ServedBench::create(std::move(runner)));
//   QUIRE_ASSIGN_OR_RETURN(ServedResult result, bench.run({.batch = 32, .n_prompt = 128, .n_answer = 32}));
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "engine/engine.h"

namespace quire {

enum class PrefixSharing : uint8_t { kOn, kOff };

struct ServedTest {
  int32_t batch = 1;     // requests
  int64_t n_prompt = 0;  // of each; at least 1
  int64_t n_shared = 0;  // first tokens of the prompts that all have in common
  int64_t n_answer = 0;  // of each; at least 1
  PrefixSharing sharing = PrefixSharing::kOn;
};

struct ServedResult {
  double prefill_tps = 0;      // prompt tokens answered for, until every request has its first token
  double decode_tps = 0;       // from then on, until a request ends; 0 when one ended before
  double first_token_p50 = 0;  // seconds since submission
  double first_token_last = 0;
  double total_seconds = 0;
  int64_t computed_tokens = 0;  // of the prompts
  int64_t shared_tokens = 0;    // of the prompts, found in memory
  size_t kv_bytes = 0;          // most that requests held
  int64_t preemptions = 0;
};

// Prompts that arrive while streams decode.
struct MixedTest {
  int32_t n_streams = 1;  // that decode from kStreamPrompt tokens on, as far as the context allows
  int32_t n_prompts = 1;  // that arrive together
  int64_t n_prompt = 0;   // tokens of each
  static constexpr int64_t kStreamPrompt = 128;
};

struct MixedResult {
  struct Gaps {
    double p50 = 0, p99 = 0;  // seconds between two tokens of a stream
  };
  Gaps quiet, among;             // before the prompts arrive, and until all have their first token
  double prefill_alone_tps = 0;  // the same prompts without streams
  double prefill_tps = 0;
};

class ServedBench {
 public:
  // Errors: those of Engine::create.
  static Result<ServedBench> create(std::unique_ptr<Runner> runner);
  ServedBench(ServedBench&&) noexcept;
  ~ServedBench();

  // Errors: kInvalidArgument and kContextLength, as those of Engine::submit; that of a request that failed.
  Result<ServedResult> run(const ServedTest& test);
  // Errors: the same; kContextLength also when a stream fills its context before the prompts are done.
  Result<MixedResult> run_mixed(const MixedTest& test);

 private:
  class Watch;
  ServedBench(std::unique_ptr<Watch> watch, std::unique_ptr<Engine> engine);
  Result<Request> request(const ServedTest& test, int32_t i) const;

  std::unique_ptr<Watch> watch_;  // seen by the engine, so it goes last
  std::unique_ptr<Engine> engine_;
  uint64_t n_runs_ = 0;
};

}  // namespace quire
