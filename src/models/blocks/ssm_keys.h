// What the families with a state have in common in their keys: bounds of sizes, and divisions that must come
// out even.
//
// Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "models/blocks/keys.h"

namespace quire {

// Far above any model, low enough that products of a few of them stay inside int64.
inline constexpr int64_t kMaxSsmWidth = int64_t{1} << 22;
inline constexpr int64_t kMaxSsmState = 16384;

// Errors: kCorrupt when `value`, of the key `name`, is no multiple of `divisor`, of the key `divisor_name`.
inline Status expect_multiple(const Keys& keys, std::string_view name, int64_t value,
                              std::string_view divisor_name, int64_t divisor) {
  if (value % divisor == 0) return {};
  return make_error(ErrorCode::kCorrupt, "{} is {}, expected a multiple of {} = {}", keys.full(name), value,
                    keys.full(divisor_name), divisor);
}

}  // namespace quire
