#include "measure/available_memory.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace quire {
namespace {

std::optional<uint64_t> read_number(const std::string& path) {
  std::ifstream file(path);
  uint64_t number = 0;  // "max" is no number
  if (file >> number) return number;
  return std::nullopt;
}

// Of the control group (version 2) that this process is in; its own and every one above may set a limit.
std::optional<uint64_t> group_memory() {
  std::ifstream file("/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line) && line.rfind("0::", 0) != 0) {
  }
  if (line.rfind("0::", 0) != 0) return std::nullopt;
  std::optional<uint64_t> least;
  for (std::string group = line.substr(3);; group.erase(group.rfind('/'))) {
    const std::string folder = "/sys/fs/cgroup" + group;
    const std::optional<uint64_t> limit = read_number(folder + "/memory.max");
    const std::optional<uint64_t> used = read_number(folder + "/memory.current");
    if (limit && used) {
      const uint64_t left = *limit - std::min(*limit, *used);
      least = std::min(least.value_or(left), left);
    }
    if (group.find('/') == std::string::npos) break;
  }
  return least;
}

}  // namespace

Result<uint64_t> available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  uint64_t kilobytes = 0;
  std::string rest;
  while (file >> key >> kilobytes && std::getline(file, rest)) {
    if (key != "MemAvailable:") continue;
    const uint64_t bytes = kilobytes * 1024;
    return std::min(bytes, group_memory().value_or(bytes));
  }
  return make_error(ErrorCode::kIo, "/proc/meminfo does not say how much memory is available");
}

}  // namespace quire
