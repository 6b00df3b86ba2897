#include "engine/tokenizer_memory.h"

#include <bit>
#include <string>

namespace quire {
namespace {

// Slots of a hash table for n entries: at most half full.
size_t slots_for(size_t n) { return std::bit_ceil(2 * n + 2); }

struct Strings {
  size_t count = 0;
  size_t text_bytes = 0;
};

Strings strings_of(const Metadata& metadata, const char* key) {
  const Metadata::Value* value = metadata.find(key);
  if (value == nullptr || value->type != ValueType::kArray || value->element != ValueType::kString) return {};
  // Every string is preceded by its length in 8 bytes.
  const auto count = static_cast<size_t>(value->count);
  return {.count = count, .text_bytes = value->bytes.size() - 8 * count};
}

}  // namespace

size_t tokenizer_bytes(const Metadata& metadata) {
  const Strings tokens = strings_of(metadata, "tokenizer.ggml.tokens");
  const Strings merges = strings_of(metadata, "tokenizer.ggml.merges");
  const Result<std::string> model = metadata.get_or<std::string>("tokenizer.ggml.model", "");
  if (tokens.count == 0 || !model.ok()) return 0;

  // For every kind: a string for each token, its score, type and offset in the decoded text; the text itself
  // in both forms; an index by text.
  size_t bytes = tokens.count * (sizeof(std::string) + 4 + 2 + 8) + 2 * tokens.text_bytes +
                 16 * std::bit_ceil(tokens.count) + 8 * slots_for(tokens.count);
  if (*model == "gpt2" || *model == "gemma4") {
    // Two tables over the merges, and what is remembered of whole words.
    bytes += 32 * slots_for(merges.count) + 34 * tokens.count;
  } else if (*model == "bert") {
    bytes += 9 * tokens.count;
  } else {
    bytes += 16 * slots_for(tokens.count);
  }
  const Metadata::Value* charsmap = metadata.find("tokenizer.ggml.precompiled_charsmap");
  return bytes + (charsmap != nullptr ? charsmap->bytes.size() : 0);
}

}  // namespace quire
