// AccessLog: one JSON line for every request, to standard error or a file.
//
// Thread safe. A line that cannot be written (disk full) is dropped and counted, with one warning when that
// begins and one when it is over; requests never wait for the log's trouble to end.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/result.h"
#include "server/answer/accounting.h"
#include "server/http/message.h"

namespace quire::server {

struct AccessEntry {
  std::string id = {}, tenant = {}, method = {}, path = {};
  std::string route = {};  // a path of the route table, or "other"
  ReplyRecord reply = {};
  double seconds = 0;
  const Accounting* accounting = nullptr;  // of answers
};

class AccessLog {
 public:
  // path: "-" for standard error, empty for no log. Errors: kIo.
  static Result<std::unique_ptr<AccessLog>> open(const std::string& path, LogSink& log);
  ~AccessLog();
  AccessLog(const AccessLog&) = delete;
  AccessLog& operator=(const AccessLog&) = delete;

  void write(const AccessEntry& entry);

 private:
  AccessLog(int descriptor, std::string path, LogSink& log)
      : descriptor_(descriptor), path_(std::move(path)), log_(log) {}
  void append(std::string_view line);

  const int descriptor_;  // -1: no log
  const std::string path_;
  LogSink& log_;
  std::mutex mutex_;
  int64_t n_lost_ = 0;      // lines, since the last that could be written
  bool half_line_ = false;  // is the last thing in the file
};

}  // namespace quire::server
