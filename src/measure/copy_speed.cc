#include "measure/copy_speed.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <vector>

namespace quire {

double measure_copy_speed() {
  constexpr size_t kBytes = size_t{16} << 20;
  constexpr int kRounds = 3;
  using Clock = std::chrono::steady_clock;
  const std::vector<std::byte> from(kBytes, std::byte{1});
  std::vector<std::byte> to(kBytes, std::byte{2});
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Clock::time_point start = Clock::now();
    std::memcpy(to.data(), from.data(), kBytes);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, static_cast<double>(kBytes) / std::max(seconds, 1e-9));
    if (to[static_cast<size_t>(round)] != std::byte{1}) return 0;  // reads it, so that the copy is made
  }
  return best;
}

}  // namespace quire
