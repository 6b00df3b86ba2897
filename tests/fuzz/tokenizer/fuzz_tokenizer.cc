// Any text through every kind of vocabulary: first byte the vocabulary, second the place where scaffolding
// ends.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "test_vocabs.h"
#include "tokenizer/stream_decoder.h"

namespace {

using namespace quire;

const std::vector<std::unique_ptr<Tokenizer>>& tokenizers() {
  static const auto* all = [] {
    auto* list = new std::vector<std::unique_ptr<Tokenizer>>;
    for (const char* pre :
         {"default",  "gpt-2",        "llama-bpe",      "jais-2",      "qwen2",    "qwen35",   "laguna",
          "minicpm5", "seed-coder",   "exaone-moe",     "gpt-4o",      "tekken",   "tiny_aya", "youtu",
          "kimi-k2",  "deepseek-llm", "deepseek-coder", "deepseek-v3", "spark2_5", "afmoe",    "starcoder",
          "falcon",   "viking",       "superbpe",       "chameleon",   "gemma4"}) {
      list->push_back(test::build(test::bpe_vocab(pre)));
    }
    for (auto make :
         {test::spm_vocab, test::wpm_vocab, test::ugm_vocab, test::gemma4_vocab, test::rwkv_vocab}) {
      list->push_back(test::build(make()));
    }
    return list;
  }();
  return *all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const Tokenizer& tokenizer = *tokenizers()[data[0] % tokenizers().size()];
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t cut = text.empty() ? 0 : data[1] % text.size();
  const std::vector<TextSegment> segments = {{text.substr(0, cut), SpecialTokens::kParse},
                                             {text.substr(cut), SpecialTokens::kPlain}};
  const std::vector<TokenId> ids = test::encode(tokenizer, segments, AddSpecial::kYes);
  StreamDecoder stream(tokenizer);
  std::string streamed;
  for (const TokenId id : ids) {
    QUIRE_CHECK(tokenizer.valid(id));
    streamed += stream.push(id);
  }
  streamed += stream.finish();
  const std::string whole = test::decode(tokenizer, ids, {.leading_space = LeadingSpace::kKeep});
  QUIRE_CHECK(streamed == replace_invalid_utf8(whole));
  // Byte-level text comes back as it was.
  if (tokenizer.model() == "gpt2" && tokenizer.pre() != "gemma4") {
    QUIRE_CHECK(test::decode(tokenizer, test::encode(tokenizer, text)) == text);
  }
  return 0;
}
