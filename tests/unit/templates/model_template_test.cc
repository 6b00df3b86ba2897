// The templates inside the real models, read in place; skipped where the models are not installed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "gguf/gguf_file.h"
#include "golden_files.h"

namespace quire {
namespace {

std::filesystem::path models_folder() {
  if (const char* home = std::getenv("QUIRE_HOME")) return std::filesystem::path(home) / "models";
  const char* user = std::getenv("HOME");
  return std::filesystem::path(user == nullptr ? "/" : user) / ".cache/quire/models";
}

TEST(ModelTemplates, RenderAsTransformersDoes) {
  const Value conversations = test::read_json("conversations.json");
  const Value goldens = test::read_json("model_goldens.json");
  int rendered = 0;
  for (const auto& [file, results] : *goldens.get_if<Value::Dict>()) {
    const std::filesystem::path path = models_folder() / file;
    if (!std::filesystem::exists(path)) continue;
    const Result<GgufFile> gguf = GgufFile::open(path.string());
    ASSERT_TRUE(gguf.ok()) << gguf.error().message;
    const Result<std::string> source = gguf->metadata().get<std::string>("tokenizer.chat_template");
    ASSERT_TRUE(source.ok()) << source.error().message;
    const Result<ChatTemplate> parsed = ChatTemplate::parse(*source, file);
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    for (const Value& conversation : *conversations.get_if<Value::List>()) {
      const std::string name = test::string_of(conversation.find("name"));
      EXPECT_EQ(test::disagreement(parsed->render(test::conversation_of(conversation)), *results.find(name)),
                "")
          << file << " / " << name;
      ++rendered;
    }
  }
  if (rendered == 0) GTEST_SKIP() << "no model with a stored result in " << models_folder();
}

}  // namespace
}  // namespace quire
