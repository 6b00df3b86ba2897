#include "server/api/fields.h"

#include <gtest/gtest.h>

#include "server/api/json_text.h"

namespace quire::server {
namespace {

Json parsed(std::string_view text) {
  ApiResult<Json> json = parse_json(text);
  EXPECT_TRUE(json.ok()) << text;
  return json.ok() ? *json : Json();
}

TEST(JsonText, IsStrict) {
  for (const char* text : {"", "{", "{:", "[1,]", "nul", "{\"a\": 1e400}", "{\"a\":1,\"a\":2}",
                           "{\"b\":{\"a\":1,\"a\":2}}", "\"\xFF\"", "1 2", "{\"a\": NaN}"})
    EXPECT_FALSE(parse_json(text).ok()) << text;
  EXPECT_TRUE(parse_json(R"({"a": {"x": 1}, "b": {"x": 1}})").ok());
  EXPECT_FALSE(parse_json(std::string(kMaxJsonDepth + 2, '[') + std::string(kMaxJsonDepth + 2, ']')).ok());
  EXPECT_FALSE(parse_json(std::string(1 << 20, '[')).ok());
}

TEST(JsonText, ErrorsRepeatNoBytes) {
  const ApiResult<Json> json = parse_json("{\"a\": secret}");
  ASSERT_FALSE(json.ok());
  EXPECT_EQ(json.error().message.find("secret"), std::string::npos);
}

TEST(Fields, ReadsEachTypeAndNamesWhatIsWrong) {
  const Json body =
      parsed(R"({"i": 3, "whole": 4.0, "f": 1.5, "t": "x", "b": true, "null": null, "o": {}, "a": []})");
  Fields fields(body);
  EXPECT_EQ(fields.integer("i"), 3);
  EXPECT_EQ(fields.integer("whole"), 4);
  EXPECT_EQ(fields.number("f"), 1.5);
  EXPECT_EQ(fields.text("t"), "x");
  EXPECT_EQ(fields.flag("b"), true);
  EXPECT_EQ(fields.text("null"), std::nullopt);
  EXPECT_NE(fields.object("o"), nullptr);
  EXPECT_NE(fields.array("a"), nullptr);
  EXPECT_EQ(fields.integer("absent"), std::nullopt);
  EXPECT_TRUE(fields.finish().ok());

  const auto problem = [&](auto read) {
    Fields again(body, "here");
    read(again);
    const ApiStatus status = again.finish();
    return status.ok() ? std::string() : status.error().message;
  };
  EXPECT_EQ(problem([](Fields& f) { f.integer("f"); }), "here.f: expected an integer");
  EXPECT_EQ(problem([](Fields& f) { f.flag("t"); }), "here.t: expected true or false");
  EXPECT_EQ(problem([](Fields& f) { f.integer("i", 5, 9); }), "here.i: is 3, must be between 5 and 9");
  EXPECT_EQ(problem([](Fields& f) { f.refuse("t", "no", {"y"}); }), "here.t: no");
  EXPECT_EQ(problem([](Fields& f) { f.refuse("t", "no", {"x"}); }), "here.i: this field is not known");
}

TEST(Fields, LargeIntegers) {
  const Json body = parsed(R"({"big": 18446744073709551615, "float": 1e300})");
  Fields big(body);
  big.integer("big");
  EXPECT_FALSE(big.finish().ok());
  Fields real(body);
  real.integer("float");
  EXPECT_TRUE(real.failed());
}

TEST(Fields, WhatIsNoObject) {
  const Json body = parsed("[1]");
  Fields fields(body);
  EXPECT_EQ(fields.text("a"), std::nullopt);
  EXPECT_FALSE(fields.finish().ok());
}

}  // namespace
}  // namespace quire::server
