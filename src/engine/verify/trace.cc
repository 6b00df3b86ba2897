#include "engine/verify/trace.h"

#include <algorithm>
#include <bit>

namespace quire::verify {
namespace {

// FNV-1a over words, with a final mix so that the last words reach every bit.
constexpr uint64_t kOffset = 0xcbf29ce484222325, kPrime = 0x100000001b3;

uint64_t add(uint64_t hash, uint64_t word) { return (hash ^ word) * kPrime; }
uint64_t finish(uint64_t hash) {
  hash ^= hash >> 32;
  hash *= 0x9e3779b97f4a7c15;
  return hash ^ (hash >> 29);
}

}  // namespace

void Trace::set(int64_t position, std::span<const float> logits) {
  const auto i = static_cast<size_t>(position);
  if (rows.size() <= i) rows.resize(i + 1);
  rows[i] = hash_logits(logits);
}

Comparison& Comparison::operator+=(const Comparison& other) {
  compared += other.compared;
  different += other.different;
  return *this;
}

uint64_t hash_logits(std::span<const float> logits) {
  uint64_t hash = kOffset;
  for (const float logit : logits) hash = add(hash, std::bit_cast<uint32_t>(logit));
  return std::max<uint64_t>(1, finish(hash));
}

uint64_t digest(std::span<const Trace> traces) {
  uint64_t hash = kOffset;
  for (const Trace& trace : traces) {
    for (const uint64_t row : trace.rows) hash = add(hash, row);
  }
  return finish(hash);
}

Comparison compare(const Trace& reference, const Trace& other) {
  Comparison result;
  for (size_t i = 0; i < std::min(reference.rows.size(), other.rows.size()); ++i) {
    if (reference.rows[i] == 0 || other.rows[i] == 0) continue;
    ++result.compared;
    result.different += reference.rows[i] != other.rows[i] ? 1 : 0;
  }
  for (size_t i = 0; i < std::min(reference.answer.size(), other.answer.size()); ++i) {
    ++result.compared;
    result.different += reference.answer[i] != other.answer[i] ? 1 : 0;
  }
  return result;
}

}  // namespace quire::verify
