// TextIndex: which number a text has (token or symbol ids by their text).
//
// Open addressing over texts that the caller keeps alive (a deque of strings, a vocabulary).
// Filled once, then immutable and thread safe.
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
    Slot& slot = slots_[locate(text)];
    if (slot.value < 0) {
      slot = {text.data(), static_cast<uint32_t>(text.size()), value};
      ++size_;
    }
    return slot.value;
  }

  // The number of `text`, or -1.
  int32_t find(std::string_view text) const { return slots_[locate(text)].value; }

 private:
  struct Slot {
    const char* data = nullptr;
    uint32_t size = 0;
    int32_t value = -1;
  };

  static size_t capacity_for(size_t n) {
    size_t capacity = 16;
    while (capacity < 2 * n + 2) capacity *= 2;
    return capacity;
  }
  size_t locate(std::string_view text) const {
    const size_t mask = slots_.size() - 1;
    size_t at = hash_text(text) & mask;
    while (slots_[at].value >= 0 &&
           (slots_[at].size != text.size() || std::memcmp(slots_[at].data, text.data(), text.size()) != 0)) {
      at = (at + 1) & mask;
    }
    return at;
  }
  void rehash(size_t capacity) {
    std::vector<Slot> old(capacity);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.value >= 0) slots_[locate({slot.data, slot.size})] = slot;
    }
  }

  std::vector<Slot> slots_;
  size_t size_ = 0;
};

}  // namespace quire::tokenizer
