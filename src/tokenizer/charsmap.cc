#include "tokenizer/charsmap.h"

#include <cstring>

namespace quire::tokenizer {
namespace {

uint32_t base_of(uint32_t unit) { return (unit >> 10) << ((unit & (1u << 9)) >> 6); }
uint32_t label_of(uint32_t unit) { return unit & ((1u << 31) | 0xFF); }
bool has_value(uint32_t unit) { return ((unit >> 8) & 1) != 0; }
uint32_t value_of(uint32_t unit) { return unit & ((1u << 31) - 1); }

}  // namespace

Result<Charsmap> Charsmap::parse(std::string_view blob) {
  Charsmap map;
  if (blob.empty()) return map;
  uint32_t size = 0;
  if (blob.size() >= sizeof size) std::memcpy(&size, blob.data(), sizeof size);
  if (blob.size() < sizeof size || size > blob.size() - sizeof size || size % sizeof(uint32_t) != 0 ||
      size == 0) {
    return make_error(ErrorCode::kCorrupt,
                      "tokenizer.ggml.precompiled_charsmap: a trie of {} bytes does not fit a blob of {}",
                      size, blob.size());
  }
  map.units_.resize(size / sizeof(uint32_t));
  std::memcpy(map.units_.data(), blob.data() + sizeof size, size);
  map.replacements_ = std::string(blob.substr(sizeof size + size));
  return map;
}

Charsmap::Match Charsmap::longest_prefix(std::string_view text) const {
  Match best;
  if (units_.empty()) return best;
  uint32_t value = 0;
  uint32_t node = base_of(units_[0]);
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == 0) break;
    node ^= byte;
    if (node >= units_.size() || label_of(units_[node]) != byte) break;
    const uint32_t unit = units_[node];
    node ^= base_of(unit);
    if (has_value(unit)) {
      if (node >= units_.size()) break;
      best.length = i + 1;
      value = value_of(units_[node]);
    }
  }
  if (best.length == 0) return best;
  const size_t end = value < replacements_.size() ? replacements_.find('\0', value) : std::string::npos;
  if (end == std::string::npos) return {};
  best.replacement = std::string_view(replacements_).substr(value, end - value);
  return best;
}

}  // namespace quire::tokenizer
