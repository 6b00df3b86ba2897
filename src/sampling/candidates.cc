#include "sampling/candidates.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "base/check.h"
#include "sampling/portable_math.h"

namespace quire {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLargest = std::numeric_limits<float>::max();

bool better(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

// exp of the distance to the best: the probability without its normalisation.
double weight(const Candidate& candidate, double best) { return portable_exp(candidate.logit - best); }

// Sums run over chunks, and inside a chunk in eight interleaved parts so that the compiler can use vectors.
// Both are constants: the order of additions depends on the candidates only.
constexpr size_t kChunk = 256;
constexpr size_t kWays = 8;

// Sum of exp((logit - best) / temperature) over one chunk.
double chunk_weight(std::span<const Candidate> chunk, double best, double temperature) {
  double partial[kWays] = {};
  size_t i = 0;
  for (; i + kWays <= chunk.size(); i += kWays) {
    for (size_t w = 0; w < kWays; ++w) partial[w] += portable_exp((chunk[i + w].logit - best) / temperature);
  }
  for (; i < chunk.size(); ++i) partial[0] += portable_exp((chunk[i].logit - best) / temperature);
  double sum = 0.0;
  for (const double p : partial) sum += p;
  return sum;
}

std::span<const Candidate> chunk_at(std::span<const Candidate> items, size_t begin) {
  return items.subspan(begin, std::min(kChunk, items.size() - begin));
}

double total_weight(std::span<const Candidate> items, double best, double temperature) {
  double total = 0.0;
  for (size_t begin = 0; begin < items.size(); begin += kChunk) {
    total += chunk_weight(chunk_at(items, begin), best, temperature);
  }
  return total;
}

// Puts the first n candidates by `before` in order at the front, given that the first n_sorted are. Returns
// how many are in order afterwards.
template <typename Before>
size_t extend_order(std::span<Candidate> items, size_t n_sorted, size_t n, Before before) {
  n = std::min(n, items.size());
  if (n <= n_sorted) return n_sorted;
  const auto from = items.begin() + static_cast<std::ptrdiff_t>(n_sorted);
  // Selecting a large part through a heap costs more than sorting everything.
  if (n >= items.size() / 4) {
    std::sort(from, items.end(), before);
    return items.size();
  }
  std::partial_sort(from, items.begin() + static_cast<std::ptrdiff_t>(n), items.end(), before);
  return n;
}

// Where a filter by mass does not know how many candidates it will need, it orders them in growing steps: few
// usually hold most of the mass.
size_t next_step(size_t n_sorted) { return std::max<size_t>(64, 4 * n_sorted); }

}  // namespace

Candidates::Candidates(std::span<Candidate> storage, std::span<const float> logits) : items_(storage.data()) {
  QUIRE_CHECK(storage.size() >= logits.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    const float logit = logits[i];
    items_[size_] = {.logit = logit > kLargest ? kLargest : logit, .id = static_cast<int32_t>(i)};
    size_ += logit > -kInfinity ? 1 : 0;
  }
}

void Candidates::sort_to(size_t n) { n_sorted_ = extend_order(all(), n_sorted_, n, better); }

float Candidates::largest() const {
  if (n_sorted_ > 0) return items_[0].logit;
  float largest = -kInfinity;
  for (const Candidate& candidate : items()) largest = std::max(largest, candidate.logit);
  return largest;
}

void Candidates::keep_top_k(size_t k) {
  if (k >= size_) return;
  sort_to(k);
  size_ = k;
  n_sorted_ = k;
}

void Candidates::keep_typical(float p) {
  if (size_ <= 1) return;
  const double best = largest();
  double total = 0.0;
  double weighted_logits = 0.0;
  for (const Candidate& candidate : items()) {
    const double w = weight(candidate, best);
    total += w;
    // A candidate far below the best has weight 0 and a finite distance, so this is never 0 * inf.
    weighted_logits += w * (candidate.logit - best);
  }
  // -ln p - H = (mean logit under p) - logit, so the distance to typical is that to the mean logit.
  const double typical = best + weighted_logits / total;
  const auto more_typical = [typical](const Candidate& a, const Candidate& b) {
    const double distance_a = std::fabs(a.logit - typical);
    const double distance_b = std::fabs(b.logit - typical);
    return distance_a != distance_b ? distance_a < distance_b : better(a, b);
  };
  size_t n_ordered = 0;
  double mass = 0.0;
  size_t n = 0;
  while (n < size_ && mass <= p * total) {
    if (n >= n_ordered) n_ordered = extend_order(all(), n_ordered, next_step(n_ordered), more_typical);
    mass += weight(items_[n++], best);
  }
  size_ = n;
  n_sorted_ = 0;
  sort_to(size_);
}

void Candidates::keep_top_p(float p) {
  if (size_ <= 1) return;
  const double best = largest();
  const double total = total_weight(items(), best, 1.0);
  double mass = 0.0;
  size_t n = 0;
  do {
    if (n >= n_sorted_) sort_to(next_step(n_sorted_));
    mass += weight(items_[n++], best);
  } while (n < size_ && mass < p * total);
  size_ = n;
  n_sorted_ = std::min(n_sorted_, n);
}

void Candidates::keep_min_p(float p) {
  if (size_ <= 1) return;
  const double best = largest();
  // As an f64 even the smallest positive float is normal, which portable_log needs.
  const double threshold = best + portable_log(p);
  Candidate* end = std::remove_if(items_, items_ + size_, [threshold](const Candidate& candidate) {
    return candidate.logit < threshold;
  });
  size_ = static_cast<size_t>(end - items_);
  // What is removed is worse than all that stays, so a sorted front stays one.
  n_sorted_ = std::min(n_sorted_, size_);
}

int32_t Candidates::draw(float temperature, double u) const {
  QUIRE_CHECK(size_ > 0);
  const double best = largest();
  const double t = temperature;
  const double target = u * total_weight(items(), best, t);
  // First the chunk that holds the target, then the candidate inside it. Rounding may put the target at the
  // very end of either; then the last one with a weight is meant.
  std::span<const Candidate> chosen;
  double before = 0.0;
  double mass = 0.0;
  for (size_t begin = 0; begin < size_ && mass <= target; begin += kChunk) {
    const std::span<const Candidate> chunk = chunk_at(items(), begin);
    const double chunk_mass = chunk_weight(chunk, best, t);
    if (chunk_mass == 0.0) continue;
    chosen = chunk;
    before = mass;
    mass += chunk_mass;
  }
  mass = before;
  int32_t id = -1;
  for (const Candidate& candidate : chosen) {
    const double w = portable_exp((candidate.logit - best) / t);
    if (w == 0.0) continue;
    id = candidate.id;
    mass += w;
    if (mass > target) break;
  }
  return id;
}

}  // namespace quire
