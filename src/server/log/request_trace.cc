#include "server/log/request_trace.h"

#include <algorithm>

namespace quire::server {

int32_t RequestTrace::kind_of(const AccessEntry& entry) {
  const std::string name = (entry.route == "other" ? "" : entry.method + " ") + entry.route;
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = kinds_.try_emplace(name);
  if (is_new) at->second = file_.add_kind({name, "http", {"status", "bytes"}});
  return at->second;
}

void RequestTrace::write(const AccessEntry& entry) {
  const auto end = TraceFile::Clock::now();
  const auto lasted = std::chrono::duration<double>(entry.seconds);
  TraceFile::Span span{.kind = kind_of(entry),
                       .id = ++last_id_,
                       .begin = end - std::chrono::duration_cast<TraceFile::Clock::duration>(lasted),
                       .end = end,
                       .arguments = {entry.reply.status, static_cast<int64_t>(entry.reply.bytes)}};
  std::copy_n(entry.id.begin(), std::min(entry.id.size(), span.text.size()), span.text.begin());
  file_.record(span);
}

}  // namespace quire::server
