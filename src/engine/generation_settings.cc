#include "engine/generation_settings.h"

namespace quire {
namespace {

constexpr const char* kPrefix = "general.sampling.";

template <typename T>
Status read(const Metadata& metadata, const char* name, T& field) {
  QUIRE_ASSIGN_OR_RETURN(field, metadata.get_or<T>(std::string(kPrefix) + name, field));
  return {};
}

}  // namespace

Result<SamplingSettings> suggested_sampling(const Metadata& metadata) {
  SamplingSettings settings{.logprob = Logprob::kSkip};
  QUIRE_RETURN_IF_ERROR(read(metadata, "temp", settings.temperature));
  QUIRE_RETURN_IF_ERROR(read(metadata, "top_k", settings.top_k));
  QUIRE_RETURN_IF_ERROR(read(metadata, "top_p", settings.top_p));
  QUIRE_RETURN_IF_ERROR(read(metadata, "min_p", settings.min_p));
  QUIRE_RETURN_IF_ERROR(read(metadata, "penalty_repeat", settings.repetition_penalty));
  QUIRE_RETURN_IF_ERROR(read(metadata, "penalty_last_n", settings.penalty_window));
  // The vocabulary only matters for lists of tokens, which files do not suggest.
  const Status valid = settings.validate(0);
  if (!valid.ok()) return make_error(ErrorCode::kCorrupt, "keys {}*: {}", kPrefix, valid.error().message);
  return settings;
}

}  // namespace quire
