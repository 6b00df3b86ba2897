#include "server/answer/choice_reader.h"

#include <gtest/gtest.h>

#include "base/log.h"

namespace quire::server {
namespace {

// Id = byte, for the bytes of ASCII.
const Tokenizer& byte_tokenizer() {
  static const std::unique_ptr<Tokenizer> tokenizer = [] {
    VocabData data{.model = "rwkv"};
    for (int byte = 0; byte < 128; ++byte) data.tokens.push_back(fmt::format("\\x{:02x}", byte));
    NullLogSink log;
    auto built = Tokenizer::build(std::move(data), log);
    EXPECT_TRUE(built.ok()) << built.error().message;
    return std::move(*built);
  }();
  return *tokenizer;
}

// "text", "[reasoning]" and "{name arguments}" of the deltas, those of one kind joined; "!" when it ended
// early.
std::string read(std::string_view text, ReaderOptions options) {
  ChoiceReader reader(byte_tokenizer(), std::move(options));
  std::vector<Delta> deltas;
  for (const char c : text) reader.push({.id = c}, deltas);
  const bool early = reader.ended();
  reader.finish(deltas);
  std::string out;
  for (size_t i = 0; i < deltas.size(); ++i) {
    const Delta& delta = deltas[i];
    const bool first = i == 0 || deltas[i - 1].kind != delta.kind;
    const bool last = i + 1 == deltas.size() || deltas[i + 1].kind != delta.kind;
    if (delta.kind == DeltaKind::kToolCall) {
      out += "{" + delta.call.name + " " + delta.call.arguments + "}";
    } else if (delta.kind == DeltaKind::kReasoning) {
      out += (first ? "[" : "") + delta.text + (last ? "]" : "");
    } else {
      out += delta.text;
    }
  }
  return out + (early ? "!" : "");
}

TEST(ChoiceReader, PlainText) {
  EXPECT_EQ(read("Hello, world \n", {}), "Hello, world \n");
  EXPECT_EQ(read("Hello, world", {.stops = {", w"}}), "Hello!");
  EXPECT_EQ(read("<think>x</think>", {}), "<think>x</think>");
}

TEST(ChoiceReader, Thinking) {
  EXPECT_EQ(read("<think>\nhm, so\n</think>\n\nHi", {.split_thinking = true}), "[hm, so]Hi");
  EXPECT_EQ(read("hm</think>Hi", {.split_thinking = true, .begins_thinking = true}), "[hm]Hi");
  EXPECT_EQ(read("no tags <thin", {.split_thinking = true}), "no tags <thin");
  EXPECT_EQ(read("<think>unended", {.split_thinking = true}), "[unended]");
}

TEST(ChoiceReader, ToolCalls) {
  const ReaderOptions hermes{.tools = ToolSyntax::kHermes};
  const std::string call = R"(<tool_call>
{"name": "f", "arguments": {"a": 1}}
</tool_call>)";
  EXPECT_EQ(read(call, hermes), R"({f {"a":1}})");
  EXPECT_EQ(read("Let me see.\n" + call + "\n" + call, hermes), R"(Let me see.{f {"a":1}}{f {"a":1}})");
  EXPECT_EQ(read(call + call, {.tools = ToolSyntax::kHermes, .tool_calls = ToolCallCount::kOne}),
            R"({f {"a":1}}!)");
  EXPECT_EQ(read("<tool_call>no JSON</tool_call> after", hermes), "<tool_call>no JSON</tool_call>after");
  EXPECT_EQ(read("<tool_call>{\"name\"", hermes), "<tool_call>{\"name\"");

  const ReaderOptions llama{.tools = ToolSyntax::kLlama3};
  EXPECT_EQ(read(R"({"name": "f", "parameters": {}})", llama), "{f {}}");
  EXPECT_EQ(read(R"(<|python_tag|>{"name": "f", "parameters": {}})", llama), "{f {}}");
  EXPECT_EQ(read(R"({"a": 1} is JSON)", llama), R"({"a": 1} is JSON)");
  EXPECT_EQ(read(R"(It is {"name": "f", "parameters": {}})", llama),
            R"(It is {"name": "f", "parameters": {}})");
  EXPECT_EQ(read(R"([TOOL_CALLS][{"name": "f", "arguments": {}}])", {.tools = ToolSyntax::kMistral}),
            "{f {}}");
}

TEST(ChoiceReader, ThinkingThenACall) {
  EXPECT_EQ(read(R"(<think>call f</think><tool_call>{"name": "f", "arguments": {}}</tool_call>)",
                 {.split_thinking = true, .tools = ToolSyntax::kHermes}),
            "[call f]{f {}}");
}

// What the server has begun is part of the call; what then turns out to be none is shown from its beginning.
TEST(ChoiceReader, ACallThatWasBegun) {
  for (const ToolSyntax syntax : {ToolSyntax::kHermes, ToolSyntax::kLlama3, ToolSyntax::kMistral}) {
    const std::string any = call_beginning(syntax).text, named = call_beginning(syntax, "f").text;
    const std::string arguments = syntax == ToolSyntax::kLlama3 ? "parameters" : "arguments";
    const std::string close = syntax == ToolSyntax::kHermes    ? "\n</tool_call>"
                              : syntax == ToolSyntax::kMistral ? "]"
                                                               : "";
    EXPECT_EQ(read("g\", \"" + arguments + "\": {\"a\": 1}}" + close, {.tools = syntax, .begun_call = any}),
              R"({g {"a":1}})");
    EXPECT_EQ(read(" {}}" + close, {.tools = syntax, .begun_call = named}), "{f {}}");
    EXPECT_EQ(read(" no", {.tools = syntax, .begun_call = named}),
              call_beginning(syntax).open + named + " no");
  }
}

TEST(ChoiceReader, AStopStringMayBeKept) {
  EXPECT_EQ(read("Hello, world", {.stops = {", w"}, .stop_text = StopText::kKeep}), "Hello, w!");
}

TEST(ChoiceReader, DetailsGoWithTheText) {
  ChoiceReader reader(byte_tokenizer(), {.stops = {"cd"}, .details = true});
  std::vector<Delta> deltas;
  for (const char c : std::string_view("abcd")) reader.push({.id = c, .logprob = -1}, deltas);
  std::string ids;
  for (const Delta& delta : deltas) {
    for (const TokenDetail& token : delta.tokens) ids += static_cast<char>(token.id);
  }
  EXPECT_EQ(ids, "ab");
  EXPECT_EQ(reader.n_tokens(), 4);
  EXPECT_TRUE(reader.ended());
}

}  // namespace
}  // namespace quire::server
