// Value: JSON-like data handed to a chat template (messages, tools, extra variables).
//
// A plain value type: it owns everything below it, copies deeply, keeps the insertion order of dictionaries
// and is as thread safe as any value type. Integers outside int64 keep their decimal digits (BigInteger).
//
//   Value tool = Value::dict({{"name", "get_weather"}, {"strict", true}});
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace quire {

// An integer that does not fit int64, as its decimal digits ("18446744073709551615", "-9223372036854775809").
struct BigInteger {
  std::string digits;
  bool operator==(const BigInteger&) const = default;
};

class Value {
 public:
  using List = std::vector<Value>;
  using Member = std::pair<std::string, Value>;
  using Dict = std::vector<Member>;

  Value() = default;                                            // none
  Value(bool value) : data_(value) {}                           // NOLINT: implicit by design
  Value(int value) : data_(int64_t{value}) {}                   // NOLINT
  Value(int64_t value) : data_(value) {}                        // NOLINT
  Value(double value) : data_(value) {}                         // NOLINT
  Value(std::string value) : data_(std::move(value)) {}         // NOLINT
  Value(std::string_view value) : data_(std::string(value)) {}  // NOLINT
  Value(const char* value) : data_(std::string(value)) {}       // NOLINT
  Value(BigInteger value) : data_(std::move(value)) {}          // NOLINT
  Value(List value) : data_(std::move(value)) {}                // NOLINT
  Value(Dict value) : data_(std::move(value)) {}                // NOLINT
  static Value list(std::initializer_list<Value> items) { return Value(List(items)); }
  static Value dict(std::initializer_list<Member> members) { return Value(Dict(members)); }

  bool is_none() const { return std::holds_alternative<std::monostate>(data_); }

  // The held alternative, or null when it is another one.
  template <typename T>
  const T* get_if() const {
    return std::get_if<T>(&data_);
  }
  template <typename T>
  T* get_if() {
    return std::get_if<T>(&data_);
  }

  // Dict access. set() replaces an existing key in place, else appends; the value must be a dict (or none,
  // which becomes one). find() is null for a missing key or another kind of value.
  void set(std::string key, Value value);
  const Value* find(std::string_view key) const;

  bool operator==(const Value&) const = default;

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, BigInteger, List, Dict> data_;
};

}  // namespace quire
