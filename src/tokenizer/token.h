// Names shared by everything that handles token ids. Values only, thread safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quire {

using TokenId = int32_t;
inline constexpr TokenId kNoToken = -1;

// `tokenizer.ggml.token_type`, values as in the file.
enum class TokenType : uint8_t {
  kUndefined = 0,
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6,
};

// What a token can be singled out for. kCls is the same token as kBos (WordPiece files name it so).
enum class SpecialRole : uint8_t {
  kBos,
  kEos,
  kEot,  // end of turn
  kEom,  // end of message
  kUnk,
  kSep,
  kPad,
  kMask,
  kFimPre,  // fill in the middle: prefix, suffix, middle, padding, repository, file separator
  kFimSuf,
  kFimMid,
  kFimPad,
  kFimRep,
  kFimSep,
};
inline constexpr size_t kSpecialRoles = 14;

}  // namespace quire
