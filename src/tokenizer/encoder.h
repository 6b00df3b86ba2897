// FragmentEncoder: turns one run of ordinary text (no special tokens in it) into ids. One implementation per
// kind.
//
// Implementations are immutable and thread safe; what they need while running lives in the caller's
// EncodeScratch.
#pragma once

#include <string_view>
#include <vector>

#include "tokenizer/token.h"

namespace quire::tokenizer {

struct EncodeScratch;

class FragmentEncoder {
 public:
  virtual ~FragmentEncoder() = default;
  // Appends the ids of `text`, which is not empty and may be any bytes, to `ids`.
  virtual void encode(std::string_view text, EncodeScratch& scratch, std::vector<TokenId>& ids) const = 0;
};

}  // namespace quire::tokenizer
