#include "tokenizer/templates/clock.h"

#include <array>

#include "tokenizer/templates/failure.h"

namespace quire::jinja {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {"January",   "February", "March",    "April",
                                                      "May",       "June",     "July",     "August",
                                                      "September", "October",  "November", "December"};
constexpr std::array<std::string_view, 7> kWeekdays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                       "Thursday", "Friday", "Saturday"};

bool is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

// 0-based day of the year.
int day_of_year(const LocalTime& time) {
  constexpr std::array<int, 12> kDaysBefore = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  return kDaysBefore[static_cast<size_t>(time.month - 1)] + time.day - 1 +
         (time.month > 2 && is_leap(time.year) ? 1 : 0);
}

// 0 = Sunday (Sakamoto's method).
int weekday(const LocalTime& time) {
  constexpr std::array<int, 12> kShift = {0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4};
  const int year = time.year - (time.month < 3 ? 1 : 0);
  return (year + year / 4 - year / 100 + year / 400 + kShift[static_cast<size_t>(time.month - 1)] +
          time.day) %
         7;
}

std::string directive(char letter, bool unpadded, const LocalTime& time) {
  const auto two = [unpadded](int value) {
    return unpadded ? fmt::format("{}", value) : fmt::format("{:02}", value);
  };
  const auto name = [](std::string_view text, size_t letters) {
    return std::string(text.substr(0, letters));
  };
  const std::string_view month = kMonths[static_cast<size_t>(time.month - 1)];
  const std::string_view day = kWeekdays[static_cast<size_t>(weekday(time))];
  const int hour12 = time.hour % 12 == 0 ? 12 : time.hour % 12;
  switch (letter) {
    case 'Y':
      return fmt::format("{}", time.year);
    case 'C':
      return two(time.year / 100);
    case 'y':
      return two(time.year % 100);
    case 'm':
      return two(time.month);
    case 'd':
      return two(time.day);
    case 'e':
      return unpadded ? fmt::format("{}", time.day) : fmt::format("{:2}", time.day);
    case 'H':
      return two(time.hour);
    case 'I':
      return two(hour12);
    case 'M':
      return two(time.minute);
    case 'S':
      return two(time.second);
    case 'j':
      return unpadded ? fmt::format("{}", day_of_year(time) + 1)
                      : fmt::format("{:03}", day_of_year(time) + 1);
    case 'p':
      return time.hour < 12 ? "AM" : "PM";
    case 'B':
      return std::string(month);
    case 'b':
    case 'h':
      return name(month, 3);
    case 'A':
      return std::string(day);
    case 'a':
      return name(day, 3);
    case 'w':
      return fmt::format("{}", weekday(time));
    case 'u':
      return fmt::format("{}", weekday(time) == 0 ? 7 : weekday(time));
    case 'U':
      return two((day_of_year(time) + 7 - weekday(time)) / 7);
    case 'W':
      return two((day_of_year(time) + 7 - (weekday(time) + 6) % 7) / 7);
    case 'f':
      return "000000";
    case 'F':
      return format_time("%Y-%m-%d", time);
    case 'T':
    case 'X':
      return format_time("%H:%M:%S", time);
    case 'R':
      return format_time("%H:%M", time);
    case 'r':
      return format_time("%I:%M:%S %p", time);
    case 'D':
    case 'x':
      return format_time("%m/%d/%y", time);
    case 'c':
      return format_time("%a %b %e %H:%M:%S %Y", time);
    case 'Z':
    case 'z':
      return "";  // a time without a zone, as datetime.now() gives
    case 'n':
      return "\n";
    case 't':
      return "\t";
    case '%':
      return "%";
    default:
      fail(ErrorCode::kUnsupported, "strftime directive '%{}' is not supported", letter);
  }
}

}  // namespace

std::string format_time(std::string_view format, const LocalTime& time) {
  if (time.month < 1 || time.month > 12 || time.day < 1 || time.day > 31) fail("the clock given is no date");
  std::string out;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 >= format.size()) {
      out.push_back(format[i]);
      continue;
    }
    bool unpadded = false;
    if (format[i + 1] == '-' && i + 2 < format.size()) {
      unpadded = true;
      ++i;
    }
    out += directive(format[++i], unpadded, time);
  }
  return out;
}

}  // namespace quire::jinja
