// LocalTime: the wall-clock time a render sees, given by the caller so that rendering is a pure function.
// format_time: Python's strftime in the C locale.
#pragma once

#include <string>
#include <string_view>

namespace quire {

struct LocalTime {
  int year = 1970;
  int month = 1;  // 1 ... 12
  int day = 1;    // 1 ... 31
  int hour = 0;
  int minute = 0;
  int second = 0;
};

namespace jinja {

// Throws Failure (kUnsupported) for a directive outside the C standard's date and time set.
std::string format_time(std::string_view format, const LocalTime& time);

}  // namespace jinja
}  // namespace quire
