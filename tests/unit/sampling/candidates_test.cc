// Each filter against its definition, written out in the plainest way.
#include "sampling/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <vector>

namespace quire {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Row {
  std::vector<float> logits;
  std::vector<Candidate> storage;
  explicit Row(std::vector<float> values) : logits(std::move(values)), storage(logits.size()) {}
  Candidates candidates() { return {storage, logits}; }
};

std::set<int32_t> ids(const Candidates& candidates) {
  std::set<int32_t> result;
  for (const Candidate& candidate : candidates.items()) result.insert(candidate.id);
  EXPECT_EQ(result.size(), candidates.items().size());
  return result;
}

// Rows of many sizes: bell shaped, with many ties (a grid of eighths), or flat.
std::vector<Row> rows() {
  std::mt19937 random(17);
  std::vector<Row> result;
  for (const size_t n : {1u, 2u, 5u, 64u, 65u, 300u, 3000u}) {
    for (const float spread : {0.1f, 1.0f, 4.0f}) {
      std::normal_distribution<float> normal(0, spread);
      std::vector<float> bell(n), grid(n);
      for (float& logit : bell) logit = normal(random);
      for (float& logit : grid) logit = std::round(normal(random) * 8) / 8;
      result.emplace_back(bell);
      result.emplace_back(grid);
    }
    result.emplace_back(std::vector<float>(n, 0.5f));
  }
  return result;
}

std::vector<double> probabilities(const std::vector<float>& logits) {
  const double largest = *std::ranges::max_element(logits);
  std::vector<double> p;
  double sum = 0;
  for (const float logit : logits) p.push_back(std::exp(logit - largest));
  for (const double value : p) sum += value;
  for (double& value : p) value /= sum;
  return p;
}

// All ids, ordered by a key (smaller first), then by logit, then by id.
std::vector<int32_t> ordered(const std::vector<float>& logits, const std::vector<double>& key) {
  std::vector<int32_t> order(logits.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
  std::ranges::stable_sort(order, [&](int32_t a, int32_t b) {
    const auto i = static_cast<size_t>(a), j = static_cast<size_t>(b);
    return key[i] != key[j] ? key[i] < key[j] : logits[i] > logits[j];
  });
  return order;
}

std::vector<int32_t> best_first(const std::vector<float>& logits) {
  std::vector<double> key;
  for (const float logit : logits) key.push_back(-logit);
  return ordered(logits, key);
}

void expect_best_first(const Candidates& candidates) {
  const auto items = candidates.items().first(candidates.n_sorted());
  EXPECT_TRUE(std::ranges::is_sorted(items, [](const Candidate& a, const Candidate& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  }));
}

TEST(Candidates, ExcludedLogitsAreLeftOut) {
  Row row({kNan, 1.0f, -kInfinity, kInfinity, -2.0f});
  const Candidates candidates = row.candidates();
  ASSERT_EQ(ids(candidates), (std::set<int32_t>{1, 3, 4}));
  EXPECT_EQ(candidates.items()[1].logit, std::numeric_limits<float>::max());
  Row none({kNan, -kInfinity});
  EXPECT_TRUE(none.candidates().items().empty());
}

TEST(Candidates, TopKKeepsTheKBest) {
  for (Row& row : rows()) {
    const auto order = best_first(row.logits);
    for (const size_t k : {1u, 2u, 40u, 64u, 299u, 100000u}) {
      Candidates candidates = row.candidates();
      candidates.keep_top_k(k);
      const size_t n = std::min(k, order.size());
      EXPECT_EQ(ids(candidates),
                std::set<int32_t>(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n)));
      expect_best_first(candidates);
    }
  }
}

TEST(Candidates, TopPKeepsTheSmallestPrefixWithTheMass) {
  for (Row& row : rows()) {
    const auto p = probabilities(row.logits);
    const auto order = best_first(row.logits);
    for (const float top_p : {0.0f, 0.013f, 0.313f, 0.917f, 0.999f}) {
      Candidates candidates = row.candidates();
      candidates.keep_top_p(top_p);
      double mass = 0;
      size_t n = 0;
      do mass += p[static_cast<size_t>(order[n++])];
      while (n < order.size() && mass < top_p);
      EXPECT_EQ(ids(candidates),
                std::set<int32_t>(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n)))
          << row.logits.size() << " " << top_p;
      expect_best_first(candidates);
    }
  }
}

TEST(Candidates, MinPKeepsWhatIsNotMuchWorseThanTheBest) {
  for (Row& row : rows()) {
    const auto p = probabilities(row.logits);
    const double best = *std::ranges::max_element(p);
    for (const float min_p : {1e-30f, 0.013f, 0.51f, 1.0f}) {
      Candidates candidates = row.candidates();
      candidates.keep_min_p(min_p);
      std::set<int32_t> want;
      for (size_t i = 0; i < p.size(); ++i) {
        if (p[i] >= min_p * best) want.insert(static_cast<int32_t>(i));
      }
      EXPECT_EQ(ids(candidates), want) << row.logits.size() << " " << min_p;
    }
  }
}

TEST(Candidates, MinPKeepsASortedFront) {
  for (Row& row : rows()) {
    Candidates candidates = row.candidates();
    candidates.keep_top_k(50);
    candidates.keep_min_p(0.3f);
    expect_best_first(candidates);
    EXPECT_LE(candidates.n_sorted(), candidates.items().size());
  }
}

TEST(Candidates, TypicalKeepsTheSmallestSetAroundTheEntropy) {
  std::mt19937 random(23);
  std::normal_distribution<float> normal(0, 2);
  for (const size_t n : {1u, 2u, 5u, 64u, 300u, 3000u}) {
    std::vector<float> logits(n);
    for (float& logit : logits) logit = normal(random);
    Row row(logits);
    const auto p = probabilities(logits);
    double entropy = 0;
    for (const double value : p) entropy -= value * std::log(value);
    std::vector<double> distance;
    for (const double value : p) distance.push_back(std::fabs(-std::log(value) - entropy));
    const auto order = ordered(logits, distance);
    for (const float typical : {0.0f, 0.013f, 0.313f, 0.917f}) {
      Candidates candidates = row.candidates();
      candidates.keep_typical(typical);
      double mass = 0;
      size_t kept = 0;
      do mass += p[static_cast<size_t>(order[kept++])];
      while (kept < order.size() && mass <= typical);
      EXPECT_EQ(ids(candidates),
                std::set<int32_t>(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept)))
          << n << " " << typical;
      expect_best_first(candidates);
    }
  }
}

// A constant added to all logits changes no probability. Eighths plus 64 are exact in f32, so nothing rounds.
TEST(Candidates, AConstantChangesNothing) {
  for (Row& row : rows()) {
    std::vector<float> base = row.logits, moved = row.logits;
    for (float& logit : base) logit = std::round(logit * 8) / 8;
    for (size_t i = 0; i < base.size(); ++i) moved[i] = base[i] + 64.0f;
    Row a(base), b(moved);
    Candidates x = a.candidates(), y = b.candidates();
    for (Candidates* candidates : {&x, &y}) {
      candidates->keep_top_k(200);
      candidates->keep_top_p(0.97f);
      candidates->keep_min_p(0.01f);
    }
    EXPECT_EQ(ids(x), ids(y));
    for (int i = 0; i < 50; ++i) EXPECT_EQ(x.draw(0.7f, i / 50.0), y.draw(0.7f, i / 50.0));
  }
}

TEST(Candidates, DrawInvertsTheCumulativeDistribution) {
  for (const float temperature : {0.3f, 1.0f, 2.5f}) {
    Row row({0.5f, -1.0f, 2.0f, 0.0f});
    const Candidates candidates = row.candidates();
    std::vector<float> scaled;
    for (const float logit : row.logits) scaled.push_back(logit / temperature);
    const auto p = probabilities(scaled);
    double below = 0;
    for (size_t i = 0; i < p.size(); ++i) {
      EXPECT_EQ(candidates.draw(temperature, below + 1e-6), static_cast<int32_t>(i));
      below += p[i];
      EXPECT_EQ(candidates.draw(temperature, below - 1e-6), static_cast<int32_t>(i));
    }
  }
}

// Over more than a chunk of summation, with weightless tokens in between: every token comes where the
// cumulative distribution says.
TEST(Candidates, DrawWalksLongRows) {
  std::vector<float> logits(2000, -3000.0f);
  std::vector<int32_t> with_weight;
  for (size_t i = 3; i < logits.size(); i += i < 700 ? 7 : 311) {
    logits[i] = 1.0f;
    with_weight.push_back(static_cast<int32_t>(i));
  }
  Row row(logits);
  const Candidates candidates = row.candidates();
  const auto n = static_cast<double>(with_weight.size());
  for (size_t i = 0; i < with_weight.size(); ++i) {
    EXPECT_EQ(candidates.draw(1.0f, (static_cast<double>(i) + 1e-9) / n), with_weight[i]);
    EXPECT_EQ(candidates.draw(1.0f, (static_cast<double>(i) + 1.0 - 1e-9) / n), with_weight[i]);
  }
  EXPECT_EQ(candidates.draw(1.0f, 1.0 - 0x1p-53), with_weight.back());
}

TEST(Candidates, DrawNeverTakesATokenWithoutWeight) {
  Row row({-2000.0f, 3.0f, -2000.0f});
  for (const double u : {0.0, 0.5, 1.0 - 0x1p-53}) EXPECT_EQ(row.candidates().draw(1.0f, u), 1);
  Row close({1.0f, 1.0001f});
  for (const double u : {0.0, 0.5, 1.0 - 0x1p-53}) EXPECT_EQ(close.candidates().draw(1e-30f, u), 1);
}

}  // namespace
}  // namespace quire
