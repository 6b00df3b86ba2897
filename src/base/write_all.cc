#include "base/write_all.h"

#include <unistd.h>

#include <cerrno>

namespace quire {

WriteResult write_all(int fd, std::string_view bytes) {
  WriteResult result;
  while (result.n_written < bytes.size()) {
    const ssize_t n = ::write(fd, bytes.data() + result.n_written, bytes.size() - result.n_written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      result.error = errno;
      break;
    }
    result.n_written += static_cast<size_t>(n);
  }
  return result;
}

}  // namespace quire
