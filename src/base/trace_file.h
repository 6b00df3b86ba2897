// TraceFile: what took how long, as a JSON trace that Perfetto and chrome://tracing open.
//
// record() copies a span of fixed size into a buffer and never waits for the disk; a thread of the file's own
// writes. Spans that come faster than that are dropped and counted. When the disk refuses, tracing ends with
// one warning, what is in the file stays readable, and whoever records goes on unhindered. Thread safe.
// Format: "Trace Event Format" (Google, 2016), complete ("X") and nestable asynchronous ("b", "e") events.
//
//   QUIRE_ASSIGN_OR_RETURN(std::unique_ptr<TraceFile> trace, TraceFile::create("serve.json", log));
//   const int32_t kind = trace->add_kind({.name = "step", .category = "engine", .arguments = {"rows"}});
//   trace->record({.kind = kind, .begin = begin, .end = TraceFile::Clock::now(), .arguments = {8}});
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/result.h"

namespace quire {

class TraceFile {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr size_t kMaxArguments = 4;

  // What many spans have in common. Names are printable ASCII; other bytes become '?'.
  struct Kind {
    std::string name = {};
    std::string category = {};
    std::vector<std::string> arguments = {};  // their names, at most kMaxArguments
  };
  struct Span {
    int32_t kind = 0;  // as add_kind() gave it
    // 0: on the track of the recording thread's work, where spans nest by time. Others may overlap anything;
    // those of one category and id nest.
    uint64_t id = 0;
    Clock::time_point begin = {}, end = {};
    std::array<int64_t, kMaxArguments> arguments = {};
    std::array<char, 72> text = {};  // ends at the first zero; empty = no such argument
  };

  // Errors: kIo.
  static Result<std::unique_ptr<TraceFile>> create(const std::string& path, LogSink& log);
  ~TraceFile();  // writes what is left
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  int32_t add_kind(Kind kind);  // allocates
  void record(const Span& span);

 private:
  TraceFile(int descriptor, std::string path, LogSink& log);
  void write_on();
  void append(const Span& span, std::string& out);
  void write(std::string_view text);

  const int descriptor_;
  const std::string path_;
  LogSink& log_;
  const Clock::time_point start_ = Clock::now();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Span> waiting_;
  std::deque<Kind> kinds_;
  int64_t n_dropped_ = 0;
  bool closing_ = false;
  std::atomic<bool> failed_{false};

  // Of the writing thread.
  std::vector<Span> writing_;
  int64_t size_ = 0;  // of the file
  std::thread thread_;
};

}  // namespace quire
