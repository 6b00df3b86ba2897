#include "server/log/access_log.h"

#include <cerrno>
#include <cstring>

#include "server/api/api_error.h"

namespace quire::server {

Result<std::unique_ptr<AccessLog>> AccessLog::open(const std::string& path) {
  std::FILE* file = nullptr;
  if (path == "-") {
    file = stderr;
  } else if (!path.empty()) {
    file = std::fopen(path.c_str(), "ae");
    if (file == nullptr)
      return make_error(ErrorCode::kIo, "cannot write the access log {}: {}", path, std::strerror(errno));
  }
  return std::unique_ptr<AccessLog>(new AccessLog(file));
}

AccessLog::~AccessLog() {
  if (file_ != nullptr && file_ != stderr) std::fclose(file_);
}

void AccessLog::write(const AccessEntry& entry) {
  if (file_ == nullptr) return;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  Json line = {{"time", std::chrono::duration<double>(now).count()},
               {"id", entry.id},
               {"tenant", entry.tenant},
               {"method", entry.method},
               {"path", entry.path},
               {"status", entry.reply.status},
               {"bytes", entry.reply.bytes},
               {"seconds", entry.seconds},
               {"client_left", entry.reply.gone}};
  if (entry.accounting != nullptr) {
    line["prompt_tokens"] = entry.accounting->prompt_tokens;
    line["cached_tokens"] = entry.accounting->cached_tokens;
    line["completion_tokens"] = entry.accounting->completion_tokens;
    line["queued_seconds"] = entry.accounting->queued_seconds;
    line["prompt_seconds"] = entry.accounting->prompt_seconds;
  }
  const std::string text = dump(line) + "\n";
  const std::lock_guard lock(mutex_);
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size() || std::fflush(file_) != 0) {
    ++n_lost_;
    std::clearerr(file_);
  }
}

int64_t AccessLog::n_lost() const {
  const std::lock_guard lock(mutex_);
  return n_lost_;
}

}  // namespace quire::server
