#include "cli/standard_input.h"

#include <cstdio>
#include <vector>

namespace quire::cli {

Result<std::string> read_standard_input(size_t max_bytes) {
  std::string text;
  std::vector<char> buffer(size_t{64} << 10);
  while (const size_t n = std::fread(buffer.data(), 1, buffer.size(), stdin)) {
    text.append(buffer.data(), n);
    if (text.size() > max_bytes) {
      return make_error(ErrorCode::kInvalidArgument, "standard input holds more than {} MiB",
                        max_bytes >> 20);
    }
  }
  if (std::ferror(stdin) != 0) return make_error(ErrorCode::kIo, "cannot read standard input");
  return text;
}

}  // namespace quire::cli
