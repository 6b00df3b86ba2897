#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace quire {

void check_failed(const char* file, int line, const char* expression, const char* detail) {
  const bool has_detail = detail[0] != '\0';
  std::fprintf(stderr, "%s:%d: check failed: %s%s%s%s\n", file, line, expression, has_detail ? " (" : "",
               detail, has_detail ? ")" : "");
  std::fflush(stderr);
  std::abort();
}

}  // namespace quire
