// olmo2: no norms before the branches, norms on their outputs, and on q and k over the full width (OLMo Team
// 2024, "2 OLMo 2 Furious"). OLMo 3 is the same with a sliding window in three layers of four, which its
// files show by a window in the metadata; those layers rotate without scaling.
#include <cmath>

#include "models/blocks/decoder.h"
#include "models/blocks/rope.h"
#include "models/blocks/window.h"
#include "models/families.h"

namespace quire {

Result<graph::Value> build_olmo2(const Metadata& metadata, const BuildOptions& options,
                                 graph::ProgramBuilder& b) {
  const Keys keys(metadata, "olmo2");
  QUIRE_ASSIGN_OR_RETURN(const DecoderParams p, read_decoder_params(keys));
  QUIRE_ASSIGN_OR_RETURN(const RopeParams full, read_rope_params(keys, p.d_k, p.n_ctx_train));
  QUIRE_ASSIGN_OR_RETURN(const RopeParams local, read_window_rope_params(keys, full, full.base));
  QUIRE_ASSIGN_OR_RETURN(const std::vector<float> divisors, read_rope_divisors(full, options, b));
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope_full, make_rope(full, divisors));
  QUIRE_ASSIGN_OR_RETURN(const graph::RopeSpec rope_local, make_rope(local, {}));
  const int64_t period = keys.contains("attention.sliding_window") ? 4 : 1;
  QUIRE_ASSIGN_OR_RETURN(const WindowParams windows, read_windows(keys, p.n_layer, {.period = period}));
  return decoder(b, p, options, {.norms = NormPlacement::kAfter}, [&](int32_t il) {
    return AttentionSpec{.rope = windows.of(il) > 0 ? &rope_local : &rope_full,
                         .qk_norm = QkNorm::kFull,
                         .scale = 1 / std::sqrt(static_cast<float>(p.d_k)),
                         .window = windows.of(il)};
  });
}

}  // namespace quire
