// ProcessUsage: what the operating system says of this process. Source: proc(5).
#pragma once

#include <cstdint>

namespace quire::server {

struct ProcessUsage {
  int64_t resident_bytes = 0;  // mapped files included
  int64_t open_files = 0;
  double cpu_seconds = 0;  // of all threads
};

// Zeros where /proc is not there.
ProcessUsage process_usage();

}  // namespace quire::server
