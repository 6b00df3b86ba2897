// Charsmap: the normaliser that SentencePiece stores as a blob: longest matching prefix -> replacement.
//
// Layout: u32 size, `size` bytes of a double-array trie (u32 units, little-endian; base in bits 10-30 shifted
// by 8 more when bit 9 is set, bit 8 "has a value", label in bits 0-7 with bit 31 clear; a value unit holds
// 31 bits), then NUL-terminated replacements. Nothing in the blob is trusted: a unit or text outside it ends
// the search. Immutable, thread safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace quire::tokenizer {

class Charsmap {
 public:
  Charsmap() = default;  // replaces nothing
  // Errors: kCorrupt (sizes that do not fit the blob).
  static Result<Charsmap> parse(std::string_view blob);

  struct Match {
    size_t length = 0;             // bytes matched; 0: nothing
    std::string_view replacement;  // valid while the Charsmap lives
  };
  Match longest_prefix(std::string_view text) const;

 private:
  std::vector<uint32_t> units_;
  std::string replacements_;
};

}  // namespace quire::tokenizer
