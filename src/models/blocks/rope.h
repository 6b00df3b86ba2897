// Rotary position embeddings: from a model's keys and factor tensors to a RopeSpec.
//
// angle(position, i) = position * inv_freq[i], inv_freq[i] = base^(-2i/n) / factor[i], with the scalings
// linear, YaRN (Peng et al. 2023), LongRoPE (Ding et al. 2024) and the divisors that Llama-3 style files
// carry as `rope_freqs`. LongRoPE's factors are chosen once, from BuildOptions::ctx, never by the current
// length: a sequence's numbers do not change when it grows. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "graph/builder.h"
#include "models/architecture.h"
#include "models/blocks/keys.h"

namespace quire {

enum class RopeScaling : uint8_t { kNone, kLinear, kYarn, kLongRope };

struct RopeParams {
  int64_t n_rot = 0;  // values of each head that rotate, even
  float base = 10000;
  RopeScaling scaling = RopeScaling::kNone;
  float factor = 1;
  int64_t n_ctx_original = 0;
  float attn_factor = 1;
  float yarn_ext_factor = 1, yarn_beta_fast = 32, yarn_beta_slow = 1;
  // The configuration's own attention factor, in place of 1 + 0.1 ln(factor). 1 is what files say that leave
  // the default, so it changes nothing.
  float yarn_attn_factor = 1;
  float yarn_log_multiplier = 0;  // 0 = absent
};

// Reads rope.* keys; n_rot defaults to d_head. Errors: kCorrupt (ranges), kUnsupported (unknown scaling
// type).
Result<RopeParams> read_rope_params(const Keys& keys, int64_t d_head, int64_t n_ctx_train);

// The rope of windowed layers in families that give them one of their own: as many values as `full`,
// rope.freq_base_swa (default `base`), no scaling.
Result<RopeParams> read_window_rope_params(const Keys& keys, const RopeParams& full, float base);

// `divisors` is empty or holds n_rot / 2 values. Errors: kCorrupt (a frequency overflows).
Result<graph::RopeSpec> make_rope(const RopeParams& params, const std::vector<float>& divisors);

// The divisors for this model: rope_freqs.weight, or the LongRoPE tensor that `options.ctx` selects; empty
// when the file has none. Errors: kCorrupt (missing or misshapen tensor).
Result<std::vector<float>> read_rope_divisors(const RopeParams& params, const BuildOptions& options,
                                              const graph::ProgramBuilder& builder);

// The three steps in one, for models with a single rope.
Result<graph::RopeSpec> read_rope(const Keys& keys, int64_t d_head, int64_t n_ctx_train,
                                  const BuildOptions& options, const graph::ProgramBuilder& builder);

}  // namespace quire
