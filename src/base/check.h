// QUIRE_CHECK: programmer errors. A failed check prints the expression and aborts, in every build type.
//
// Never reachable from user input: files, requests and options report through Result (result.h).
// QUIRE_DCHECK goes with NDEBUG. Release keeps it: its uses are one comparison per decoded row of values.
#pragma once

namespace quire {

// Prints "file:line: check failed: expression (detail)" to standard error and aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* expression, const char* detail);

}  // namespace quire

#define QUIRE_CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::quire::check_failed(__FILE__, __LINE__, #condition, ""))

#ifdef NDEBUG
#define QUIRE_DCHECK(condition) void(0)
#else
#define QUIRE_DCHECK(condition) QUIRE_CHECK(condition)
#endif
