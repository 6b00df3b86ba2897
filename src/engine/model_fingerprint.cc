#include "engine/model_fingerprint.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>

namespace quire {

uint64_t model_fingerprint(const GgufFile& file, int64_t ctx, const EngineSettings& settings) {
  const std::array<int64_t, 3> numerics = {ctx, static_cast<int64_t>(settings.kv_type),
                                           static_cast<int64_t>(settings.activations)};
  uint64_t hash = XXH3_64bits(numerics.data(), sizeof(numerics));
  for (size_t part = 0; part < file.n_parts(); ++part) {
    size_t header_bytes = file.part(part).bytes().size();
    for (const TensorInfo& tensor : file.tensors()) {
      if (tensor.part == part) header_bytes = std::min(header_bytes, static_cast<size_t>(tensor.offset));
    }
    hash = XXH3_64bits_withSeed(file.part(part).bytes().data(), header_bytes, hash);
  }
  return hash;
}

}  // namespace quire
