// AccessLog: one JSON line for every request, to standard error or a file.
//
// Thread safe. A line that cannot be written (disk full) is dropped and counted; requests never wait for the
// log's trouble to end.
#pragma once

#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "server/answer/accounting.h"
#include "server/http/message.h"

namespace quire::server {

struct AccessEntry {
  std::string id = {}, tenant = {}, method = {}, path = {};
  ReplyRecord reply = {};
  double seconds = 0;
  const Accounting* accounting = nullptr;  // of answers
};

class AccessLog {
 public:
  // path: "-" for standard error, empty for no log. Errors: kIo.
  static Result<std::unique_ptr<AccessLog>> open(const std::string& path);
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  void write(const AccessEntry& entry);
  int64_t n_lost() const;  // lines

 private:
  explicit AccessLog(std::FILE* file) : file_(file) {}
  mutable std::mutex mutex_;
  std::FILE* file_;  // null: no log
  int64_t n_lost_ = 0;
};

}  // namespace quire::server
