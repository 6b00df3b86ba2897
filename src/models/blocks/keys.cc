#include "models/blocks/keys.h"

namespace quire {

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

Result<int64_t> Keys::integer_or(std::string_view name, int64_t low, int64_t high, int64_t fallback) const {
  return contains(name) ? integer(name, low, high) : Result<int64_t>(fallback);
}

}  // namespace quire
