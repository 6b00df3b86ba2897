// Fields: the members of a request's JSON object, each read once with its type; what nobody read is unknown.
//
// The first thing wrong is kept and reported by finish(), naming the field. A member that is null is absent.
// Points into the JSON, which must outlive it. One thread at a time.
//
//   Fields fields(body);
//   settings.top_p = fields.number("top_p", 0, 1).value_or(0.95);
//   fields.refuse("grammar", "grammars are not supported yet", {Json("")});
//   QUIRE_RETURN_IF_ERROR(fields.finish());
#pragma once

#include <initializer_list>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/function_ref.h"
#include "server/api/api_result.h"
#include "server/api/field_log.h"

namespace quire::server {

class Fields {
 public:
  // `where` stands before names in messages: "messages[2].". `log` hears of every field that is asked for.
  explicit Fields(const Json& object, std::string where = "", FieldLog* log = nullptr);
  // Of an object inside of another.
  Fields(const Json& object, std::string where, const Fields& outer)
      : Fields(object, std::move(where), outer.log_) {}

  // Null when absent. The schema, as JSON, says what the caller is going to accept.
  const Json* any(std::string_view name, std::string_view schema = "{}");
  std::optional<bool> flag(std::string_view name);
  // A JSON integer, or a number without fraction.
  std::optional<int64_t> integer(std::string_view name, int64_t low = std::numeric_limits<int64_t>::min(),
                                 int64_t high = std::numeric_limits<int64_t>::max());
  std::optional<double> number(std::string_view name, double low = -std::numeric_limits<double>::max(),
                               double high = std::numeric_limits<double>::max());
  std::optional<std::string> text(std::string_view name);
  // One of the words.
  std::optional<std::string> word(std::string_view name, std::initializer_list<std::string_view> words);
  const Json* object(std::string_view name);
  const Json* array(std::string_view name);

  // Known, of no influence on the answer: taken with any value.
  void ignore(std::initializer_list<std::string_view> names);
  // Would change the answer and cannot be honoured: an error unless absent or one of `no_ops`.
  void refuse(std::string_view name, std::string_view why, std::initializer_list<Json> no_ops = {});

  void fail(ApiError error);  // keeps the first
  void fail(std::string_view name, std::string_view message);
  bool failed() const { return error_.has_value(); }
  ApiStatus finish();

 private:
  const Json* find(std::string_view name, FunctionRef<Json()> schema);
  void wrong_type(std::string_view name, std::string_view expected);

  const Json& object_;
  std::string where_;
  FieldLog* log_;
  std::set<std::string, std::less<>> known_;
  std::optional<ApiError> error_;
};

}  // namespace quire::server
