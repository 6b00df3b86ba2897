#include "engine/verify/way.h"

#include <random>

namespace quire::verify {

std::vector<int32_t> random_tokens(uint32_t seed, size_t n, int64_t n_vocab) {
  std::minstd_rand random(seed + 1);
  std::vector<int32_t> tokens(n);
  for (int32_t& token : tokens) token = static_cast<int32_t>(random() % static_cast<uint64_t>(n_vocab));
  return tokens;
}

std::vector<Case> make_cases(Extent extent, int64_t n_vocab) {
  // Neither whole pages nor whole chunks of attention, all of five or six pages.
  const std::vector<size_t> lengths =
      extent == Extent::kQuick ? std::vector<size_t>{70, 75} : std::vector<size_t>{70, 75, 66, 73};
  std::vector<Case> cases;
  for (size_t i = 0; i < lengths.size(); ++i) {
    Case& made = cases.emplace_back();
    made.prompt = random_tokens(static_cast<uint32_t>(i), lengths[i], n_vocab);
    made.settings = {.seed = i, .max_tokens = kAnswer, .end_tokens = EndTokens::kIgnore};
    if (i % 2 == 0) made.settings.sampling.temperature = 0;
  }
  return cases;
}

Result<std::unique_ptr<Runner>> load(const std::string& path, const EngineSettings& settings) {
  return Runner::load(path, settings, [](size_t, size_t) { return true; });
}

Status feed(Runner& runner, SequenceId sequence, std::span<const int32_t> tokens, Trace& trace) {
  const int64_t begin = runner.length(sequence);
  const BatchItem item{.sequence = sequence, .tokens = tokens, .logits = Logits::kAll};
  QUIRE_RETURN_IF_ERROR(runner.step({&item, 1}));
  for (int64_t row = 0; row < runner.n_logits(); ++row) trace.set(begin + row, runner.logits(row));
  return {};
}

Status make_references(Runner& runner, std::vector<Case>& cases) {
  Sampler& sampler = runner.sampler(0);
  for (size_t i = 0; i < cases.size(); ++i) {
    Case& made = cases[i];
    made.tokens = made.prompt;
    QUIRE_ASSIGN_OR_RETURN(const SequenceId sequence, runner.open());
    QUIRE_RETURN_IF_ERROR(feed(runner, sequence, made.tokens, made.reference));
    while (true) {
      QUIRE_ASSIGN_OR_RETURN(
          const SampledToken sampled,
          sampler.sample(runner.logits(runner.n_logits() - 1), made.settings.sampling, made.tokens,
                         {.seed = made.settings.seed, .position = made.tokens.size()}));
      made.reference.answer.push_back(sampled.id);
      if (made.reference.answer.size() == static_cast<size_t>(kAnswer)) break;
      made.tokens.push_back(sampled.id);
      QUIRE_RETURN_IF_ERROR(feed(runner, sequence, std::span(made.tokens).last(1), made.reference));
    }
    runner.close(sequence);
  }
  return {};
}

}  // namespace quire::verify
