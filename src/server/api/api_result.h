// ApiResult<T>: a value, or the ApiError that refuses the request. Used as Result is (base/result.h).
#pragma once

#include <utility>
#include <variant>

#include "base/check.h"
#include "server/api/api_error.h"

namespace quire::server {

template <typename T>
class [[nodiscard]] ApiResult {
 public:
  ApiResult(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: implicit by design
  ApiResult(ApiError error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT
  ApiResult(const Error& error) : ApiResult(from_error(error)) {}                  // NOLINT

  bool ok() const { return state_.index() == 0; }
  T& value() & { return check(), *std::get_if<0>(&state_); }
  const T& value() const& { return check(), *std::get_if<0>(&state_); }
  T&& value() && { return check(), std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const ApiError& error() const& { return *std::get_if<1>(&state_); }
  ApiError&& error() && { return std::move(*std::get_if<1>(&state_)); }

 private:
  void check() const { QUIRE_CHECK(ok()); }
  std::variant<T, ApiError> state_;
};

struct Nothing {};
using ApiStatus = ApiResult<Nothing>;

}  // namespace quire::server
