#include "cli/standard_streams.h"

#include <unistd.h>

#include <cerrno>

namespace quire::cli {

WriteResult write_some(int fd, std::string_view bytes) {
  size_t n_written = 0;
  while (n_written < bytes.size()) {
    const ssize_t n = ::write(fd, bytes.data() + n_written, bytes.size() - n_written);
    if (n < 0) return {.n_written = n_written, .error = errno};
    n_written += static_cast<size_t>(n);
  }
  return {.n_written = n_written};
}

void write_standard_error(std::string_view bytes) { write_all(STDERR_FILENO, bytes); }

}  // namespace quire::cli
