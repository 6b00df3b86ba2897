#include "models/blocks/keys.h"

#include <cmath>

namespace quire {
namespace {

bool in_range(float value, NumberRange range) {
  switch (range) {
    case NumberRange::kFinite:
      return std::isfinite(value);
    case NumberRange::kNotNegative:
      return std::isfinite(value) && value >= 0;
    case NumberRange::kPositive:
      return std::isfinite(value) && value > 0;
  }
  return false;
}

const char* describe(NumberRange range) {
  switch (range) {
    case NumberRange::kFinite:
      return "a finite number";
    case NumberRange::kNotNegative:
      return "a number of at least 0";
    case NumberRange::kPositive:
      return "a number above 0";
  }
  return "";
}

}  // namespace

Result<int64_t> Keys::integer(std::string_view name, int64_t low, int64_t high) const {
  const std::string key = full(name);
  // Per-layer arrays of one repeated value stand for the scalar in some files.
  const Metadata::Value* value = metadata_.find(key);
  int64_t found = 0;
  if (value != nullptr && value->type == ValueType::kArray) {
    QUIRE_ASSIGN_OR_RETURN(const std::vector<int64_t> array, metadata_.get_array<int64_t>(key));
    if (array.empty()) return make_error(ErrorCode::kCorrupt, "{} is an empty array, expected a number", key);
    for (int64_t element : array) {
      if (element != array[0]) {
        return make_error(ErrorCode::kUnsupported,
                          "{} differs from layer to layer, which this architecture does not support", key);
      }
    }
    found = array[0];
  } else {
    QUIRE_ASSIGN_OR_RETURN(found, metadata_.get<int64_t>(key));
  }
  if (found < low || found > high) {
    return make_error(ErrorCode::kCorrupt, "{} is {}, expected {} to {}", key, found, low, high);
  }
  return found;
}

Result<float> Keys::number(std::string_view name, NumberRange range) const {
  QUIRE_ASSIGN_OR_RETURN(const float found, get<float>(name));
  if (!in_range(found, range)) {
    return make_error(ErrorCode::kCorrupt, "{} is {}, expected {}", full(name), found, describe(range));
  }
  return found;
}

Result<float> Keys::number_or(std::string_view name, NumberRange range, float fallback) const {
  return contains(name) ? number(name, range) : Result<float>(fallback);
}

Result<int64_t> Keys::integer_or(std::string_view name, int64_t low, int64_t high, int64_t fallback) const {
  return contains(name) ? integer(name, low, high) : Result<int64_t>(fallback);
}

}  // namespace quire
