#include "tokenizer/pretokenizer_table.h"

#include <algorithm>

#include "tokenizer/patterns.h"

namespace quire::tokenizer {
namespace {

std::vector<PreTokenizerRow> make_table() {
  using namespace patterns;
  constexpr auto kNoClean = CleanSpaces::kNo;
  constexpr auto kLookUp = WholePieces::kLookUp;
  return {
      {.names = {"default"}, .patterns = {kDefaultPunctuation, kGpt2, kDigits, kThreeAsciiDigits}},
      // Llama 3 and its relatives.
      {.names = {"llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2",
                 "jina-v5-nano"},
       .patterns = {kLlama3},
       .whole_pieces = kLookUp,
       .bos = BosDefault::kYes},
      {.names = {"dbrx", "smaug-bpe"}, .patterns = {kLlama3}},
      {.names = {"chatglm-bpe"}, .patterns = {kLlama3}, .bos = BosDefault::kUnset},
      {.names = {"glm4", "glm5"}, .patterns = {kLlama3}, .whole_pieces = kLookUp, .bos = BosDefault::kUnset},
      {.names = {"jais-2"}, .patterns = {kJais2}},
      // Qwen 2 and its relatives.
      {.names = {"qwen2", "deepseek-r1-qwen", "kormo", "f2llmv2", "hunyuan", "solar-open", "grok-2"},
       .patterns = {kQwen2},
       .clean_spaces = kNoClean},
      {.names = {"stablelm2", "megrez"}, .patterns = {kQwen2}},
      {.names = {"qwen35"}, .patterns = {kQwen35}, .clean_spaces = kNoClean},
      {.names = {"ufakzeka"}, .patterns = {kQwen2NoContraction}, .clean_spaces = kNoClean},
      {.names = {"laguna"}, .patterns = {kLines, kQwen2}, .clean_spaces = kNoClean},
      {.names = {"minicpm5"}, .patterns = {kThreeDigits, kQwen2LongNumbers}, .whole_pieces = kLookUp},
      {.names = {"seed-coder"}, .patterns = {kSeedCoder}, .clean_spaces = kNoClean},
      {.names = {"bailingmoe", "bailingmoe2", "llada-moe"}, .patterns = {kBailing}, .clean_spaces = kNoClean},
      {.names = {"exaone-moe"}, .patterns = {kExaoneMoe}},
      // GPT-4o and its relatives.
      {.names = {"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"},
       .patterns = {kGpt4o},
       .clean_spaces = kNoClean},
      {.names = {"granite-embed-multi-97m"},
       .patterns = {kGpt4o},
       .clean_spaces = kNoClean,
       .whole_pieces = kLookUp},
      {.names = {"tekken"},
       .patterns = {kTekken},
       .clean_spaces = kNoClean,
       .whole_pieces = kLookUp,
       .bos = BosDefault::kYes},
      {.names = {"tiny_aya", "cohere2moe"},
       .patterns = {kDigitsFromRightAtBorder, kGpt4o},
       .clean_spaces = kNoClean},
      {.names = {"youtu"},
       .patterns = {kYoutuHangul + "|" + kYoutuPunctuation + "|" + kYoutuBopomofo + "|" + kHanKana,
                    kGpt4oSingleDigits},
       .clean_spaces = kNoClean,
       .whole_pieces = kLookUp},
      {.names = {"kimi-k2"}, .patterns = {kKimiK2}, .clean_spaces = kNoClean},
      // DeepSeek and its relatives.
      {.names = {"deepseek-llm"},
       .patterns = {kLineEnd, kDeepseekLlmLetters, kDeepseekLlmPunctuation, kTrailingSpace, kDeepseekCjk,
                    kDigits},
       .clean_spaces = kNoClean},
      {.names = {"deepseek-coder"},
       .patterns = {kLineEnd, kSpacedLetters, kSpacedPunctuation, kDeepseekCjk, kOneDigit},
       .clean_spaces = kNoClean},
      {.names = {"deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"},
       .patterns = {kThreeDigits, kHanKana, kDeepseekV3},
       .clean_spaces = kNoClean},
      {.names = {"spark2_5"},
       .patterns = {kThreeDigits, kHanKana, kSpark, kOneDigit},
       .clean_spaces = kNoClean},
      {.names = {"afmoe"},
       .patterns = {kNumbersFromRight, kAfmoeScripts, kDeepseekV3},
       .clean_spaces = kNoClean},
      // GPT-2 and its relatives.
      {.names = {"gpt-2", "phi-2", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de", "gigachat", "a.x-4.0",
                 "mellum", "modern-bert", "mpt", "olmo", "jais", "exaone4"},
       .patterns = {kGpt2}},
      {.names = {"trillion", "granite-docling"}, .patterns = {kGpt2}, .clean_spaces = kNoClean},
      {.names = {"jina-v1-en", "jina-v2-code", "roberta-bpe"}, .patterns = {kGpt2}, .sep = SepDefault::kYes},
      {.names = {"starcoder", "refact", "codeshell", "exaone", "minerva-7b", "mellum2"},
       .patterns = {kOneDigit, kGpt2}},
      {.names = {"command-r", "smollm"}, .patterns = {kOneDigit, kGpt2}, .clean_spaces = kNoClean},
      {.names = {"falcon"}, .patterns = {kFalconPunctuation, kGpt2, kThreeAsciiDigits}},
      {.names = {"bloom", "gpt3-finnish"}, .patterns = {kBloom}},
      {.names = {"poro-chat"}, .patterns = {kBloom}, .clean_spaces = kNoClean},
      {.names = {"viking"}, .patterns = {kBloom, kOneDigit}, .clean_spaces = kNoClean},
      {.names = {"superbpe"}, .patterns = {kDigits, kDigitCutsFromRight}, .clean_spaces = kNoClean},
      {.names = {"chameleon"},
       .patterns = {kSentinel, kImageToken, kTabsAndSpaces, kOneDigit, kOnePunctuation, kGpt2},
       .clean_spaces = kNoClean,
       .bos = BosDefault::kYes},
      // Plain UTF-8 vocabularies.
      {.names = {"gemma4", "granite-embed-multi-311m"},
       .patterns = {kLines},
       .bos = BosDefault::kForced,
       .alphabet = Alphabet::kUtf8Escaped},
      {.names = {"sarvam-moe"},
       .patterns = {kLines},
       .clean_spaces = kNoClean,
       .bos = BosDefault::kForced,
       .alphabet = Alphabet::kUtf8Escaped},
      {.names = {"whitespace"},
       .patterns = {kNonSpaces},
       .alphabet = Alphabet::kUtf8,
       .blanks = Blanks::kDrop},
  };
}

}  // namespace

std::span<const PreTokenizerRow> pre_tokenizer_table() {
  static const std::vector<PreTokenizerRow> table = make_table();
  return table;
}

const PreTokenizerRow* find_pre_tokenizer(std::string_view name) {
  for (const PreTokenizerRow& row : pre_tokenizer_table()) {
    if (std::ranges::find(row.names, name) != row.names.end()) return &row;
  }
  return nullptr;
}

}  // namespace quire::tokenizer
