// write_all(): bytes to a file descriptor, without stdio. Thread safe, and safe in signal handlers.
#pragma once

#include <cstddef>
#include <string_view>

namespace quire {

struct WriteResult {
  size_t n_written = 0;
  int error = 0;  // errno of what stopped it; 0 = everything was written
};

// Until everything is written or a write fails; signals do not stop it.
WriteResult write_all(int fd, std::string_view bytes);

}  // namespace quire
