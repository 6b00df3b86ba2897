// The part of ServedBench that sends prompts among streams.
#include "engine/served_watch.h"
#include "measure/statistics.h"

namespace quire {
namespace {

// Tokens of each stream that are timed before the prompts arrive.
constexpr size_t kQuietTokens = 64;

}  // namespace

Result<MixedResult> ServedBench::run_mixed(const MixedTest& test) {
  MixedResult result;
  QUIRE_ASSIGN_OR_RETURN(const ServedResult alone, run({.batch = test.n_prompts,
                                                        .n_prompt = test.n_prompt,
                                                        .n_answer = 1,
                                                        .sharing = PrefixSharing::kOff}));
  result.prefill_alone_tps = alone.prefill_tps;

  std::vector<AnswerHandle> streams, prompts;
  ++n_runs_;
  for (int32_t i = 0; i < test.n_streams; ++i) {
    const ServedTest stream{
        .n_prompt = MixedTest::kStreamPrompt, .n_answer = -1, .sharing = PrefixSharing::kOff};
    QUIRE_ASSIGN_OR_RETURN(Request asked, request(stream, i));
    asked.tag = static_cast<uint64_t>(i) + 1;
    QUIRE_ASSIGN_OR_RETURN(AnswerHandle answer, engine_->submit(std::move(asked)));
    streams.push_back(std::move(answer));
  }
  for (AnswerHandle& stream : streams) stream.next();
  watch_->begin_streams(test.n_streams);
  while (watch_->n_gaps() < kQuietTokens * streams.size() && !streams.front().ended()) streams.front().next();
  const std::vector<double> quiet = watch_->take_gaps();

  watch_->begin(test.n_prompt, 1, test.n_prompts).unlock();
  const Watch::Clock::time_point start = Watch::Clock::now();
  for (int32_t i = 0; i < test.n_prompts; ++i) {
    const ServedTest prompt{.n_prompt = test.n_prompt, .n_answer = 1, .sharing = PrefixSharing::kOff};
    QUIRE_ASSIGN_OR_RETURN(Request asked, request(prompt, test.n_streams + i));
    QUIRE_ASSIGN_OR_RETURN(AnswerHandle answer, engine_->submit(std::move(asked)));
    prompts.push_back(std::move(answer));
  }
  for (AnswerHandle& prompt : prompts) {
    while (!prompt.next().empty()) continue;
    if (prompt.outcome().error) return *prompt.outcome().error;
  }
  const std::vector<double> among = watch_->take_gaps();
  for (AnswerHandle& stream : streams) {
    if (stream.ended())
      return make_error(ErrorCode::kContextLength,
                        "a stream filled its context before the prompts were done");
    stream.cancel();
    while (!stream.next().empty()) continue;
  }
  const double seconds = std::chrono::duration<double>(watch_->all_started() - start).count();
  result.prefill_tps = static_cast<double>(test.n_prompts * test.n_prompt) / seconds;
  result.quiet = {.p50 = quantile_of(quiet, 0.5), .p99 = quantile_of(quiet, 0.99)};
  result.among = {.p50 = quantile_of(among, 0.5), .p99 = quantile_of(among, 0.99)};
  return result;
}

}  // namespace quire
