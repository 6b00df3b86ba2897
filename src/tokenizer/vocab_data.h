// VocabData: a vocabulary as the file states it, before any default or fix-up.
//
// A plain value that owns everything it holds (nothing points into the file). read_vocab_data() fills it from
// metadata; tests and tools fill it by hand. Tokenizer::build() consumes it and checks what reading did not.
// Source: the keys `tokenizer.ggml.*` of GGUF.
//
//   VocabData data{.model = "gpt2", .pre = "gpt-2", .tokens = {...}, .merges = {"h e", ...}};
//   QUIRE_ASSIGN_OR_RETURN(auto tokenizer, Tokenizer::build(std::move(data), log));
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "gguf/metadata.h"
#include "tokenizer/token.h"

namespace quire {

struct ChatTemplateSource {
  std::string name = {};  // empty: the default template; else the variant, e.g. "tool_use"
  std::string source = {};
};

struct VocabData {
  std::string model = {};                // llama, gpt2, bert, t5, rwkv, gemma4, whitespace, none
  std::string pre = {};                  // name of the pre-tokenizer; empty: the file names none
  std::vector<std::string> tokens = {};  // text of each id
  std::vector<float> scores = {};        // one per token, or empty
  std::vector<TokenType> types = {};     // one per token, or empty: all normal
  std::vector<std::string> merges = {};  // "left right", best first
  std::array<std::optional<uint32_t>, kSpecialRoles> special = {};  // by SpecialRole
  std::optional<bool> add_bos = {};
  std::optional<bool> add_eos = {};
  std::optional<bool> add_sep = {};
  std::optional<bool> add_space_prefix = {};
  std::optional<bool> remove_extra_whitespaces = {};
  std::optional<bool> lowercase = {};
  std::optional<bool> strip_accents = {};
  std::string charsmap = {};                            // bytes of precompiled_charsmap
  std::vector<int32_t> suppress_tokens = {};            // ids never to be sampled
  std::vector<ChatTemplateSource> chat_templates = {};  // default first when there is one
  std::string model_name = {};                          // general.name
  std::string architecture = {};                        // general.architecture
};

// Errors: kNotFound (no tokenizer keys), kCorrupt (wrong type or length of a key, named).
Result<VocabData> read_vocab_data(const Metadata& metadata);

}  // namespace quire
