#include "models/blocks/rope.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace quire {
namespace {

Result<RopeScaling> scaling_type(const Keys& keys) {
  // Older files say linear scaling with a key of its own.
  if (!keys.contains("rope.scaling.type")) {
    return keys.contains("rope.scale_linear") || keys.contains("rope.scaling.factor") ? RopeScaling::kLinear
                                                                                      : RopeScaling::kNone;
  }
  QUIRE_ASSIGN_OR_RETURN(const std::string_view name, keys.get<std::string_view>("rope.scaling.type"));
  if (name == "none") return RopeScaling::kNone;
  if (name == "linear") return RopeScaling::kLinear;
  if (name == "yarn") return RopeScaling::kYarn;
  if (name == "longrope") return RopeScaling::kLongRope;
  return make_error(ErrorCode::kUnsupported, "{} is \"{}\", expected none, linear, yarn or longrope",
                    keys.full("rope.scaling.type"), name);
}

// The pair index at which a full period makes `rotations` turns over the original context (YaRN, eq. 18 and
// before).
double correction_index(double rotations, const RopeParams& p) {
  const double n_ctx = static_cast<double>(p.n_ctx_original);
  return static_cast<double>(p.n_rot) * std::log(n_ctx / (2 * std::numbers::pi * rotations)) /
         (2 * std::log(static_cast<double>(p.base)));
}

// What cos and sin of a YaRN model are multiplied by, attn_factor aside.
double yarn_magnitude(const RopeParams& p) {
  if (p.yarn_ext_factor == 0) return 1;
  if (p.yarn_attn_factor != 1) return static_cast<double>(p.yarn_attn_factor);
  const double log_factor = std::log(std::max(1.0, static_cast<double>(p.factor)));
  // The file holds 0.1 times the model's mscale_all_dim; its mscale is 1 in every known model.
  return (1 + 0.1 * log_factor) / (1 + static_cast<double>(p.yarn_log_multiplier) * log_factor);
}

}  // namespace

Result<RopeParams> read_rope_params(const Keys& keys, int64_t d_head, int64_t n_ctx_train) {
  RopeParams p;
  QUIRE_ASSIGN_OR_RETURN(p.n_rot, keys.integer_or("rope.dimension_count", 2, d_head, d_head));
  if (p.n_rot % 2 != 0) {
    return make_error(ErrorCode::kCorrupt, "{} is {}, expected an even number",
                      keys.full("rope.dimension_count"), p.n_rot);
  }
  QUIRE_ASSIGN_OR_RETURN(p.base, keys.number_or("rope.freq_base", NumberRange::kPositive, 10000));
  QUIRE_ASSIGN_OR_RETURN(p.scaling, scaling_type(keys));
  QUIRE_ASSIGN_OR_RETURN(const float old_factor,
                         keys.number_or("rope.scale_linear", NumberRange::kPositive, 1));
  QUIRE_ASSIGN_OR_RETURN(p.factor, keys.number_or("rope.scaling.factor", NumberRange::kPositive, old_factor));
  QUIRE_ASSIGN_OR_RETURN(p.n_ctx_original, keys.integer_or("rope.scaling.original_context_length", 1,
                                                           int64_t{1} << 31, n_ctx_train));
  QUIRE_ASSIGN_OR_RETURN(p.attn_factor,
                         keys.number_or("rope.scaling.attn_factor", NumberRange::kPositive, 1));
  QUIRE_ASSIGN_OR_RETURN(p.yarn_ext_factor,
                         keys.number_or("rope.scaling.yarn_ext_factor", NumberRange::kNotNegative, 1));
  QUIRE_ASSIGN_OR_RETURN(p.yarn_beta_fast,
                         keys.number_or("rope.scaling.yarn_beta_fast", NumberRange::kPositive, 32));
  QUIRE_ASSIGN_OR_RETURN(p.yarn_beta_slow,
                         keys.number_or("rope.scaling.yarn_beta_slow", NumberRange::kPositive, 1));
  QUIRE_ASSIGN_OR_RETURN(p.yarn_attn_factor,
                         keys.number_or("rope.scaling.yarn_attn_factor", NumberRange::kPositive, 1));
  QUIRE_ASSIGN_OR_RETURN(p.yarn_log_multiplier,
                         keys.number_or("rope.scaling.yarn_log_multiplier", NumberRange::kNotNegative, 0));
  return p;
}

Result<RopeParams> read_window_rope_params(const Keys& keys, const RopeParams& full, float base) {
  RopeParams p{.n_rot = full.n_rot};
  QUIRE_ASSIGN_OR_RETURN(p.base, keys.number_or("rope.freq_base_swa", NumberRange::kPositive, base));
  return p;
}

Result<graph::RopeSpec> make_rope(const RopeParams& p, const std::vector<float>& divisors) {
  const int64_t n_pairs = p.n_rot / 2;
  graph::RopeSpec spec{.inv_freq = std::vector<float>(static_cast<size_t>(n_pairs)),
                       .magnitude = p.attn_factor};
  double low = 0, high = 0;
  if (p.scaling == RopeScaling::kYarn) {
    low = std::max(0.0, std::floor(correction_index(p.yarn_beta_fast, p)));
    high = std::min(static_cast<double>(p.n_rot - 1), std::ceil(correction_index(p.yarn_beta_slow, p)));
    spec.magnitude = static_cast<float>(static_cast<double>(p.attn_factor) * yarn_magnitude(p));
  }
  for (int64_t i = 0; i < n_pairs; ++i) {
    double freq =
        std::pow(static_cast<double>(p.base), -2.0 * static_cast<double>(i) / static_cast<double>(p.n_rot));
    if (!divisors.empty()) freq /= static_cast<double>(divisors[static_cast<size_t>(i)]);
    if (p.scaling == RopeScaling::kLinear) freq /= p.factor;
    if (p.scaling == RopeScaling::kYarn) {
      const double ramp =
          1 - std::clamp((static_cast<double>(i) - low) / std::max(0.001, high - low), 0.0, 1.0);
      const double mix = ramp * p.yarn_ext_factor;
      freq = freq / p.factor * (1 - mix) + freq * mix;
    }
    // Only a damaged file gets here: a base below 1, a divisor near 0.
    if (!(std::fabs(freq) <= static_cast<double>(std::numeric_limits<float>::max()))) {
      return make_error(ErrorCode::kCorrupt, "the rope keys give frequency {} for pair {}", freq, i);
    }
    spec.inv_freq[static_cast<size_t>(i)] = static_cast<float>(freq);
  }
  return spec;
}

Result<std::vector<float>> read_rope_divisors(const RopeParams& p, const BuildOptions& options,
                                              const graph::ProgramBuilder& builder) {
  std::string name = "rope_freqs.weight";
  if (builder.has("rope_factors_long.weight") || builder.has("rope_factors_short.weight")) {
    name = options.ctx > p.n_ctx_original ? "rope_factors_long.weight" : "rope_factors_short.weight";
    if (!builder.has(name))
      return make_error(ErrorCode::kCorrupt, "tensor {} is missing from the model file", name);
  } else if (!builder.has(name)) {
    return std::vector<float>();
  }
  QUIRE_ASSIGN_OR_RETURN(std::vector<float> divisors, builder.read_values(name, p.n_rot / 2));
  for (float value : divisors) {
    if (!(value > 0) || !std::isfinite(value)) {
      return make_error(ErrorCode::kCorrupt, "tensor {} holds {}, expected numbers above 0", name, value);
    }
  }
  return divisors;
}

Result<graph::RopeSpec> read_rope(const Keys& keys, int64_t d_head, int64_t n_ctx_train,
                                  const BuildOptions& options, const graph::ProgramBuilder& builder) {
  QUIRE_ASSIGN_OR_RETURN(const RopeParams params, read_rope_params(keys, d_head, n_ctx_train));
  QUIRE_ASSIGN_OR_RETURN(const std::vector<float> divisors, read_rope_divisors(params, options, builder));
  return make_rope(params, divisors);
}

}  // namespace quire
