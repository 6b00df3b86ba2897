// Candidates: the tokens a sample may still choose, and the filters that narrow them.
//
// A view of scratch memory owned by the caller. The order is a total one (higher logit first, lower id on
// ties) and is established only as far as a filter needs it. Probabilities are softmax over the current
// candidates, in f64. Every filter keeps at least one candidate. One thread at a time; results depend on the
// values only.
//
//   Candidates candidates(storage, logits);
//   candidates.keep_top_k(40);
//   candidates.keep_top_p(0.95f);
//   int32_t token = candidates.draw(temperature, u);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace quire {

struct Candidate {
  float logit;
  int32_t id;
};

class Candidates {
 public:
  // All tokens whose logit is above -inf (and no NaN), in id order; +inf counts as the largest float.
  // `storage` has room for logits.size() candidates and must outlive this object.
  Candidates(std::span<Candidate> storage, std::span<const float> logits);

  // Empty only when no logit was above -inf. Best first for the first n_sorted() of them.
  std::span<const Candidate> items() const { return {items_, size_}; }
  size_t n_sorted() const { return n_sorted_; }

  // Keeps the k best; k >= 1.
  void keep_top_k(size_t k);

  // Keeps the candidates whose information content -ln p is closest to the entropy, as few as have a total
  // probability above p, in [0, 1). Source: Meister et al., "Locally Typical Sampling", 2022.
  void keep_typical(float p);

  // Keeps the best ones, as few as have a total probability of at least p, in [0, 1].
  // Source: Holtzman et al., "The Curious Case of Neural Text Degeneration", 2020.
  void keep_top_p(float p);

  // Keeps those whose probability is at least p, in (0, 1], times that of the best.
  // Source: Nguyen et al., "Turning Up the Heat: Min-p Sampling", 2024.
  void keep_min_p(float p);

  // The token at u, in [0, 1), of the cumulative distribution of softmax(logit / temperature) over the
  // candidates in their current order. temperature > 0; there must be a candidate.
  int32_t draw(float temperature, double u) const;

 private:
  std::span<Candidate> all() { return {items_, size_}; }
  // Brings the n best candidates into order at the front.
  void sort_to(size_t n);
  float largest() const;

  Candidate* items_;
  size_t size_ = 0;
  size_t n_sorted_ = 0;
};

}  // namespace quire
