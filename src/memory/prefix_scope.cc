#include "memory/prefix_scope.h"

#include <algorithm>

namespace quire {

PrefixScope::PrefixScope(std::string_view domain, std::string_view extra) {
  auto out = bytes_.begin();
  for (const std::string_view part : {domain, extra}) {
    *out++ = static_cast<uint8_t>(part.size());
    out = std::copy(part.begin(), part.end(), out);
  }
}

Result<PrefixScope> PrefixScope::create(std::string_view domain, std::string_view extra) {
  if (domain.size() > kBytes - 2 || extra.size() > kBytes - 2 - domain.size()) {
    return make_error(ErrorCode::kInvalidArgument,
                      "a trust domain of {} bytes and an extra key of {}, together at most {}", domain.size(),
                      extra.size(), kBytes - 2);
  }
  return PrefixScope(domain, extra);
}

}  // namespace quire
