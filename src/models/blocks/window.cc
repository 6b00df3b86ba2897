#include "models/blocks/window.h"

#include <string_view>

namespace quire {
namespace {

constexpr int64_t kMaxWindow = int64_t{1} << 30;
constexpr int64_t kMaxPeriod = 65536;

}  // namespace

Result<WindowParams> read_windows(const Keys& keys, int32_t n_layer, const WindowDefaults& defaults) {
  constexpr std::string_view kPattern = "attention.sliding_window_pattern";
  WindowParams windows;
  QUIRE_ASSIGN_OR_RETURN(const int64_t positions,
                         keys.integer_or("attention.sliding_window", 1, kMaxWindow, defaults.positions));
  windows.positions = static_cast<int32_t>(positions);
  const Metadata::Value* pattern = keys.metadata().find(keys.full(kPattern));
  if (pattern != nullptr && pattern->type == ValueType::kArray && pattern->element == ValueType::kBool) {
    QUIRE_ASSIGN_OR_RETURN(windows.windowed, keys.metadata().get_per_layer<bool>(
                                                 keys.full(kPattern), static_cast<size_t>(n_layer)));
    return windows;
  }
  QUIRE_ASSIGN_OR_RETURN(const int64_t period, keys.integer_or(kPattern, 0, kMaxPeriod, defaults.period));
  for (int64_t il = 0; il < n_layer; ++il)
    windows.windowed.push_back(period == 0 || il % period < period - 1);
  return windows;
}

}  // namespace quire
