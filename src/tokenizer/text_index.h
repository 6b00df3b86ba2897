// TextIndex: which number a text has (token or symbol ids by their text).
//
// Open addressing over texts that the caller keeps alive (a deque of strings, a vocabulary); values are
// dense. Filled once, then immutable and thread safe.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace quire::tokenizer {

// A fast hash of short byte strings; not for hostile keys that outlive a load (tables here are sized at
// load).
inline uint64_t hash_text(std::string_view text) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15u;
  uint64_t hash = text.size() * kMultiplier;
  const char* p = text.data();
  size_t left = text.size();
  for (; left >= 8; p += 8, left -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 32;
  }
  if (left > 0) {
    uint64_t word = 0;
    std::memcpy(&word, p, left);
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 32;
  }
  hash *= kMultiplier;
  return hash ^ (hash >> 29);
}

class TextIndex {
 public:
  explicit TextIndex(size_t expected = 0) { rehash(capacity_for(expected)); }

  // Adds `text` with number `value` (>= 0), or returns the number it has already. The bytes must stay alive.
  int32_t insert(std::string_view text, int32_t value) {
    if (2 * (size_ + 1) > slots_.size()) rehash(2 * slots_.size());
    const uint64_t hash = hash_text(text);
    Slot& slot = slots_[locate(text, hash)];
    if (slot.value >= 0) return slot.value;
    slot = {tag_of(hash), value};
    if (static_cast<size_t>(value) >= texts_.size()) texts_.resize(static_cast<size_t>(value) + 1);
    texts_[static_cast<size_t>(value)] = text;
    ++size_;
    return value;
  }

  // The number of `text`, or -1.
  int32_t find(std::string_view text) const { return slots_[locate(text, hash_text(text))].value; }

 private:
  // Small, so that most questions with the answer "no" cost one cache line and never look at a text.
  struct Slot {
    uint32_t tag = 0;
    int32_t value = -1;
  };

  static uint32_t tag_of(uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }
  static size_t capacity_for(size_t n) {
    size_t capacity = 16;
    while (capacity < 2 * n + 2) capacity *= 2;
    return capacity;
  }
  // The slot of `text`, or the free one where it would go.
  size_t locate(std::string_view text, uint64_t hash) const {
    const size_t mask = slots_.size() - 1;
    const uint32_t tag = tag_of(hash);
    size_t at = hash & mask;
    for (; slots_[at].value >= 0; at = (at + 1) & mask) {
      if (slots_[at].tag == tag && texts_[static_cast<size_t>(slots_[at].value)] == text) break;
    }
    return at;
  }
  void rehash(size_t capacity) {
    std::vector<Slot> old(capacity);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.value < 0) continue;
      const std::string_view text = texts_[static_cast<size_t>(slot.value)];
      slots_[locate(text, hash_text(text))] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::vector<std::string_view> texts_;  // by value
  size_t size_ = 0;
};

}  // namespace quire::tokenizer
