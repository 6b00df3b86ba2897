#include "test_vocabs.h"

#include <cstdio>
#include <cstdlib>
#include <random>

#include "base/utf8.h"

namespace quire::test {
namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";

void add(VocabData& data, std::string text, TokenType type = TokenType::kNormal, float score = 0) {
  data.tokens.push_back(std::move(text));
  data.types.push_back(type);
  data.scores.push_back(score);
}

void set_special(VocabData& data, SpecialRole role, size_t id) {
  data.special[static_cast<size_t>(role)] = static_cast<uint32_t>(id);
}

void add_byte_tokens(VocabData& data) {
  for (int byte = 0; byte < 256; ++byte) add(data, fmt::format("<0x{:02X}>", byte), TokenType::kByte);
}

}  // namespace

std::string in_byte_alphabet(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const int byte = static_cast<unsigned char>(c);
    int moved = 0;  // how many unprintable bytes come before this one
    bool printable = false;
    for (int b = 0; b <= byte; ++b) {
      printable = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
      if (!printable && b < byte) ++moved;
    }
    append_utf8(text, static_cast<char32_t>(printable ? byte : 0x100 + moved));
  }
  return text;
}

VocabData bpe_vocab(std::string pre) {
  VocabData data{.model = "gpt2", .pre = std::move(pre)};
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    add(data, in_byte_alphabet({&c, 1}));
  }
  const std::pair<std::string, std::string> merges[] = {
      {" ", "t"},   {"h", "e"},    {"i", "n"},       {"r", "e"},   {"o", "n"},  {" t", "he"}, {"e", "r"},
      {"l", "l"},   {"e", "s"},    {"a", "a"},       {"aa", "aa"}, {" ", " "},  {"  ", "  "}, {"l", "o"},
      {"he", "ll"}, {"hell", "o"}, {"w", "o"},       {"r", "l"},   {"rl", "d"}, {" ", "wo"},  {" wo", "rld"},
      {"1", "2"},   {"12", "3"},   {"\xC3", "\xA9"}, {"<", "|"},   {"\n", "\n"}};
  for (const auto& [left, right] : merges) {
    data.merges.push_back(in_byte_alphabet(left) + " " + in_byte_alphabet(right));
    add(data, in_byte_alphabet(left + right));
  }
  set_special(data, SpecialRole::kBos, data.tokens.size());
  add(data, "<s>", TokenType::kControl);
  set_special(data, SpecialRole::kEos, data.tokens.size());
  add(data, "</s>", TokenType::kControl);
  add(data, "<|im_start|>", TokenType::kControl);
  add(data, "<|im_end|>", TokenType::kControl);
  add(data, "[tool]", TokenType::kUserDefined);
  return data;
}

VocabData spm_vocab() {
  VocabData data{.model = "llama"};
  add(data, "<unk>", TokenType::kUnknown);
  add(data, "<s>", TokenType::kControl);
  add(data, "</s>", TokenType::kControl);
  add_byte_tokens(data);
  float score = -1;
  for (const char* text : {"▁t", "he",   "▁the",   "lo", "ll",   "hel", "hello", "▁hello", "in", "▁w", "or",
                           "ld", "▁wor", "▁world", "▁▁", "▁▁▁▁", "aa",  "aaaa",  "s>",     "▁a", "éé"}) {
    add(data, text, TokenType::kNormal, score);
    score -= 1;
  }
  add(data, "▁", TokenType::kNormal, -100);
  for (const char c : kLetters) add(data, std::string(1, c), TokenType::kNormal, -101);
  add(data, "é", TokenType::kNormal, -102);
  add(data, "\n\n", TokenType::kUserDefined);
  return data;
}

VocabData wpm_vocab() {
  VocabData data{.model = "bert"};
  for (const char* text : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"})
    add(data, text, TokenType::kControl);
  set_special(data, SpecialRole::kPad, 0);
  set_special(data, SpecialRole::kUnk, 1);
  set_special(data, SpecialRole::kBos, 2);
  set_special(data, SpecialRole::kSep, 3);
  for (const char* text :
       {"▁hello", "▁world", "▁un", "aff", "able", "▁!", "▁,", "▁漢", "▁[", "▁]", "▁cls", "▁e"}) {
    add(data, text);
  }
  for (const char c : kLetters) add(data, std::string(1, c));
  return data;
}

VocabData ugm_vocab() {
  VocabData data{.model = "t5", .add_space_prefix = true, .remove_extra_whitespaces = true};
  add(data, "<pad>", TokenType::kControl);
  add(data, "</s>", TokenType::kControl);
  add(data, "<unk>", TokenType::kUnknown);
  add(data, "▁", TokenType::kNormal, -2.5F);
  add(data, "▁hello", TokenType::kNormal, -6);
  add(data, "▁he", TokenType::kNormal, -4);
  add(data, "llo", TokenType::kNormal, -4);
  add(data, "▁world", TokenType::kNormal, -7);
  float score = -3;
  for (const char c : kLetters) add(data, std::string(1, c), TokenType::kNormal, score -= 0.125F);
  return data;
}

VocabData gemma4_vocab() {
  VocabData data{.model = "gemma4"};
  add(data, "<pad>", TokenType::kControl);
  set_special(data, SpecialRole::kEos, 1);
  add(data, "<eos>", TokenType::kControl);
  set_special(data, SpecialRole::kBos, 2);
  add(data, "<bos>", TokenType::kControl);
  set_special(data, SpecialRole::kUnk, 3);
  add(data, "<unk>", TokenType::kUnknown);
  add_byte_tokens(data);
  add(data, "▁");
  for (const char c : kLetters) add(data, std::string(1, c));
  const std::pair<std::string, std::string> merges[] = {{"h", "e"},     {"▁", "t"},   {"▁t", "he"},
                                                        {"l", "l"},     {"he", "ll"}, {"hell", "o"},
                                                        {"▁", "hello"}, {"▁", "▁"}};
  for (const auto& [left, right] : merges) {
    data.merges.push_back(left + " " + right);
    add(data, left + right);
  }
  return data;
}

VocabData rwkv_vocab() {
  VocabData data{.model = "rwkv"};
  for (const char* text : {"<s>", "a", "b", "ab", "abc", "\\n", "\\n\\n", "\\xe6\\xbc", "\\\\", "c"})
    add(data, text);
  return data;
}

std::unique_ptr<Tokenizer> build(VocabData data) {
  NullLogSink log;
  auto tokenizer = Tokenizer::build(std::move(data), log);
  if (!tokenizer.ok()) {
    std::fprintf(stderr, "test vocabulary: %s\n", tokenizer.error().message.c_str());
    std::abort();
  }
  return std::move(*tokenizer);
}

std::string build_error(VocabData data) {
  NullLogSink log;
  auto tokenizer = Tokenizer::build(std::move(data), log);
  return tokenizer.ok() ? std::string() : tokenizer.error().message;
}

std::vector<TokenId> encode(const Tokenizer& tokenizer, std::string_view text, SpecialTokens special,
                            AddSpecial add_special) {
  return encode(tokenizer, std::vector<TextSegment>{{text, special}}, add_special);
}

std::vector<TokenId> encode(const Tokenizer& tokenizer, const std::vector<TextSegment>& segments,
                            AddSpecial add_special) {
  TokenizerScratch scratch = tokenizer.make_scratch();
  return tokenizer.encode(segments, add_special, scratch).value();
}

std::string decode(const Tokenizer& tokenizer, const std::vector<TokenId>& ids,
                   const DecodeOptions& options) {
  return tokenizer.decode(ids, options).value();
}

std::vector<std::string> texts_of(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  std::vector<std::string> texts;
  for (const TokenId id : ids) texts.emplace_back(tokenizer.token_text(id));
  return texts;
}

std::string random_text(uint32_t seed, size_t n, Garbage garbage) {
  constexpr char32_t kChars[] = {
      U' ',   U' ',  U' ',   U'\n',  U'\r',  U'\t',  U'\'',  U's',   U't',    U'r',    U'e',
      U'v',   U'l',  U'd',   U'm',   U'a',   U'Z',   U'S',   U'R',   U'E',    U'T',    U'0',
      U'1',   U'9',  U'.',   U',',   U'/',   U'!',   U'$',   U'_',   U'<',    U'|',    U'>',
      U'é',   U'ß',  U'É',   U'Σ',   U'я',   U'Ж',   U'漢',  U'か',  U'カ',   U'한',   U'ก',
      0x1C5,  0x2B0, 0x301,  0x345,  0x93F,  0xBD,   0x663,  0x2167, 0x1F999, 0xA0,    0x3000,
      0x2003, 0x85,  0x180E, 0x200B, 0x200D, 0x2026, 0x3002, 0x17F,  0x378,   0xE0100, 0x10FFFF};
  std::mt19937 random(seed);
  std::string text;
  for (size_t i = 0; i < n; ++i) {
    if (garbage == Garbage::kInvalidBytes && random() % 8 == 0) {
      text += static_cast<char>(0x80 + random() % 0x80);
      continue;
    }
    const char32_t c = kChars[random() % std::size(kChars)];
    // Runs matter to the patterns.
    for (size_t repeat = random() % 4 == 0 ? 1 + random() % 6 : 1; repeat > 0; --repeat) append_utf8(text, c);
  }
  return text;
}

}  // namespace quire::test
