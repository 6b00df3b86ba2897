#include "server/api/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace quire::server {
namespace {

template <typename Number>
Json range(const char* type, Number low, Number high) {
  Json schema = {{"type", type}};
  if (low != std::numeric_limits<Number>::lowest()) schema["minimum"] = low;
  if (high != std::numeric_limits<Number>::max()) schema["maximum"] = high;
  return schema;
}

template <typename T>
Json array_of(std::initializer_list<T> values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(Json(value));
  return list;
}

}  // namespace

Fields::Fields(const Json& object, std::string where, FieldLog* log)
    : object_(object), where_(std::move(where)), log_(log) {
  if (!object.is_object()) {
    error_ = ApiError{.message = where_.empty() ? std::string("the body must be a JSON object")
                                                : where_ + " must be a JSON object",
                      .param = where_};
    return;
  }
  if (!where_.empty()) where_ += '.';
}

const Json* Fields::find(std::string_view name, FunctionRef<Json()> schema) {
  known_.emplace(name);
  if (log_ != nullptr) log_->note(where_ + std::string(name), schema());
  if (!object_.is_object()) return nullptr;
  const auto at = object_.find(name);
  return at == object_.end() || at->is_null() ? nullptr : &*at;
}

void Fields::fail(ApiError error) {
  if (!error_) error_ = std::move(error);
}

void Fields::fail(std::string_view name, std::string_view message) {
  fail(invalid_field(where_ + std::string(name), std::string(message)));
}

void Fields::wrong_type(std::string_view name, std::string_view expected) {
  fail(name, fmt::format("expected {}", expected));
}

const Json* Fields::any(std::string_view name, std::string_view schema) {
  return find(name, [&] { return Json::parse(schema); });
}

std::optional<bool> Fields::flag(std::string_view name) {
  const Json* const value = find(name, [] { return Json{{"type", "boolean"}}; });
  if (value == nullptr) return {};
  if (value->is_boolean()) return value->get<bool>();
  wrong_type(name, "true or false");
  return {};
}

std::optional<int64_t> Fields::integer(std::string_view name, int64_t low, int64_t high) {
  const Json* const value = find(name, [&] { return range("integer", low, high); });
  if (value == nullptr) return {};
  std::optional<int64_t> number;
  constexpr double kLimit = 9007199254740992.0;  // 2^53: above it doubles are no exact integers
  if (value->is_number_integer() && !(value->is_number_unsigned() && value->get<uint64_t>() > INT64_MAX)) {
    number = value->get<int64_t>();
  } else if (value->is_number_float()) {
    const double real = value->get<double>();
    if (std::trunc(real) == real && std::abs(real) <= kLimit) number = static_cast<int64_t>(real);
  }
  if (!number) {
    wrong_type(name, "an integer");
  } else if (*number < low || *number > high) {
    fail(name, high == INT64_MAX ? fmt::format("is {}, must be at least {}", *number, low)
                                 : fmt::format("is {}, must be between {} and {}", *number, low, high));
    return {};
  }
  return number;
}

std::optional<double> Fields::number(std::string_view name, double low, double high) {
  const Json* const value = find(name, [&] { return range("number", low, high); });
  if (value == nullptr) return {};
  if (!value->is_number()) {
    wrong_type(name, "a number");
    return {};
  }
  const double number = value->get<double>();
  if (number >= low && number <= high) return number;
  fail(name, high == std::numeric_limits<double>::max()
                 ? fmt::format("is {}, must be at least {}", number, low)
                 : fmt::format("is {}, must be between {} and {}", number, low, high));
  return {};
}

std::optional<std::string> Fields::text(std::string_view name) {
  const Json* const value = find(name, [] { return Json{{"type", "string"}}; });
  if (value == nullptr) return {};
  if (value->is_string()) return value->get<std::string>();
  wrong_type(name, "a string");
  return {};
}

std::optional<std::string> Fields::word(std::string_view name,
                                        std::initializer_list<std::string_view> words) {
  const Json* const value = find(name, [&] { return Json{{"enum", array_of(words)}}; });
  if (value == nullptr) return {};
  for (const std::string_view word : words) {
    if (*value == word) return std::string(word);
  }
  fail(name, fmt::format("must be one of {}", fmt::join(words, ", ")));
  return {};
}

const Json* Fields::object(std::string_view name) {
  const Json* const value = find(name, [] { return Json{{"type", "object"}}; });
  if (value == nullptr || value->is_object()) return value;
  wrong_type(name, "an object");
  return nullptr;
}

const Json* Fields::array(std::string_view name) {
  const Json* const value = find(name, [] { return Json{{"type", "array"}}; });
  if (value == nullptr || value->is_array()) return value;
  wrong_type(name, "an array");
  return nullptr;
}

void Fields::ignore(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    find(name, [] { return Json{{"description", "taken without effect"}}; });
}

void Fields::refuse(std::string_view name, std::string_view why, std::initializer_list<Json> no_ops) {
  const Json* const value = find(name, [&] {
    return Json{{"enum", array_of(no_ops)}, {"description", "refused otherwise: " + std::string(why)}};
  });
  if (value != nullptr && std::ranges::find(no_ops, *value) == no_ops.end()) fail(name, why);
}

ApiStatus Fields::finish() {
  if (!error_ && object_.is_object()) {
    for (const auto& [name, value] : object_.items()) {
      if (!known_.contains(name)) {
        fail(name, "this field is not known");
        break;
      }
    }
  }
  if (error_) return *error_;
  return Nothing{};
}

}  // namespace quire::server
