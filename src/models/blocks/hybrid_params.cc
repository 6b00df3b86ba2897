#include "models/blocks/hybrid_params.h"

#include <algorithm>

namespace quire {
namespace {

constexpr int64_t kMaxPerLayer = int64_t{1} << 22;

// A number for each layer: an array, or one number for all.
Result<std::vector<int64_t>> read_per_layer(const Keys& keys, const char* name, int32_t n_layer) {
  QUIRE_ASSIGN_OR_RETURN(std::vector<int64_t> each, keys.metadata().get_per_layer<int64_t>(
                                                        keys.full(name), static_cast<size_t>(n_layer)));
  int64_t used = 0;
  for (const int64_t found : each) {
    if (found < 0 || found > kMaxPerLayer) {
      return make_error(ErrorCode::kCorrupt, "{} holds {}, expected 0 to {}", keys.full(name), found,
                        kMaxPerLayer);
    }
    if (found > 0 && used > 0 && found != used) {
      return make_error(ErrorCode::kUnsupported,
                        "{} differs between layers that have some, which this architecture does not support",
                        keys.full(name));
    }
    used = std::max(used, found);
  }
  return each;
}

}  // namespace

Result<HybridParams> read_hybrid_params(const Keys& keys) {
  HybridParams hybrid;
  QUIRE_ASSIGN_OR_RETURN(DecoderParams p, read_trunk_params(keys));
  QUIRE_ASSIGN_OR_RETURN(hybrid.n_head_kv, read_per_layer(keys, "attention.head_count_kv", p.n_layer));
  QUIRE_ASSIGN_OR_RETURN(hybrid.n_ff, read_per_layer(keys, "feed_forward_length", p.n_layer));
  p.n_ff = std::ranges::max(hybrid.n_ff);
  // A file without attention needs no heads; any number will do.
  const int64_t n_head_kv = std::max<int64_t>(1, std::ranges::max(hybrid.n_head_kv));
  QUIRE_ASSIGN_OR_RETURN(hybrid.decoder, with_heads(keys, p, n_head_kv));
  return hybrid;
}

}  // namespace quire
