// BpeEncoder: byte pair encoding by merge rank, for byte-level (GPT-2) and plain UTF-8 vocabularies.
//
// Text is cut by the vocabulary's pre-tokenizer; in each piece the neighbouring pair of the lowest rank
// merges, the leftmost first, until none can. Source: Sennrich et al. 2016, "Neural Machine Translation of
// Rare Words with Subword Units"; byte level: Radford et al. 2019. Immutable, thread safe; points into the
// Vocab, which must outlive it.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/log.h"
#include "base/result.h"
#include "tokenizer/byte_tokens.h"
#include "tokenizer/encoder.h"
#include "tokenizer/merge_table.h"
#include "tokenizer/pair_filter.h"
#include "tokenizer/pretokenizer.h"

namespace quire::tokenizer {

class BpeEncoder final : public FragmentEncoder {
 public:
  // `merges` are lines "left right", best first. Errors: kCorrupt (a line without a space; none at all where
  // the pre-tokenizer needs them).
  static Result<std::unique_ptr<BpeEncoder>> build(const Vocab& vocab, std::span<const std::string> merges,
                                                   LogSink& log);

  void encode(std::string_view text, EncodeScratch& scratch, std::vector<TokenId>& ids) const override;

 private:
  BpeEncoder(const Vocab& vocab, size_t n_merges);
  void add_tokens(const Vocab& vocab);
  Status add_merges(std::span<const std::string> merges, LogSink& log);
  SymbolId intern(std::string text);
  void encode_word(std::string_view word, EncodeScratch& scratch, std::vector<TokenId>& ids) const;
  void merge_word(std::string_view word, EncodeScratch& scratch, std::vector<TokenId>& ids) const;
  void append_symbol(SymbolId symbol, std::string_view word, std::vector<TokenId>& ids) const;

  PreTokenizer pre_;
  Alphabet alphabet_;
  WholePieces whole_pieces_;
  Blanks blanks_;
  std::optional<PairFilter> pairs_;  // where long pieces can be cut; none where whole pieces are looked up
  ByteTokens byte_tokens_;
  MergeTable merges_;
  std::deque<std::string> symbol_texts_;  // raw bytes; stable addresses for symbols_
  TextIndex symbols_;                     // raw bytes -> SymbolId
  std::vector<TokenId> symbol_tokens_;    // per symbol, kNoToken when it is no token
  std::array<SymbolId, 256> byte_symbols_ = {};
};

}  // namespace quire::tokenizer
