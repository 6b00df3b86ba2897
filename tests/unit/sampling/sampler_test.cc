#include "sampling/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <new>
#include <random>
#include <set>
#include <vector>

#include "sampling/log_softmax.h"

namespace {
// Counts allocations on this thread, for the promise that a call makes none.
thread_local int64_t n_allocations = 0;
}  // namespace

void* operator new(std::size_t size) {
  ++n_allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++n_allocations;
  return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace quire {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Everything off but temperature 1.
SamplingSettings plain() { return {.temperature = 1.0f, .top_k = 0, .top_p = 1.0f, .min_p = 0.0f}; }

std::vector<float> random_logits(size_t n, uint32_t seed, float spread = 2.0f) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> logits(n);
  for (float& logit : logits) logit = normal(random);
  return logits;
}

int32_t sample_id(const std::vector<float>& logits, const SamplingSettings& settings, SampleCounter counter,
                  const std::vector<int32_t>& history = {}) {
  Sampler sampler(static_cast<int32_t>(logits.size()));
  EXPECT_TRUE(settings.validate(static_cast<int32_t>(logits.size())).ok());
  return sampler.sample(logits, settings, history, counter).value().id;
}

TEST(Sampler, GreedyIsTheLowestArgmax) {
  SamplingSettings greedy = plain();
  greedy.temperature = 0.0f;
  EXPECT_EQ(sample_id({1.0f, 3.0f, 2.0f, 3.0f}, greedy, {}), 1);
  EXPECT_EQ(sample_id({kNan, -kInfinity, -7.0f, kNan}, greedy, {}), 2);
  const auto logits = random_logits(1000, 5);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(sample_id(logits, greedy, {.seed = seed}), argmax_logit(logits));
  }
}

TEST(Sampler, NanAndExcludedTokensAreNeverChosen) {
  std::vector<float> logits(64, kNan);
  logits[5] = -3.0f;
  logits[40] = -3.5f;
  logits[41] = -kInfinity;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const int32_t id = sample_id(logits, plain(), {.seed = seed});
    EXPECT_TRUE(id == 5 || id == 40) << id;
  }
}

TEST(Sampler, ARowWithoutATokenIsAnError) {
  for (const float temperature : {0.0f, 1.0f}) {
    SamplingSettings settings = plain();
    settings.temperature = temperature;
    Sampler sampler(3);
    const auto broken = sampler.sample(std::vector<float>{kNan, -kInfinity, kNan}, settings, {}, {});
    ASSERT_FALSE(broken.ok());
    EXPECT_EQ(broken.error().code, ErrorCode::kInternal);
    settings.suppress = {0, 1, 2};
    const auto excluded = sampler.sample(std::vector<float>{1.0f, 2.0f, 3.0f}, settings, {}, {});
    ASSERT_FALSE(excluded.ok());
    EXPECT_EQ(excluded.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST(Sampler, LogprobIsThatOfTheRawRow) {
  const auto logits = random_logits(500, 8);
  SamplingSettings settings;  // all the default filters
  settings.logit_bias = {{.token = 3, .bias = 4.0f}};
  Sampler sampler(500);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const SampledToken token = sampler.sample(logits, settings, {}, {.seed = seed}).value();
    EXPECT_EQ(token.logprob, log_probability(logits, token.id));
  }
  settings.logprob = Logprob::kSkip;
  EXPECT_TRUE(std::isnan(sampler.sample(logits, settings, {}, {}).value().logprob));
}

// Pearson's chi-square of 40,000 draws against softmax(logits / T). The bound is the 99.99% point for 15
// degrees of freedom; the seeds are fixed, so the test cannot flicker.
TEST(Sampler, DrawsFollowTheDistribution) {
  constexpr int kDraws = 40000;
  const auto logits = random_logits(16, 11, 1.0f);
  Sampler sampler(16);
  enum class Vary { kSeed, kPosition, kChoice };
  for (const Vary vary : {Vary::kSeed, Vary::kPosition, Vary::kChoice}) {
    for (const float temperature : {0.7f, 1.0f, 1.6f}) {
      SamplingSettings settings = plain();
      settings.temperature = temperature;
      settings.logprob = Logprob::kSkip;
      std::vector<int> counts(16);
      for (uint32_t i = 0; i < kDraws; ++i) {
        SampleCounter counter{.seed = 99, .choice = 1, .position = 1000};
        if (vary == Vary::kSeed) counter.seed = i;
        if (vary == Vary::kPosition) counter.position = i;
        if (vary == Vary::kChoice) counter.choice = i;
        ++counts[static_cast<size_t>(sampler.sample(logits, settings, {}, counter).value().id)];
      }
      double sum = 0, chi_square = 0;
      for (const float logit : logits) sum += std::exp(logit / temperature);
      for (size_t i = 0; i < 16; ++i) {
        const double expected = kDraws * std::exp(logits[i] / temperature) / sum;
        chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
      }
      EXPECT_LT(chi_square, 44.3) << temperature;
      EXPECT_GT(chi_square, 2.0) << "too even to be random " << temperature;
    }
  }
}

// Drafts are checked by sampling the same positions again, in another order, by another sampler that has done
// other work.
TEST(Sampler, ReplaysGiveTheSameTokens) {
  constexpr int32_t kVocab = 300;
  SamplingSettings settings;
  settings.repetition_penalty = 1.3f;
  settings.frequency_penalty = 0.1f;
  settings.penalty_window = 8;
  std::vector<int32_t> history = {4, 9};
  std::vector<int32_t> tokens;
  Sampler forward(kVocab);
  for (uint32_t position = 0; position < 64; ++position) {
    const auto logits = random_logits(kVocab, position);
    const SampleCounter counter{.seed = 7, .choice = 2, .position = position};
    tokens.push_back(forward.sample(logits, settings, history, counter).value().id);
    history.push_back(tokens.back());
  }
  Sampler backward(kVocab);
  for (uint32_t position = 64; position-- > 0;) {
    const auto logits = random_logits(kVocab, position);
    const SampleCounter counter{.seed = 7, .choice = 2, .position = position};
    const auto past = std::span<const int32_t>(history).first(2 + position);
    EXPECT_EQ(backward.sample(logits, settings, past, counter).value().id, tokens[position]) << position;
    SamplingSettings other = settings;
    other.suppress = {tokens[position]};
    EXPECT_NE(backward.sample(logits, other, past, counter).value().id, tokens[position]);
  }
}

TEST(Sampler, SeedChoiceAndPositionAllMatter) {
  const auto logits = random_logits(1000, 2, 0.1f);
  const auto tokens = [&](SampleCounter counter) {
    std::vector<int32_t> ids;
    for (int i = 0; i < 8; ++i, ++counter.position) ids.push_back(sample_id(logits, plain(), counter));
    return ids;
  };
  const auto base = tokens({.seed = 1, .choice = 0, .position = 0});
  EXPECT_EQ(base, tokens({.seed = 1, .choice = 0, .position = 0}));
  EXPECT_NE(base, tokens({.seed = 2, .choice = 0, .position = 0}));
  EXPECT_NE(base, tokens({.seed = 1 + (1ull << 32), .choice = 0, .position = 0}));
  EXPECT_NE(base, tokens({.seed = 1, .choice = 1, .position = 0}));
  EXPECT_NE(base, tokens({.seed = 1, .choice = 0, .position = 1}));
  EXPECT_NE(base, tokens({.seed = 1, .choice = 0, .position = 1ull << 32}));
}

TEST(Sampler, BiasAddsAndSuppressExcludes) {
  SamplingSettings settings = plain();
  settings.temperature = 0.0f;
  const std::vector<float> logits = {0.0f, 1.0f, 2.0f};
  settings.logit_bias = {{.token = 0, .bias = 1.25f}, {.token = 0, .bias = 1.25f}};
  EXPECT_EQ(sample_id(logits, settings, {}), 0);
  settings.suppress = {0};
  EXPECT_EQ(sample_id(logits, settings, {}), 2);
  settings.logit_bias.push_back({.token = 2, .bias = -kInfinity});
  EXPECT_EQ(sample_id(logits, settings, {}), 1);
}

// Greedy choices under penalties against the formula applied to a copy of the row.
TEST(Sampler, PenaltiesMatchTheDefinition) {
  std::mt19937 random(29);
  for (int trial = 0; trial < 300; ++trial) {
    const auto logits = random_logits(20, static_cast<uint32_t>(trial), 1.0f);
    std::vector<int32_t> history(random() % 40);
    for (int32_t& token : history) token = static_cast<int32_t>(random() % 20);
    SamplingSettings settings = plain();
    settings.temperature = 0.0f;
    settings.repetition_penalty = 0.5f + static_cast<float>(random() % 16) / 8.0f;
    settings.frequency_penalty = static_cast<float>(random() % 9) / 8.0f - 0.5f;
    settings.presence_penalty = static_cast<float>(random() % 9) / 8.0f - 0.5f;
    settings.penalty_window = static_cast<int32_t>(random() % 30) - 1;
    const size_t window = settings.penalty_window < 0
                              ? history.size()
                              : std::min(history.size(), static_cast<size_t>(settings.penalty_window));
    std::map<int32_t, int> counts;
    for (size_t i = history.size() - window; i < history.size(); ++i) ++counts[history[i]];
    std::vector<float> want = logits;
    for (const auto& [token, count] : counts) {
      float& logit = want[static_cast<size_t>(token)];
      if (logit > 0) {
        logit /= settings.repetition_penalty;
      } else {
        logit *= settings.repetition_penalty;
      }
      logit -= static_cast<float>(count) * settings.frequency_penalty + settings.presence_penalty;
    }
    EXPECT_EQ(sample_id(logits, settings, {}, history), argmax_logit(want)) << trial;
  }
}

TEST(Sampler, ForeignTokensInTheHistoryAreAnError) {
  SamplingSettings settings = plain();
  settings.presence_penalty = 1.0f;
  Sampler sampler(4);
  const std::vector<float> logits(4, 0.0f);
  for (const int32_t token : {-1, 4}) {
    const auto result = sampler.sample(logits, settings, std::vector<int32_t>{1, token}, {});
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_TRUE(sampler.sample(logits, settings, std::vector<int32_t>{1, 3}, {}).ok());
}

// The chain with everything on stays inside what each filter alone allows.
TEST(Sampler, AllFiltersTogether) {
  const auto logits = random_logits(2000, 31, 1.5f);
  std::vector<float> order = logits;
  std::ranges::sort(order, std::greater<>());
  SamplingSettings settings = plain();
  settings.top_k = 20;
  settings.typical_p = 0.95f;
  settings.top_p = 0.9f;
  settings.min_p = 0.1f;
  std::set<int32_t> seen;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const int32_t id = sample_id(logits, settings, {.seed = seed});
    seen.insert(id);
    EXPECT_GE(logits[static_cast<size_t>(id)], order[19]);
    EXPECT_GE(logits[static_cast<size_t>(id)], order[0] + std::log(0.1f) - 1e-4f);
  }
  EXPECT_GT(seen.size(), 3u);
}

TEST(Sampler, ACallAllocatesNothing) {
  const auto logits = random_logits(5000, 37);
  SamplingSettings settings;
  settings.typical_p = 0.9f;
  settings.repetition_penalty = 1.2f;
  settings.suppress = {1};
  settings.logit_bias = {{.token = 2, .bias = 1.0f}};
  const std::vector<int32_t> history = {1, 2, 3, 2};
  Sampler sampler(5000);
  const int64_t before = n_allocations;
  int64_t sum = 0;
  for (const int32_t top_k : {0, 1, 40}) {
    settings.top_k = top_k;
    sum += sampler.sample(logits, settings, history, {.seed = 3}).value().id;
  }
  EXPECT_EQ(n_allocations, before);
  EXPECT_GE(sum, 0);
}

TEST(SamplingSettings, DefaultsAreValid) { EXPECT_TRUE(SamplingSettings().validate(10).ok()); }

TEST(SamplingSettings, OutOfRangeIsRefusedByName) {
  const auto refused = [](SamplingSettings settings, const char* field) {
    const Status status = settings.validate(10);
    if (status.ok()) return ::testing::AssertionFailure() << field << " was accepted";
    if (status.error().code != ErrorCode::kInvalidArgument) return ::testing::AssertionFailure() << "code";
    if (status.error().message.find(field) != 0)
      return ::testing::AssertionFailure() << status.error().message;
    return ::testing::AssertionSuccess();
  };
  for (const float bad : {-0.1f, kInfinity, kNan}) {
    EXPECT_TRUE(refused({.temperature = bad}, "temperature"));
    EXPECT_TRUE(refused({.typical_p = bad}, "typical_p"));
    EXPECT_TRUE(refused({.top_p = bad}, "top_p"));
    EXPECT_TRUE(refused({.min_p = bad}, "min_p"));
    EXPECT_TRUE(refused({.repetition_penalty = bad}, "repetition_penalty"));
  }
  EXPECT_TRUE(refused({.repetition_penalty = 0.0f}, "repetition_penalty"));
  EXPECT_TRUE(refused({.top_p = 1.5f}, "top_p"));
  EXPECT_TRUE(refused({.top_k = -1}, "top_k"));
  EXPECT_TRUE(refused({.frequency_penalty = kNan}, "frequency_penalty"));
  EXPECT_TRUE(refused({.presence_penalty = kInfinity}, "presence_penalty"));
  EXPECT_TRUE(refused({.penalty_window = -2}, "penalty_window"));
  EXPECT_TRUE(refused({.logit_bias = {{.token = 10, .bias = 0.0f}}}, "logit_bias"));
  EXPECT_TRUE(refused({.logit_bias = {{.token = 1, .bias = kInfinity}}}, "logit_bias"));
  EXPECT_TRUE(refused({.logit_bias = {{.token = 1, .bias = kNan}}}, "logit_bias"));
  EXPECT_TRUE(refused({.suppress = {-1}}, "suppress"));
  const SamplingSettings excluding{.logit_bias = {{.token = 9, .bias = -kInfinity}}};
  EXPECT_TRUE(excluding.validate(10).ok());
}

}  // namespace
}  // namespace quire
