#include "tokenizer/templates/json_value.h"

#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <type_traits>

namespace quire {
namespace {

constexpr int kMaxDepth = 512;

Result<Value> convert(const nlohmann::ordered_json& json, int depth) {
  if (depth > kMaxDepth) {
    return make_error(ErrorCode::kInvalidArgument, "JSON nested deeper than {} levels", kMaxDepth);
  }
  using Kind = nlohmann::ordered_json::value_t;
  switch (json.type()) {
    case Kind::null:
      return Value();
    case Kind::boolean:
      return Value(json.get<bool>());
    case Kind::number_integer:
      return Value(json.get<int64_t>());
    case Kind::number_unsigned: {
      const uint64_t number = json.get<uint64_t>();
      if (number <= static_cast<uint64_t>(INT64_MAX)) return Value(static_cast<int64_t>(number));
      return Value(BigInteger{std::to_string(number)});
    }
    case Kind::number_float:
      return Value(json.get<double>());
    case Kind::string:
      return Value(json.get_ref<const std::string&>());
    case Kind::array: {
      Value::List items;
      items.reserve(json.size());
      for (const auto& item : json) {
        QUIRE_ASSIGN_OR_RETURN(Value value, convert(item, depth + 1));
        items.push_back(std::move(value));
      }
      return Value(std::move(items));
    }
    case Kind::object: {
      Value::Dict members;
      members.reserve(json.size());
      for (const auto& [key, item] : json.items()) {
        QUIRE_ASSIGN_OR_RETURN(Value value, convert(item, depth + 1));
        members.emplace_back(key, std::move(value));
      }
      return Value(std::move(members));
    }
    case Kind::binary:
    case Kind::discarded:
      break;
  }
  return make_error(ErrorCode::kInvalidArgument, "JSON value of a kind that templates cannot read");
}

// Refuses depth before the recursive tree (and its recursive destructor) exists.
bool nests_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

nlohmann::ordered_json big_integer_json(const BigInteger& number) {
  const char* begin = number.digits.data();
  const char* end = begin + number.digits.size();
  uint64_t fits = 0;
  const auto parsed = std::from_chars(begin, end, fits);
  if (parsed.ec == std::errc() && parsed.ptr == end) return fits;
  return std::strtod(number.digits.c_str(), nullptr);
}

}  // namespace

Result<Value> value_from_json(const nlohmann::ordered_json& json) { return convert(json, 0); }

Result<Value> value_from_json_text(std::string_view text) {
  if (nests_too_deep(text)) {
    return make_error(ErrorCode::kInvalidArgument, "JSON nested deeper than {} levels", kMaxDepth);
  }
  try {
    return convert(nlohmann::ordered_json::parse(text), 0);
  } catch (const nlohmann::json::exception& failure) {
    return make_error(ErrorCode::kCorrupt, "not JSON: {}", failure.what());
  }
}

nlohmann::ordered_json json_from_value(const Value& value) {
  if (const auto* flag = value.get_if<bool>()) return *flag;
  if (const auto* number = value.get_if<int64_t>()) return *number;
  if (const auto* number = value.get_if<double>()) return *number;
  if (const auto* text = value.get_if<std::string>()) return *text;
  if (const auto* number = value.get_if<BigInteger>()) return big_integer_json(*number);
  if (const auto* items = value.get_if<Value::List>()) {
    auto array = nlohmann::ordered_json::array();
    for (const Value& item : *items) array.push_back(json_from_value(item));
    return array;
  }
  if (const auto* members = value.get_if<Value::Dict>()) {
    auto object = nlohmann::ordered_json::object();
    for (const auto& [key, item] : *members) object[key] = json_from_value(item);
    return object;
  }
  return nullptr;
}

}  // namespace quire
