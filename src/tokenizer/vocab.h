// Vocab: a checked vocabulary with every default, by-text lookup and fix-up applied.
//
// Owns its texts; the encoders and decoders of this folder read from it. Immutable after build(), thread
// safe.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "tokenizer/pretokenizer_table.h"
#include "tokenizer/text_index.h"
#include "tokenizer/vocab_data.h"

namespace quire::tokenizer {

enum class VocabKind {
  kNone,  // no tokens: ids only
  kSpm,   // SentencePiece BPE, merges by score
  kBpe,   // BPE, merges by rank
  kWpm,   // WordPiece
  kUgm,   // Unigram
  kRwkv,  // greedy longest match
};

// Whether a special token also takes the white space beside it when it is found in a text.
enum class Strip : uint8_t { kNone, kLeft, kRight };

struct VocabFlags {
  bool add_bos = false;
  bool add_eos = false;
  bool add_sep = false;
  bool space_prefix = false;
  bool clean_spaces = false;
  bool escaped_spaces = false;  // U+2581 in token texts means a space
  bool remove_extra_spaces = false;
  bool lowercase = true;
  bool strip_accents = true;
};

struct Vocab {
  Vocab() = default;
  Vocab(Vocab&&) = default;
  Vocab& operator=(Vocab&&) = default;
  Vocab(const Vocab&) = delete;  // index points into texts
  Vocab& operator=(const Vocab&) = delete;

  // Errors: kCorrupt (lengths, duplicate texts, scores that are no numbers), kUnsupported (kind or
  // pre-tokenizer unknown, named). Logs what it had to ignore or assume.
  static Result<Vocab> build(VocabData data, LogSink& log);

  size_t size() const { return texts.size(); }
  TokenId special(SpecialRole role) const { return special_ids[static_cast<size_t>(role)]; }
  // Whether ordinary text may become this token: not control, unknown or byte tokens, so that text which
  // spells a control token stays text.
  bool spellable(TokenId id) const {
    const TokenType type = file_types[static_cast<size_t>(id)];
    return type != TokenType::kControl && type != TokenType::kUnknown && type != TokenType::kByte;
  }

  VocabKind kind = VocabKind::kNone;
  const PreTokenizerRow* pre = nullptr;  // kBpe
  std::vector<std::string> texts;        // stable: TextIndex and tries point into them
  std::vector<float> scores;             // kSpm, kUgm; else empty
  std::vector<TokenType> file_types;     // as the file has them: what ordinary text may become
  std::vector<TokenType> types;          // after fix-ups: what is matched as special
  std::vector<bool> rendered;            // control tokens that are shown all the same
  std::vector<bool> end_of_generation;
  std::vector<Strip> strip;
  std::array<TokenId, kSpecialRoles> special_ids = {};
  VocabFlags flags;
  TextIndex index;  // text -> id, every token
};

}  // namespace quire::tokenizer
