// RequestTrace: every HTTP request as a span of the trace, named for its route. Thread safe; borrows the
// file.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>

#include "base/trace_file.h"
#include "server/log/access_log.h"

namespace quire::server {

class RequestTrace {
 public:
  explicit RequestTrace(TraceFile& file) : file_(file) {}

  void write(const AccessEntry& entry);

 private:
  int32_t kind_of(const AccessEntry& entry);

  TraceFile& file_;
  std::atomic<uint64_t> last_id_{0};
  std::mutex mutex_;
  std::map<std::string, int32_t> kinds_;  // by name: methods and routes there are, so few
};

}  // namespace quire::server
