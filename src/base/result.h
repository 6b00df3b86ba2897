// Result<T>: how code that meets the outside world (files, requests, budgets) reports failure.
//
// A function that can fail because of its input returns Result<T> (or Status when there is no value).
// Programmer errors are QUIRE_CHECK (check.h) and abort. Library code never prints and never exits.
// Values are owned by the Result. Not thread safe, like any value type.
//
//   Result<int> parse(std::string_view text);
//   QUIRE_ASSIGN_OR_RETURN(int n, parse("42"));
#pragma once

#include <fmt/core.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace quire {

// The canonical kinds of failure. One table maps them to exit codes (cli) and one to HTTP statuses (server).
enum class ErrorCode {
  kInvalidArgument,    // the caller's value is wrong: option, request field, token id
  kNotFound,           // a file, key, tensor or name is missing
  kCorrupt,            // a file or message breaks its own format
  kUnsupported,        // well formed, but this program cannot do it (yet)
  kResourceExhausted,  // does not fit the memory, queue or budget given
  kContextLength,      // a sequence is longer than its window
  kCancelled,          // stopped on request
  kIo,                 // the operating system refused
  kInternal,           // a defect in this program
};

// What went wrong. `message` is one line: the thing, what was found, what was expected, what to do.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
};

// Builds an Error with a formatted message: make_error(ErrorCode::kCorrupt, "{}: bad magic", path).
template <typename... Args>
Error make_error(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return Error{code, fmt::format(format, std::forward<Args>(args)...)};
}

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit by design
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // The value; the Result must be ok().
  T& value() & { return check(), *std::get_if<0>(&state_); }
  const T& value() const& { return check(), *std::get_if<0>(&state_); }
  T&& value() && { return check(), std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // The error; the Result must not be ok().
  const Error& error() const& {
    QUIRE_CHECK(!ok());
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    QUIRE_CHECK(!ok());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  void check() const {
    if (!ok()) check_failed(__FILE__, __LINE__, "Result::ok()", std::get_if<1>(&state_)->message.c_str());
  }
  std::variant<T, Error> state_;
};

// A Result without a value. Default-constructed it is ok.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit by design
  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const& {
    QUIRE_CHECK(error_.has_value());
    return *error_;
  }
  Error&& error() && {
    QUIRE_CHECK(error_.has_value());
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace quire

#define QUIRE_CONCAT_INNER_(a, b) a##b
#define QUIRE_CONCAT_(a, b) QUIRE_CONCAT_INNER_(a, b)

// Returns the error from the enclosing function if `expr` failed; otherwise discards its value.
#define QUIRE_RETURN_IF_ERROR(expr)                                   \
  do {                                                                \
    auto quire_status_ = (expr);                                      \
    if (!quire_status_.ok()) return std::move(quire_status_).error(); \
  } while (0)

// Declares or assigns `target` from a Result, or returns its error from the enclosing function.
#define QUIRE_ASSIGN_OR_RETURN(target, expr) \
  QUIRE_ASSIGN_OR_RETURN_(QUIRE_CONCAT_(quire_result_, __LINE__), target, expr)
#define QUIRE_ASSIGN_OR_RETURN_(result, target, expr) \
  auto result = (expr);                               \
  if (!result.ok()) return std::move(result).error(); \
  target = std::move(result).value()
