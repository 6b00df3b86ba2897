#include "server/api/field_log.h"

#include <gtest/gtest.h>

#include "server/api/fields.h"

namespace quire::server {
namespace {

TEST(FieldLog, IsWhatTheReadingAskedFor) {
  const Json body = {{"messages", {{{"role", "user"}}}}, {"options", Json::object()}};
  FieldLog log;
  Fields fields(body, "", &log);
  fields.number("top_p", 0, 1);
  fields.flag("stream");
  fields.word("format", {"a", "b"});
  fields.refuse("grammar", "not yet", {""});
  fields.ignore({"user"});
  const Json* const messages = fields.array("messages");
  ASSERT_NE(messages, nullptr);
  Fields message((*messages)[0], "messages[0]", fields);
  message.text("role");
  const Json* const options = fields.object("options");
  ASSERT_NE(options, nullptr);
  Fields inner(*options, "options", fields);
  inner.integer("n", 1);
  const Json& properties = log.schema()["properties"];
  EXPECT_EQ(properties["top_p"], (Json{{"type", {"number", "null"}}, {"minimum", 0.0}, {"maximum", 1.0}}));
  EXPECT_EQ(properties["stream"], (Json{{"type", {"boolean", "null"}}}));
  EXPECT_EQ(properties["format"], (Json{{"enum", {"a", "b", nullptr}}}));
  EXPECT_EQ(properties["grammar"]["enum"], (Json{"", nullptr}));
  EXPECT_TRUE(properties.contains("user"));
  EXPECT_EQ(properties["messages"]["items"]["properties"]["role"], (Json{{"type", {"string", "null"}}}));
  EXPECT_EQ(properties["options"]["properties"]["n"], (Json{{"type", {"integer", "null"}}, {"minimum", 1}}));
  EXPECT_EQ(log.schema()["additionalProperties"], false);
}

}  // namespace
}  // namespace quire::server
