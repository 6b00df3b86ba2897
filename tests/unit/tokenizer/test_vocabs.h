// Small vocabularies of every kind, made by hand, and shorthands to encode with them. Pure functions.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace quire::test {

// `bytes` in the GPT-2 byte alphabet.
std::string in_byte_alphabet(std::string_view bytes);

// Byte-level BPE: the 256 bytes, some English merges, then control tokens <s> </s> <|im_start|> <|im_end|>
// and the user-defined token "[tool]".
VocabData bpe_vocab(std::string pre);
// SentencePiece BPE with byte tokens: <unk> <s> </s>, 256 bytes, letters and a few words, user-defined
// "\n\n".
VocabData spm_vocab();
// WordPiece: [PAD] [UNK] [CLS] [SEP], letters and a few words.
VocabData wpm_vocab();
// Unigram: <pad> </s> <unk>, letters and a few words.
VocabData ugm_vocab();
// Plain UTF-8 BPE as of Gemma 4.
VocabData gemma4_vocab();
VocabData rwkv_vocab();

// Builds, and aborts the test program when that fails.
std::unique_ptr<Tokenizer> build(VocabData data);
// The error message of a build that must fail.
std::string build_error(VocabData data);

std::vector<TokenId> encode(const Tokenizer& tokenizer, std::string_view text,
                            SpecialTokens special = SpecialTokens::kPlain, AddSpecial add = AddSpecial::kNo);
std::vector<TokenId> encode(const Tokenizer& tokenizer, const std::vector<TextSegment>& segments,
                            AddSpecial add = AddSpecial::kNo);
std::string decode(const Tokenizer& tokenizer, const std::vector<TokenId>& ids,
                   const DecodeOptions& options = {});
// Texts of the ids, for readable expectations.
std::vector<std::string> texts_of(const Tokenizer& tokenizer, const std::vector<TokenId>& ids);

// Text of `n` characters drawn from letters, digits, white space of all sorts, punctuation, other scripts
// and, if asked for, invalid bytes. The same seed gives the same text.
enum class Garbage { kValidOnly, kInvalidBytes };
std::string random_text(uint32_t seed, size_t n, Garbage garbage);

}  // namespace quire::test
