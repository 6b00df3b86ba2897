// How the groups of a linear layer are cut into tiles of work.

#include <algorithm>

#include "kernels/linear.h"

namespace quire::kernels {
namespace {

// Weights of one tile of work that stay in the second-level cache while all activation tiles pass.
constexpr int64_t kTileBytes = 384 * 1024;

}  // namespace

int64_t groups_per_tile(const PackedFormat& format, int64_t n, int64_t k, int64_t m, int n_threads) {
  const int64_t groups = n_groups(n);
  // One row streams the weights once: few, long runs. More rows: smaller ones, so that threads finish
  // together.
  if (m == 1) return std::max<int64_t>(1, groups / (int64_t{n_threads} * 8));
  const int64_t fits = kTileBytes / std::max<int64_t>(1, static_cast<int64_t>(format.group_bytes(k)));
  return std::clamp<int64_t>(groups / (int64_t{n_threads} * 4), 1, std::max<int64_t>(1, fits));
}

}  // namespace quire::kernels
