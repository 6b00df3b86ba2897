// Tokenizer: text to token ids and back, for every kind of vocabulary a GGUF file can hold.
//
// Owns a copy of its vocabulary (the GgufFile may go). Immutable after load; any number of threads may encode
// and decode at once, each with its own TokenizerScratch.
//
//   QUIRE_ASSIGN_OR_RETURN(auto tokenizer, Tokenizer::load(file.metadata(), log));
//   TokenizerScratch scratch = tokenizer->make_scratch();
//   const TextSegment parts[] = {{"<|im_start|>user\n", SpecialTokens::kParse}, {message,
//   SpecialTokens::kPlain}}; QUIRE_ASSIGN_OR_RETURN(std::vector<TokenId> ids, tokenizer->encode(parts,
//   AddSpecial::kYes, scratch));
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "gguf/metadata.h"
#include "tokenizer/token.h"
#include "tokenizer/vocab_data.h"

namespace quire {

// Whether control tokens spelled in a text become ids (what a template writes) or stay text (what users
// write).
enum class SpecialTokens { kPlain, kParse };

struct TextSegment {
  std::string_view text;
  SpecialTokens special = SpecialTokens::kPlain;
};

// Whether the model's own begin and end tokens are put around the ids.
enum class AddSpecial { kNo, kYes };

// Whether control tokens show in decoded text.
enum class RenderSpecial { kHide, kShow };

enum class EdgeTokens { kKeep, kRemove };   // a begin token in front and an end token at the end
enum class LeadingSpace { kKeep, kStrip };  // the space that the vocabulary puts before the first word
enum class SpaceCleanup { kNo, kAsModel };  // tidy spaces before punctuation where the model's tokenizer does

struct DecodeOptions {
  RenderSpecial special = RenderSpecial::kHide;
  EdgeTokens edges = EdgeTokens::kKeep;
  LeadingSpace leading_space = LeadingSpace::kStrip;
  SpaceCleanup cleanup = SpaceCleanup::kNo;
};

namespace tokenizer {
struct EncodeScratch;
}

// Working memory of encode(), reused between calls. For one tokenizer, one thread at a time.
class TokenizerScratch {
 public:
  ~TokenizerScratch();
  TokenizerScratch(TokenizerScratch&&) noexcept;
  TokenizerScratch& operator=(TokenizerScratch&&) noexcept;

 private:
  friend class Tokenizer;
  explicit TokenizerScratch(const void* owner);
  std::unique_ptr<tokenizer::EncodeScratch> scratch_;
  const void* owner_;
};

class Tokenizer {
 public:
  // Longest text that one encode() takes, all segments together.
  static constexpr size_t kMaxText = size_t{512} << 20;

  // Reads `tokenizer.ggml.*`. Errors: kNotFound, kCorrupt (a key named, what is wrong with it), kUnsupported
  // (kind of vocabulary or pre-tokenizer that this program does not know, named).
  static Result<std::unique_ptr<Tokenizer>> load(const Metadata& metadata, LogSink& log);
  // The same from a vocabulary made by hand.
  static Result<std::unique_ptr<Tokenizer>> build(VocabData data, LogSink& log);
  ~Tokenizer();

  TokenizerScratch make_scratch() const;

  // Ids of the segments' joined text. Borders between segments do not show in the ids: ordinary text runs on
  // across them. Control and unknown tokens are found only where every byte of them lies in kParse segments;
  // user-defined tokens (strings that a vocabulary keeps whole, such as runs of spaces) are found everywhere.
  // With AddSpecial::kYes a begin (end) token is put in front (behind) where the model asks for one and the
  // ids do not have it there already. Any bytes are fine: invalid UTF-8 is encoded byte by byte or as unknown
  // tokens. Errors: kInvalidArgument (longer than kMaxText); kUnsupported (the file has no vocabulary).
  Result<std::vector<TokenId>> encode(std::span<const TextSegment> segments, AddSpecial add,
                                      TokenizerScratch& scratch) const;
  Result<std::vector<TokenId>> encode(std::string_view text, SpecialTokens special, AddSpecial add) const;

  // Bytes that a token adds to a text: not always whole characters. The id must be in [0, n_vocab()).
  std::string_view piece(TokenId id, RenderSpecial special = RenderSpecial::kHide) const;

  // The text of `ids` as bytes (ids may end inside a character). Errors: kInvalidArgument (an id out of
  // range).
  Result<std::string> decode(std::span<const TokenId> ids, const DecodeOptions& options = {}) const;

  size_t n_vocab() const;
  bool valid(TokenId id) const { return id >= 0 && static_cast<size_t>(id) < n_vocab(); }
  std::string_view token_text(TokenId id) const;  // as stored in the file
  TokenType token_type(TokenId id) const;  // as it is treated, which may differ from what the file says
  TokenId find_token(std::string_view text) const;  // by stored text; kNoToken when there is none
  TokenId special(SpecialRole role) const;          // kNoToken when the model has none
  bool is_control(TokenId id) const;                // control or unknown: never made from ordinary text
  bool is_end_of_generation(TokenId id) const;
  std::span<const TokenId> end_of_generation() const;  // ascending
  std::span<const TokenId> suppressed() const;         // ids that must never be sampled; ascending
  bool adds_bos() const;
  bool adds_eos() const;
  bool strips_leading_space() const;  // whether decoding drops the space before the first word
  const std::string& model() const;   // tokenizer.ggml.model
  const std::string& pre() const;     // name of the pre-tokenizer in the file

  // Jinja sources from the file, the default one (empty name) first.
  std::span<const ChatTemplateSource> chat_templates() const;

 private:
  struct State;
  explicit Tokenizer(std::unique_ptr<State> state);
  void add_specials(std::vector<TokenId>& ids) const;
  std::unique_ptr<State> state_;
};

}  // namespace quire
