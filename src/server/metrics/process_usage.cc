#include "server/metrics/process_usage.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace quire::server {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

ProcessUsage process_usage() {
  ProcessUsage usage;
  int64_t size = 0, resident = 0;
  if (std::ifstream("/proc/self/statm") >> size >> resident)
    usage.resident_bytes = resident * ::sysconf(_SC_PAGESIZE);
  std::error_code error;
  const std::filesystem::directory_iterator files("/proc/self/fd", error);
  if (!error) usage.open_files = std::distance(begin(files), end(files)) - 1;  // less the one that looks
  rusage used{};
  if (::getrusage(RUSAGE_SELF, &used) == 0)
    usage.cpu_seconds = seconds(used.ru_utime) + seconds(used.ru_stime);
  return usage;
}

}  // namespace quire::server
