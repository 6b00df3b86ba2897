// shortest_double(): a float as the double that is written with as few digits. Pure function.
#pragma once

#include <array>
#include <charconv>

namespace quire {

// The double whose shortest decimal is the float's: nine digits at most, where the float itself, widened,
// takes seventeen. For writers of text that know doubles only.
inline double shortest_double(float value) {
  std::array<char, 32> text;
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value);
  double out = 0;
  std::from_chars(text.data(), written.ptr, out);
  return out;
}

}  // namespace quire
