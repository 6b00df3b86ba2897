// Vocabularies that are wrong in one way each: a clear error, never a crash.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "test_vocabs.h"
#include "tokenizer/vocab_data.h"

namespace quire::test {
namespace {

// Metadata values whose bytes this object keeps.
class MetadataMaker {
 public:
  void add_string(std::string key, std::string text) {
    add(std::move(key), {.type = ValueType::kString}, std::move(text));
  }
  template <typename T>
  void add_scalar(std::string key, ValueType type, T value) {
    add(std::move(key), {.type = type}, bytes_of(&value, 1));
  }
  template <typename T>
  void add_array(std::string key, ValueType element, const std::vector<T>& values) {
    add(std::move(key), {.type = ValueType::kArray, .element = element, .count = values.size()},
        bytes_of(values.data(), values.size()));
  }
  void add_strings(std::string key, const std::vector<std::string>& values) {
    std::string bytes;
    for (const std::string& value : values) {
      const uint64_t size = value.size();
      bytes += bytes_of(&size, 1) + value;
    }
    add(std::move(key), {.type = ValueType::kArray, .element = ValueType::kString, .count = values.size()},
        bytes);
  }
  const Metadata& metadata() const { return metadata_; }

 private:
  template <typename T>
  static std::string bytes_of(const T* data, size_t n) {
    std::string bytes(n * sizeof(T), '\0');
    if (n > 0) std::memcpy(bytes.data(), data, bytes.size());
    return bytes;
  }
  void add(std::string key, Metadata::Value value, std::string bytes) {
    store_.push_back(std::make_unique<std::string>(std::move(bytes)));
    value.bytes = *store_.back();
    ASSERT_TRUE(metadata_.insert(std::move(key), value).ok());
  }
  std::vector<std::unique_ptr<std::string>> store_;
  Metadata metadata_;
};

MetadataMaker spm_metadata() {
  MetadataMaker maker;
  maker.add_string("tokenizer.ggml.model", "llama");
  maker.add_strings("tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>", "a"});
  return maker;
}

std::string load_error(const MetadataMaker& maker) {
  NullLogSink log;
  auto tokenizer = Tokenizer::load(maker.metadata(), log);
  return tokenizer.ok() ? std::string() : tokenizer.error().message;
}

TEST(HostileVocabTest, AGoodFileLoadsAndKeepsItsTemplates) {
  MetadataMaker maker = spm_metadata();
  maker.add_array<int32_t>("tokenizer.ggml.scores", ValueType::kI32, {0, 0, 0, -1});
  maker.add_array<int32_t>("tokenizer.ggml.token_type", ValueType::kI32, {2, 3, 3, 1});
  maker.add_scalar<uint32_t>("tokenizer.ggml.eos_token_id", ValueType::kU32, 2);
  maker.add_scalar<uint32_t>("tokenizer.ggml.padding_token_id", ValueType::kU32,
                             99);  // ignored with a warning
  maker.add_string("tokenizer.chat_template.tool_use", "T");
  maker.add_string("tokenizer.chat_template", "D");
  NullLogSink log;
  const auto tokenizer = Tokenizer::load(maker.metadata(), log);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  EXPECT_EQ((*tokenizer)->special(SpecialRole::kPad), kNoToken);
  ASSERT_EQ((*tokenizer)->chat_templates().size(), 2u);
  EXPECT_EQ((*tokenizer)->chat_templates()[0].name, "");
  EXPECT_EQ((*tokenizer)->chat_templates()[1].name, "tool_use");
  EXPECT_EQ((*tokenizer)->chat_templates()[1].source, "T");
}

TEST(HostileVocabTest, WrongTypesNameTheKey) {
  {
    MetadataMaker maker = spm_metadata();
    maker.add_array<uint8_t>("tokenizer.ggml.scores", ValueType::kU8, {0, 0, 0, 1});
    EXPECT_NE(load_error(maker).find("tokenizer.ggml.scores"), std::string::npos);
  }
  {
    MetadataMaker maker = spm_metadata();
    maker.add_scalar<float>("tokenizer.ggml.scores", ValueType::kF32, 1.0F);
    EXPECT_NE(load_error(maker).find("tokenizer.ggml.scores"), std::string::npos);
  }
  {
    MetadataMaker maker = spm_metadata();
    maker.add_array<float>("tokenizer.ggml.scores", ValueType::kF32, {0, 0, 0, 0});
    maker.add_string("tokenizer.ggml.bos_token_id", "one");
    EXPECT_NE(load_error(maker).find("bos_token_id"), std::string::npos);
  }
  {
    MetadataMaker maker = spm_metadata();
    maker.add_array<float>("tokenizer.ggml.scores", ValueType::kF32, {0, 0, 0, 0});
    maker.add_array<int32_t>("tokenizer.ggml.token_type", ValueType::kI32, {2, 3, 3, 7});
    EXPECT_NE(load_error(maker).find("token_type"), std::string::npos);
  }
  {
    MetadataMaker maker;
    maker.add_string("tokenizer.ggml.model", "t5");
    maker.add_string("tokenizer.ggml.precompiled_charsmap", "text");
    EXPECT_NE(load_error(maker).find("precompiled_charsmap"), std::string::npos);
  }
  EXPECT_NE(load_error(MetadataMaker()).find("tokenizer.ggml.model"), std::string::npos);
}

TEST(HostileVocabTest, LengthsAndValues) {
  VocabData data = spm_vocab();
  data.scores.pop_back();
  EXPECT_NE(build_error(data).find("scores"), std::string::npos);
  data = spm_vocab();
  data.types.pop_back();
  EXPECT_NE(build_error(data).find("token_type"), std::string::npos);
  data = spm_vocab();
  data.scores[5] = std::nanf("");
  EXPECT_NE(build_error(data).find("token 5"), std::string::npos);
  data = spm_vocab();
  data.tokens[300] = data.tokens[299];
  EXPECT_NE(build_error(data).find("299 and 300"), std::string::npos);
  data = spm_vocab();
  data.tokens.clear();
  EXPECT_NE(build_error(data).find("tokens"), std::string::npos);
}

TEST(HostileVocabTest, UnknownNames) {
  VocabData data = bpe_vocab("no-such-pre");
  EXPECT_NE(build_error(data).find("'no-such-pre'"), std::string::npos);
  data = spm_vocab();
  data.model = "plamo2";
  EXPECT_NE(build_error(data).find("'plamo2'"), std::string::npos);
}

TEST(HostileVocabTest, Merges) {
  VocabData data = bpe_vocab("gpt-2");
  data.merges.clear();
  EXPECT_NE(build_error(data).find("merges"), std::string::npos);
  for (const char* line : {"", " ", "ab", "ab ", " ab"}) {
    data = bpe_vocab("gpt-2");
    data.merges[3] = line;
    EXPECT_NE(build_error(data).find("entry 3"), std::string::npos) << line;
  }
  data = bpe_vocab("gpt-2");
  data.merges.push_back("\xFF\xFE x");  // outside the alphabet: no piece can hold it
  EXPECT_EQ(build_error(data), "");
}

TEST(HostileVocabTest, EmptyTextsAreNamedByTheirId) {
  VocabData data = spm_vocab();
  data.tokens[40] = "";
  const auto tokenizer = build(std::move(data));
  EXPECT_EQ(tokenizer->token_text(40), "[EMPTY_40]");
}

TEST(HostileVocabTest, KindsThatNeedAnUnknownToken) {
  VocabData data = ugm_vocab();
  data.tokens.resize(2);
  data.types.resize(2);
  data.scores.resize(2);
  EXPECT_NE(build_error(data).find("unknown_token_id"), std::string::npos);
  data = wpm_vocab();
  data.special = {};
  EXPECT_NE(build_error(data).find("unknown_token_id"), std::string::npos);
}

TEST(HostileVocabTest, ByteAlphabetIncomplete) {
  VocabData data{.model = "gpt2", .pre = "gpt-2", .tokens = {"a", "b", "ab"}, .merges = {"a b"}};
  const auto tokenizer = build(std::move(data));
  EXPECT_EQ(encode(*tokenizer, "ab xyz \xFF"), (std::vector<TokenId>{2}));
}

TEST(HostileVocabTest, NoVocabularyEncodesNothing) {
  const auto tokenizer = build(VocabData{.model = "no_vocab"});
  EXPECT_EQ(tokenizer->n_vocab(), 0u);
  const auto ids = tokenizer->encode("a", SpecialTokens::kPlain, AddSpecial::kNo);
  ASSERT_FALSE(ids.ok());
  EXPECT_EQ(ids.error().code, ErrorCode::kUnsupported);
}

TEST(HostileVocabTest, InvalidUtf8InTokenTexts) {
  for (VocabData data :
       {spm_vocab(), bpe_vocab("gpt-2"), ugm_vocab(), wpm_vocab(), gemma4_vocab(), rwkv_vocab()}) {
    data.tokens[4] = "\xE2\x96";
    data.tokens[5] = "\xFF\xC3";
    const auto tokenizer = build(std::move(data));
    const auto ids = encode(*tokenizer, "a\xE2\x96 \xFF\xC3\xE2\x96\x81", SpecialTokens::kParse);
    EXPECT_TRUE(tokenizer->decode(ids).ok());
  }
}

}  // namespace
}  // namespace quire::test
