// Byte equality with Python's jinja2 under transformers' settings, over stored results.
#include <gtest/gtest.h>

#include "golden_files.h"

namespace quire {
namespace {

using test::conversation_of;
using test::disagreement;
using test::read_data;
using test::read_json;
using test::render_source;
using test::string_of;

TEST(TemplateGoldens, FamiliesRenderAsTransformersDoes) {
  const Value conversations = read_json("conversations.json");
  const Value goldens = read_json("goldens.json");
  const Value* families = goldens.find("families");
  ASSERT_NE(families, nullptr);
  int compared = 0;
  for (const auto& [family, results] : *families->get_if<Value::Dict>()) {
    const Result<ChatTemplate> parsed =
        ChatTemplate::parse(read_data("families/" + family + ".jinja"), family);
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    for (const Value& conversation : *conversations.get_if<Value::List>()) {
      const std::string name = string_of(conversation.find("name"));
      const Value* golden = results.find(name);
      ASSERT_NE(golden, nullptr) << family << " " << name;
      EXPECT_EQ(disagreement(parsed->render(conversation_of(conversation)), *golden), "")
          << family << " / " << name;
      ++compared;
    }
  }
  EXPECT_GE(compared, 30 * 15);
}

TemplateInput context_input() {
  TemplateInput input;
  input.now = test::kGoldenClock;
  input.variables = *read_json("context.json").get_if<Value::Dict>();
  // The goldens of snippets see these variables and no conversation.
  return input;
}

void compare_sources(const char* section, size_t at_least) {
  const Value goldens = read_json("goldens.json");
  const TemplateInput input = context_input();
  const auto& entries = *goldens.find(section)->get_if<Value::List>();
  EXPECT_GE(entries.size(), at_least);
  for (const Value& entry : entries) {
    const std::string source = string_of(entry.find("source"));
    EXPECT_EQ(disagreement(render_source(source, input), entry), "") << source;
  }
}

TEST(TemplateGoldens, SnippetsOfEveryFeature) { compare_sources("snippets", 90); }
TEST(TemplateGoldens, GeneratedExpressions) { compare_sources("expressions", 2000); }

}  // namespace
}  // namespace quire
