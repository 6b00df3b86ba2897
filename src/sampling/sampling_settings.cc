#include "sampling/sampling_settings.h"

#include <cmath>

namespace quire {
namespace {

Status check_range(const char* field, float value, float low, float high) {
  if (value >= low && value <= high) return {};
  return make_error(ErrorCode::kInvalidArgument, "{} is {}, must be between {} and {}", field, value, low,
                    high);
}

Status check_token(const char* field, int32_t token, int32_t n_vocab) {
  if (token >= 0 && token < n_vocab) return {};
  return make_error(ErrorCode::kInvalidArgument, "{} names token {}, the vocabulary has tokens 0 to {}",
                    field, token, n_vocab - 1);
}

}  // namespace

Status SamplingSettings::validate(int32_t n_vocab) const {
  constexpr ErrorCode kInvalid = ErrorCode::kInvalidArgument;
  if (!(temperature >= 0.0f) || !std::isfinite(temperature)) {
    return make_error(kInvalid, "temperature is {}, must be a finite number of at least 0", temperature);
  }
  if (top_k < 0) return make_error(kInvalid, "top_k is {}, must be at least 0 (0 turns it off)", top_k);
  QUIRE_RETURN_IF_ERROR(check_range("typical_p", typical_p, 0.0f, 1.0f));
  QUIRE_RETURN_IF_ERROR(check_range("top_p", top_p, 0.0f, 1.0f));
  QUIRE_RETURN_IF_ERROR(check_range("min_p", min_p, 0.0f, 1.0f));
  if (!(repetition_penalty > 0.0f) || !std::isfinite(repetition_penalty)) {
    return make_error(kInvalid, "repetition_penalty is {}, must be a finite number above 0",
                      repetition_penalty);
  }
  if (!std::isfinite(frequency_penalty)) {
    return make_error(kInvalid, "frequency_penalty is {}, must be finite", frequency_penalty);
  }
  if (!std::isfinite(presence_penalty)) {
    return make_error(kInvalid, "presence_penalty is {}, must be finite", presence_penalty);
  }
  if (penalty_window < -1) {
    return make_error(kInvalid, "penalty_window is {}, must be at least 0, or -1 for the whole history",
                      penalty_window);
  }
  for (const LogitBias& entry : logit_bias) {
    QUIRE_RETURN_IF_ERROR(check_token("logit_bias", entry.token, n_vocab));
    if (std::isnan(entry.bias) || entry.bias == INFINITY) {
      return make_error(kInvalid, "logit_bias of token {} is {}, must be finite or -inf", entry.token,
                        entry.bias);
    }
  }
  for (const int32_t token : suppress) QUIRE_RETURN_IF_ERROR(check_token("suppress", token, n_vocab));
  return {};
}

}  // namespace quire
