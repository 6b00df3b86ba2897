#include "cli/metadata_text.h"

#include <algorithm>
#include <type_traits>

#include "base/check.h"
#include "gguf/printable.h"

namespace quire::cli {
namespace {

constexpr size_t kMaxText = 100;        // bytes of a string
constexpr size_t kMaxElementText = 24;  // bytes of a string inside an array
constexpr size_t kTextElements = 6;     // of an array
constexpr size_t kJsonElements = 16;    // of an array

template <typename T, typename Visit>
auto visit_as(const Metadata& metadata, std::string_view key, bool array, Visit&& visit) {
  if (array) return visit(metadata.get_array<T>(key).value());
  return visit(std::vector<T>{metadata.get<T>(key).value()});
}

// Calls visit(std::vector<T>) with the value's elements in the widest C++ type of its kind; a scalar is one
// element.
template <typename Visit>
auto visit_elements(const Metadata& metadata, std::string_view key, Visit&& visit) {
  const Metadata::Value& value = *metadata.find(key);
  const bool array = value.type == ValueType::kArray;
  switch (array ? value.element : value.type) {
    case ValueType::kI8:
    case ValueType::kI16:
    case ValueType::kI32:
    case ValueType::kI64:
      return visit_as<int64_t>(metadata, key, array, visit);
    case ValueType::kF32:  // not double: 0.1f prints as 0.1 only as a float
      return visit_as<float>(metadata, key, array, visit);
    case ValueType::kF64:
      return visit_as<double>(metadata, key, array, visit);
    case ValueType::kBool:
      return visit_as<bool>(metadata, key, array, visit);
    case ValueType::kString:
      return visit_as<std::string_view>(metadata, key, array, visit);
    case ValueType::kU8:
    case ValueType::kU16:
    case ValueType::kU32:
    case ValueType::kU64:
    case ValueType::kArray:  // arrays of arrays do not exist
      break;
  }
  return visit_as<uint64_t>(metadata, key, array, visit);
}

template <typename T>
std::string element_text(const T& element, size_t max_text) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return printable(element, max_text);
  } else {
    return fmt::format("{}", element);
  }
}

}  // namespace

std::string value_type_text(const Metadata::Value& value) {
  if (value.type != ValueType::kArray) return value_type_name(value.type);
  return fmt::format("{}[{}]", value_type_name(value.element), value.count);
}

std::string value_text(const Metadata& metadata, std::string_view key) {
  const bool array = metadata.find(key)->type == ValueType::kArray;
  return visit_elements(metadata, key, [&]<typename T>(const std::vector<T>& elements) {
    if (!array) return element_text<T>(elements[0], kMaxText);
    std::string text;
    for (size_t i = 0; i < std::min(elements.size(), kTextElements); ++i) {
      text += (i == 0 ? "" : ", ") + element_text<T>(elements[i], kMaxElementText);
    }
    return elements.size() > kTextElements ? text + ", ..." : text;
  });
}

Json value_json(const Metadata& metadata, std::string_view key) {
  const Metadata::Value& value = *metadata.find(key);
  return visit_elements(metadata, key, [&]<typename T>(const std::vector<T>& elements) {
    if (value.type != ValueType::kArray) return Json(static_cast<T>(elements[0]));
    Json first = Json::array();
    for (size_t i = 0; i < std::min(elements.size(), kJsonElements); ++i)
      first.push_back(static_cast<T>(elements[i]));
    return Json{{"count", value.count}, {"first", std::move(first)}};
  });
}

}  // namespace quire::cli
