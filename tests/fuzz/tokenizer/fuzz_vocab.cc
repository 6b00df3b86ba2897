// Vocabularies put together from the input: building must end in a tokenizer or an error, and a tokenizer
// must work.
#include <cstdint>
#include <cstring>
#include <string>

#include "base/check.h"
#include "test_vocabs.h"

namespace {

using namespace quire;

// Reads small values off the front of the input.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  bool done() const { return size_ == 0; }
  uint8_t byte() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  std::string text(size_t n) {
    std::string out;
    for (; n > 0 && size_ > 0; --n) out += static_cast<char>(byte());
    return out;
  }

 private:
  const uint8_t* data_;
  size_t size_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  constexpr const char* kModels[] = {"llama", "gpt2", "gemma4", "whitespace", "bert", "t5", "rwkv"};
  constexpr const char* kPres[] = {"gpt-2", "llama-bpe", "gemma4", "kimi-k2", ""};
  Input input(bytes, size);
  VocabData data{.model = kModels[input.byte() % std::size(kModels)],
                 .pre = kPres[input.byte() % std::size(kPres)]};
  for (auto& id : data.special) {
    const uint8_t value = input.byte();
    if (value != 0) id = value == 255 ? UINT32_MAX : value - 1u;
  }
  const uint8_t flags = input.byte();
  data.add_bos = (flags & 1) != 0;
  data.add_eos = (flags & 2) != 0;
  data.add_space_prefix = (flags & 4) != 0;
  data.remove_extra_whitespaces = (flags & 8) != 0;
  data.lowercase = (flags & 16) != 0;
  data.charsmap = input.text(input.byte());
  std::string text = input.text(input.byte());
  const size_t n_tokens = input.byte() % 64u;
  for (size_t i = 0; i < n_tokens; ++i) {
    const uint8_t shape = input.byte();
    data.types.push_back(static_cast<TokenType>(shape % 7));
    data.tokens.push_back(input.text(shape / 7 % 12u));
    float score = 0;
    const std::string raw = input.text(sizeof score);
    std::memcpy(&score, raw.data(), raw.size());
    data.scores.push_back(score);
  }
  while (!input.done()) data.merges.push_back(input.text(1 + input.byte() % 12u));
  NullLogSink log;
  auto tokenizer = Tokenizer::build(std::move(data), log);
  if (!tokenizer.ok()) {
    QUIRE_CHECK(!tokenizer.error().message.empty());
    return 0;
  }
  for (const SpecialTokens special : {SpecialTokens::kPlain, SpecialTokens::kParse}) {
    const auto ids = test::encode(**tokenizer, text, special, AddSpecial::kYes);
    QUIRE_CHECK((*tokenizer)->decode(ids).ok());
  }
  return 0;
}
