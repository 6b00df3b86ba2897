// PrefixScope: who may share pages with whom, besides having sent the same tokens.
//
// Two sequences share only when their scopes are equal byte for byte. The trust domain comes from the
// credential of a request and never from its content, or a stranger could learn from timing what others sent.
// Plain value.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace quire {

class PrefixScope {
 public:
  static constexpr size_t kBytes = 64;

  // The one anonymous domain, nothing extra.
  PrefixScope() : PrefixScope("", "") {}

  // extra: whatever else decides the content of pages beside token ids (an adapter, a digest of images).
  // Errors: kInvalidArgument when both together are longer than 62 bytes.
  static Result<PrefixScope> create(std::string_view domain, std::string_view extra = "");

  // Length and bytes of the domain, length and bytes of the extra key, zeros: no two pairs are alike.
  const std::array<uint8_t, kBytes>& bytes() const { return bytes_; }
  friend bool operator==(const PrefixScope&, const PrefixScope&) = default;

 private:
  PrefixScope(std::string_view domain, std::string_view extra);
  std::array<uint8_t, kBytes> bytes_ = {};
};

}  // namespace quire
