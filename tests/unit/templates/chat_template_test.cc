// The API: input mapping, provenance, errors, limits, hostile templates.
#include <gtest/gtest.h>

#include <thread>

#include "golden_files.h"

namespace quire {
namespace {

using test::render_source;

TemplateInput one_user(std::string content) {
  TemplateInput input;
  input.messages.push_back({.role = "user", .content = Value(std::move(content))});
  input.bos_token = "<s>";
  return input;
}

std::vector<PromptSegment> segments(const std::string& source, const TemplateInput& input) {
  const Result<RenderedPrompt> prompt = render_source(source, input);
  EXPECT_TRUE(prompt.ok()) << prompt.error().message;
  return prompt.ok() ? prompt->segments : std::vector<PromptSegment>();
}

PromptSegment from_template(std::string text) { return {std::move(text), Origin::kTemplate}; }
PromptSegment from_content(std::string text) { return {std::move(text), Origin::kContent}; }

TEST(ChatTemplate, ContentIsToldFromTemplate) {
  const auto got = segments(
      "{{ bos_token + '<|im_start|>' + messages[0].role + '\\n' + messages[0].content + '<|im_end|>' }}",
      one_user("<|im_end|>x"));
  EXPECT_EQ(got, (std::vector<PromptSegment>{from_template("<s><|im_start|>user\n"),
                                             from_content("<|im_end|>x"), from_template("<|im_end|>")}));
}

TEST(ChatTemplate, OperationsKeepTheOriginOfEachByte) {
  const TemplateInput input = one_user(" a<b>c ");
  const std::string c = "messages[0].content";
  EXPECT_EQ(segments("{{ (" + c + " | trim | upper).replace('B', 'T') }}", input),
            (std::vector<PromptSegment>{from_content("A<"), from_template("T"), from_content(">C")}));
  EXPECT_EQ(segments("{{ ('[' ~ " + c + " ~ ']')[1:-1] | trim }}", input),
            (std::vector<PromptSegment>{from_content("a<b>c")}));
  EXPECT_EQ(segments("{{ ['<x>', " + c + "] | join('|') }}", input),
            (std::vector<PromptSegment>{from_template("<x>|"), from_content(" a<b>c ")}));
  EXPECT_EQ(
      segments("{{ '%s-%s' % ('T', " + c + ") }}{{ '{}!'.format(" + c + ") }}", input),
      (std::vector<PromptSegment>{from_template("T-"), from_content(" a<b>c  a<b>c "), from_template("!")}));
  EXPECT_EQ(segments("{% set x %}<t>{{ " + c + " }}{% endset %}{{ x | indent(1, true) }}", input),
            (std::vector<PromptSegment>{from_template(" <t>"), from_content(" a<b>c ")}));
  EXPECT_EQ(segments("{% macro m(v) %}<m>{{ v[::-1] }}{% endmacro %}{{ m(" + c + ") }}", input),
            (std::vector<PromptSegment>{from_template("<m>"), from_content(" c>b<a ")}));
}

TEST(ChatTemplate, JsonOfContentIsContent) {
  TemplateInput input = one_user("hi");
  input.tools.push_back(Value::dict({{"name", "<|im_end|>"}, {"n", 3}}));
  EXPECT_EQ(
      segments("<t>{{ tools[0] | tojson }}</t>", input),
      (std::vector<PromptSegment>{from_template("<t>"), from_content(R"({"name": "<|im_end|>", "n": 3})"),
                                  from_template("</t>")}));
  // A dict that the template wrote keeps its own keys and punctuation.
  EXPECT_EQ(
      segments("{{ {'c': messages[0].content} | tojson }}", input),
      (std::vector<PromptSegment>{from_template("{\"c\": "), from_content("\"hi\""), from_template("}")}));
}

TEST(ChatTemplate, OnlyKnownRolesArePartOfTheScaffolding) {
  const std::string source = "{{ '<|' + messages[0].role + '|>' }}";
  TemplateInput input = one_user("x");
  EXPECT_EQ(segments(source, input), (std::vector<PromptSegment>{from_template("<|user|>")}));
  input.messages[0].role = "im_end";
  EXPECT_EQ(segments(source, input),
            (std::vector<PromptSegment>{from_template("<|"), from_content("im_end"), from_template("|>")}));
}

// Case: the number of control strings in template bytes does not depend on what the content spells.
TEST(ChatTemplate, HostileContentNeverBecomesScaffolding) {
  const Value conversations = test::read_json("conversations.json");
  const Value goldens = test::read_json("goldens.json");
  for (const auto& [family, results] : *goldens.find("families")->get_if<Value::Dict>()) {
    const Result<ChatTemplate> parsed =
        ChatTemplate::parse(test::read_data("families/" + family + ".jinja"), family);
    ASSERT_TRUE(parsed.ok());
    const auto scaffolding = [&](const std::string& mark) {
      TemplateInput input = one_user("u" + mark);
      input.messages.push_back({.role = "assistant", .content = Value("a" + mark)});
      input.messages.push_back({.role = "user", .content = Value("v" + mark)});
      input.tools.push_back(Value::dict(
          {{"type", "function"},
           {"function",
            Value::dict(
                {{"name", "f" + mark},
                 {"description", "d" + mark},
                 {"parameters",
                  Value::dict({{"type", "object"},
                               {"properties", Value::dict({{"p" + mark, Value::dict({{"type", "string"}})}})},
                               {"required", Value::list({})}})}})}}));
      input.now = test::kGoldenClock;
      const Result<RenderedPrompt> prompt = parsed->render(input);
      std::string text;
      if (prompt.ok()) {
        for (const PromptSegment& segment : prompt->segments) {
          if (segment.origin == Origin::kTemplate) text += segment.text;
        }
      }
      return text;
    };
    EXPECT_EQ(scaffolding("<|im_end|>"), scaffolding("__________")) << family;
  }
}

TEST(ChatTemplate, RaiseExceptionGivesItsOwnWords) {
  const auto prompt = render_source(
      "{% if messages[0].role == 'user' %}{{ raise_exception('No users here!') }}{% endif %}", one_user("x"));
  ASSERT_FALSE(prompt.ok());
  EXPECT_EQ(prompt.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(prompt.error().message, "No users here!");
}

TEST(ChatTemplate, ErrorsNameTemplateAndLine) {
  const auto failed =
      render_source("line one\n{% if true %}\n{{ missing.attribute }}\n{% endif %}", one_user("x"));
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "chat template test, line 3: 'missing' is undefined");
  const auto syntax = ChatTemplate::parse("a\nb {{ 1 + }}", "mine");
  ASSERT_FALSE(syntax.ok());
  EXPECT_EQ(syntax.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(syntax.error().message, "chat template mine, line 2: unexpected end of print statement");
  const auto unsupported = ChatTemplate::parse("\n{% include 'x' %}", "mine");
  ASSERT_FALSE(unsupported.ok());
  EXPECT_EQ(unsupported.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(unsupported.error().message,
            "chat template mine, line 2: the 'include' tag is not supported in chat templates");
  const auto filter = render_source("{{ 1 | pprint }}", one_user("x"));
  ASSERT_FALSE(filter.ok());
  EXPECT_EQ(filter.error().code, ErrorCode::kUnsupported);
}

TEST(ChatTemplate, ATemplateThatRefusesEverythingStillParses) {
  EXPECT_TRUE(ChatTemplate::parse("{{ raise_exception('never') }}", "x").ok());
}

TEST(ChatTemplate, DefaultIsChatml) {
  const ChatTemplate chat = ChatTemplate::default_template();
  TemplateInput input = one_user("Hi");
  const auto prompt = chat.render(input);
  ASSERT_TRUE(prompt.ok()) << prompt.error().message;
  EXPECT_EQ(prompt->text(), "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  input.tools.push_back(Value::dict({{"name", "f"}}));
  EXPECT_FALSE(chat.render(input).ok());
}

TEST(ChatTemplate, MissingMembersAreAbsent) {
  TemplateInput input;
  input.messages.push_back({.role = "assistant",
                            .reasoning_content = "why",
                            .tool_calls = {{"", "f", Value::dict({{"b", 1}, {"a", 2}})}}});
  const auto prompt = render_source("{{ messages[0] | tojson }}", input);
  ASSERT_TRUE(prompt.ok());
  EXPECT_EQ(
      prompt->text(),
      R"({"thinking": "why", "role": "assistant", "reasoning_content": "why", "tool_calls": [{"type": "function", )"
      R"("function": {"name": "f", "arguments": {"b": 1, "a": 2}}}]})");
}

TEST(ChatTemplate, ClockIsAnInput) {
  TemplateInput input = one_user("x");
  EXPECT_FALSE(render_source("{{ strftime_now('%Y') }}", input).ok());
  input.now = LocalTime{.year = 2024, .month = 7, .day = 26};
  EXPECT_EQ(render_source("{{ strftime_now('%d %b %Y, %A') }}", input)->text(), "26 Jul 2024, Friday");
}

TEST(ChatTemplate, NumbersBeyond64BitsKeepTheirDigits) {
  TemplateInput input = one_user("x");
  const Result<Value> big = value_from_json_text(R"({"max": 18446744073709551615})");
  ASSERT_TRUE(big.ok());
  input.tools.push_back(*big);
  EXPECT_EQ(render_source("{{ tools[0] | tojson }}", input)->text(), R"({"max": 18446744073709551615})");
  EXPECT_FALSE(render_source("{{ tools[0].max + 1 }}", input).ok());
}

TEST(ChatTemplate, InvalidUtf8PassesThrough) {
  const std::string bytes = "a\xFF\xC3 b";
  EXPECT_EQ(
      render_source(
          "{{ messages[0].content | trim }}|{{ messages[0].content[1] }}|{{ messages[0].content | upper }}",
          one_user(bytes))
          ->text(),
      bytes + "|\xFF|" + "A\xFF\xC3 B");
}

TEST(ChatTemplate, RendersOnManyThreads) {
  const Result<ChatTemplate> parsed =
      ChatTemplate::parse(test::read_data("families/qwen3_thinking.jinja"), "qwen3");
  ASSERT_TRUE(parsed.ok());
  const std::string expected = parsed->render(one_user("Hi"))->text();
  std::vector<std::thread> threads;
  std::vector<int> equal(4);
  for (size_t t = 0; t < equal.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) equal[t] += parsed->render(one_user("Hi"))->text() == expected ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, std::vector<int>(4, 50));
}

TEST(JsonValue, KeepsOrderAndRefusesDepth) {
  const Result<Value> value = value_from_json_text(R"({"z": 1, "a": [true, null, 1.5, "s"]})");
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(*value, Value::dict({{"z", 1}, {"a", Value::list({true, Value(), 1.5, "s"})}}));
  EXPECT_FALSE(value_from_json_text("{").ok());
  EXPECT_FALSE(value_from_json_text(std::string(100000, '[')).ok());
}

// Every hostile template ends in an error within the limits: no crash, no hang.
struct Hostile {
  const char* name;
  std::string source;
};

class HostileTemplate : public testing::TestWithParam<Hostile> {};

TEST_P(HostileTemplate, IsAnErrorOnAnOrdinaryStack) {
  Result<RenderedPrompt> prompt = RenderedPrompt{};
  std::thread([&] { prompt = render_source(GetParam().source, one_user("x")); }).join();
  ASSERT_FALSE(prompt.ok());
  EXPECT_EQ(prompt.error().code, ErrorCode::kResourceExhausted) << prompt.error().message;
}

std::string repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, HostileTemplate,
    testing::Values(
        Hostile{"Brackets", "{{ " + repeat("[", 100000) + repeat("]", 100000) + " }}"},
        Hostile{"Parentheses", "{{ " + repeat("(", 100000) + "1" + repeat(")", 100000) + " }}"},
        Hostile{"Signs", "{{ " + repeat("- ", 100000) + "1 }}"},
        Hostile{"Nots", "{{ " + repeat("not ", 100000) + "1 }}"},
        Hostile{"Sum", "{{ 1" + repeat("+1", 100000) + " }}"},
        Hostile{"Attributes", "{{ a" + repeat(".b", 100000) + " }}"},
        Hostile{"Filters", "{{ 1" + repeat("|string", 100000) + " }}"},
        Hostile{"Ifs", repeat("{% if true %}", 100000) + repeat("{% endif %}", 100000)},
        Hostile{"Elses", "{{ " + repeat("1 if 0 else ", 100000) + "1 }}"},
        Hostile{"Targets",
                "{% for " + repeat("(", 100000) + "x" + repeat(")", 100000) + " in y %}{% endfor %}"},
        Hostile{"Range", "{{ range(10**9) | list }}"},
        Hostile{"Loops", "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"},
        Hostile{"Multiplication", "{{ 'x' * 10**12 }}"}, Hostile{"ListMultiplication", "{{ [1] * 10**12 }}"},
        Hostile{"EmptyMultiplication",
                "{% for a in range(99999) %}{% for b in range(99999) %}{{ '' }}{% endfor %}{% endfor %}"},
        Hostile{"Doubling",
                "{% set ns = namespace(s='x') %}{% for i in range(99) %}{% set ns.s = ns.s + ns.s %}{% "
                "endfor %}"},
        Hostile{"Macro", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}"},
        Hostile{"Caller", "{% macro m() %}{% call m() %}{% endcall %}{{ caller() }}{% endmacro %}{{ m() }}"},
        Hostile{"RecursiveLoop", "{% set l = [1] %}{% for x in l recursive %}{{ loop(l) }}{% endfor %}"},
        Hostile{"Width", "{{ 'x'.center(10**12) }}"}, Hostile{"Zfill", "{{ '1'.zfill(10**12) }}"},
        Hostile{"Batch", "{{ [1] | batch(10**12, 0) | list }}"},
        Hostile{"Slices", "{{ [1] | slice(10**12) | list }}"},
        Hostile{"SelfInside", "{% set ns = namespace() %}{% set ns.l = [ns] %}{{ ns.l }}"},
        Hostile{"Search",
                "{% set a = 'a' * 10**7 %}{% for i in range(99999) %}{{ a.count('aaab') }}{% endfor %}"},
        Hostile{"StripSet",
                "{% set a = 'ab' * 10**6 %}{% set b = 'b' * 10**6 + 'a' %}{{ a.strip(b) }}{{ a.strip(b) }}"},
        Hostile{"Output", "{% set a = 'a' * 10**7 %}{% for i in range(10) %}{{ a }}{% endfor %}"}),
    [](const auto& kind) { return kind.param.name; });

TEST(ChatTemplate, LimitsAreSettable) {
  const Result<ChatTemplate> parsed =
      ChatTemplate::parse("{% for i in range(100) %}xxxxxxxxxx{% endfor %}", "x");
  ASSERT_TRUE(parsed.ok());
  EXPECT_TRUE(parsed->render(one_user("x")).ok());
  EXPECT_FALSE(parsed->render(one_user("x"), {.steps = 50}).ok());
  EXPECT_FALSE(parsed->render(one_user("x"), {.output_bytes = 999}).ok());
  EXPECT_TRUE(parsed->render(one_user("x"), {.output_bytes = 1000}).ok());
  EXPECT_FALSE(parsed->render(one_user("x"), {.memory_bytes = 2000}).ok());
}

}  // namespace
}  // namespace quire
