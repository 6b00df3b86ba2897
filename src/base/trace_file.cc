#include "base/trace_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/write_all.h"

namespace quire {
namespace {

// Half a second of the phases of a small model.
constexpr size_t kMaxWaiting = 16384;
constexpr std::chrono::milliseconds kWriteEvery{100};

// The track of those that record spans without an id, and its name.
constexpr std::string_view kHead =
    "[\n{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"quire\"}},\n"
    "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":\"engine\"}}";

std::string plain(std::string_view text) {
  std::string out(text);
  std::ranges::replace_if(
      out, [](char c) { return c < ' ' || c > '~' || c == '"' || c == '\\'; }, '?');
  return out;
}

std::string_view text_of(const TraceFile::Span& span) {
  return {span.text.data(), ::strnlen(span.text.data(), span.text.size())};
}

// Microseconds, as the format wants them.
void append_time(std::string& out, std::chrono::nanoseconds time) {
  const auto whole = static_cast<uint64_t>(std::max<int64_t>(time.count(), 0));
  const auto rest = static_cast<unsigned>(whole % 1000);
  const char fraction[] = {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
                           static_cast<char>('0' + rest % 10)};
  const fmt::format_int digits(whole / 1000);
  out.append(digits.data(), digits.size()).append(fraction, sizeof fraction);
}

void append_arguments(std::string& out, const TraceFile::Kind& kind, const TraceFile::Span& span) {
  out += ",\"args\":{";
  const char* separator = "";
  for (size_t i = 0; i < kind.arguments.size(); ++i) {
    out.append(separator).append(kind.arguments[i]);
    const fmt::format_int digits(span.arguments[i]);
    out.append(digits.data(), digits.size());
    separator = ",";
  }
  if (const std::string_view text = text_of(span); !text.empty())
    out.append(separator).append("\"id\":\"").append(plain(text)).append("\"");
  out += '}';
}

}  // namespace

Result<std::unique_ptr<TraceFile>> TraceFile::create(const std::string& path, LogSink& log) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0)
    return make_error(ErrorCode::kIo, "{}: cannot write the trace: {}", path, std::strerror(errno));
  return std::unique_ptr<TraceFile>(new TraceFile(descriptor, path, log));
}

TraceFile::TraceFile(int descriptor, std::string path, LogSink& log)
    : descriptor_(descriptor), path_(std::move(path)), log_(log) {
  waiting_.reserve(kMaxWaiting);
  writing_.reserve(kMaxWaiting);
  thread_ = std::thread([this] { write_on(); });
}

TraceFile::~TraceFile() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_one();
  thread_.join();
  ::close(descriptor_);
  if (n_dropped_ > 0)
    quire::log(log_, LogLevel::kWarning, "{}: the trace lacks {} spans that came too fast", path_,
               n_dropped_);
}

int32_t TraceFile::add_kind(Kind kind) {
  QUIRE_CHECK(kind.arguments.size() <= kMaxArguments);
  kind.name = plain(kind.name);
  kind.category = plain(kind.category);
  for (std::string& name : kind.arguments) name = fmt::format("\"{}\":", plain(name));  // as it is written
  const std::lock_guard lock(mutex_);
  kinds_.push_back(std::move(kind));
  return static_cast<int32_t>(kinds_.size()) - 1;
}

void TraceFile::record(const Span& span) {
  if (failed_) return;
  const std::lock_guard lock(mutex_);
  if (waiting_.size() == kMaxWaiting) {
    ++n_dropped_;
    return;
  }
  waiting_.push_back(span);
  if (waiting_.size() == kMaxWaiting / 2) changed_.notify_one();
}

void TraceFile::write_on() {
  write(kHead);
  std::string text;
  for (bool last = false; !last;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, kWriteEvery, [&] { return closing_ || waiting_.size() >= kMaxWaiting / 2; });
      last = closing_;
      std::swap(waiting_, writing_);
    }
    text.clear();
    for (const Span& span : writing_) append(span, text);
    writing_.clear();
    if (last) text += "\n]\n";
    if (!text.empty()) write(text);
  }
}

void TraceFile::append(const Span& span, std::string& out) {
  const Kind* kind = nullptr;
  {
    const std::lock_guard lock(mutex_);
    kind = &kinds_[static_cast<size_t>(span.kind)];  // stays where it is
  }
  const auto event = [&](const char* phase, Clock::time_point time) {
    out.append(",\n{\"ph\":\"").append(phase).append("\",\"name\":\"").append(kind->name);
    out.append("\",\"cat\":\"").append(kind->category).append("\",\"pid\":1,\"tid\":1,\"ts\":");
    append_time(out, time - start_);
  };
  if (span.id == 0) {
    event("X", span.begin);
    out += ",\"dur\":";
    append_time(out, span.end - span.begin);
  } else {
    event("b", span.begin);
    out += fmt::format(",\"id\":\"{:#x}\"", span.id);
  }
  append_arguments(out, *kind, span);
  out += '}';
  if (span.id == 0) return;
  event("e", span.end);
  out += fmt::format(",\"id\":\"{:#x}\"}}", span.id);
}

void TraceFile::write(std::string_view text) {
  if (failed_) return;
  const WriteResult written = write_all(descriptor_, text);
  if (written.error == 0) {
    size_ += static_cast<int64_t>(text.size());
    return;
  }
  failed_ = true;
  quire::log(log_, LogLevel::kWarning, "{}: cannot write the trace: {}; it ends here", path_,
             std::strerror(written.error));
  // Whole events only: readers forgive a missing bracket, not half a line. Impossible for a device.
  [[maybe_unused]] const int ignored = ::ftruncate(descriptor_, size_);
}

}  // namespace quire
