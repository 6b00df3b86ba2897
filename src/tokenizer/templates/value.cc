#include "tokenizer/templates/value.h"

#include "base/check.h"

namespace quire {

void Value::set(std::string key, Value value) {
  if (is_none()) data_ = Dict{};
  Dict* members = get_if<Dict>();
  QUIRE_CHECK(members != nullptr);
  for (Member& member : *members) {
    if (member.first == key) {
      member.second = std::move(value);
      return;
    }
  }
  members->emplace_back(std::move(key), std::move(value));
}

const Value* Value::find(std::string_view key) const {
  const Dict* members = get_if<Dict>();
  if (members == nullptr) return nullptr;
  for (const Member& member : *members) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

}  // namespace quire
