#include "server/log/access_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/write_all.h"
#include "server/api/api_error.h"

namespace quire::server {
namespace {

std::string line_of(const AccessEntry& entry) {
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
  return dump(line) + "\n";
}

}  // namespace

Result<std::unique_ptr<AccessLog>> AccessLog::open(const std::string& path, LogSink& log) {
  int descriptor = path == "-" ? STDERR_FILENO : -1;
  if (!path.empty() && path != "-") {
    descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (descriptor < 0)
      return make_error(ErrorCode::kIo, "{}: cannot write the access log: {}", path, std::strerror(errno));
  }
  return std::unique_ptr<AccessLog>(new AccessLog(descriptor, path, log));
}

AccessLog::~AccessLog() {
  if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
}

void AccessLog::write(const AccessEntry& entry) {
  if (descriptor_ < 0) return;
  const std::string line = line_of(entry);
  const std::lock_guard lock(mutex_);
  append(half_line_ ? "\n" + line : line);
}

void AccessLog::append(std::string_view line) {
  const WriteResult written = write_all(descriptor_, line);
  if (written.n_written > 0) half_line_ = written.error != 0;
  if (written.error != 0) {
    if (++n_lost_ == 1)
      quire::log(log_, LogLevel::kWarning,
                 "{}: cannot write the access log: {}; its lines are lost until that ends", path_,
                 std::strerror(written.error));
  } else if (n_lost_ > 0) {
    quire::log(log_, LogLevel::kWarning, "{}: the access log can be written again; {} lines are lost", path_,
               n_lost_);
    n_lost_ = 0;
  }
}

}  // namespace quire::server
