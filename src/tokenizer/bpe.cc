#include "tokenizer/bpe.h"

#include "tokenizer/byte_alphabet.h"
#include "tokenizer/char_class.h"
#include "tokenizer/char_length.h"
#include "tokenizer/encode_scratch.h"
#include "tokenizer/escaped_space.h"

namespace quire::tokenizer {
namespace {

// A character that is no symbol is kept as a negative number that says where it starts in its word.
SymbolId unknown_symbol(size_t offset) { return -1 - static_cast<SymbolId>(offset); }
size_t unknown_offset(SymbolId symbol) { return static_cast<size_t>(-1 - symbol); }

// Raw bytes of a token or merge part as written in the file; nothing when it cannot occur in a piece.
std::optional<std::string> raw_text(Alphabet alphabet, std::string_view text) {
  if (alphabet != Alphabet::kBytes) return std::string(text);
  return decode_byte_alphabet(text);
}

}  // namespace

BpeEncoder::BpeEncoder(const Vocab& vocab, size_t n_merges)
    : pre_(*vocab.pre),
      alphabet_(vocab.pre->alphabet),
      whole_pieces_(vocab.pre->whole_pieces),
      blanks_(vocab.pre->blanks),
      byte_tokens_(vocab,
                   vocab.pre->alphabet == Alphabet::kBytes ? ByteSpelling::kAlphabet : ByteSpelling::kHex),
      merges_(n_merges),
      symbols_(vocab.size()) {}

Result<std::unique_ptr<BpeEncoder>> BpeEncoder::build(const Vocab& vocab, std::span<const std::string> merges,
                                                      LogSink& log) {
  std::unique_ptr<BpeEncoder> encoder(new BpeEncoder(vocab, merges.size()));
  if (merges.empty()) {
    const bool accepted = std::ranges::find(vocab.pre->names, "kimi-k2") != vocab.pre->names.end();
    if (!accepted) return make_error(ErrorCode::kCorrupt, "tokenizer.ggml.merges: missing or empty");
    // Such files come from a vocabulary of whole pieces; what is not one is spelled in bytes.
    log.write(LogLevel::kWarning,
              "tokenizer.ggml.merges is missing: only whole pieces and bytes become tokens");
    encoder->whole_pieces_ = WholePieces::kLookUp;
  }
  encoder->add_tokens(vocab);
  QUIRE_RETURN_IF_ERROR(encoder->add_merges(merges, log));
  return encoder;
}

SymbolId BpeEncoder::intern(std::string text) {
  const SymbolId known = symbols_.find(text);
  if (known >= 0) return known;
  const auto symbol = static_cast<SymbolId>(symbol_texts_.size());
  symbol_texts_.push_back(std::move(text));
  symbol_tokens_.push_back(kNoToken);
  symbols_.insert(symbol_texts_.back(), symbol);
  return symbol;
}

void BpeEncoder::add_tokens(const Vocab& vocab) {
  for (size_t byte = 0; byte < 256; ++byte) {
    byte_symbols_[byte] = intern(std::string(1, static_cast<char>(byte)));
  }
  for (size_t i = 0; i < vocab.size(); ++i) {
    const TokenId id = static_cast<TokenId>(i);
    if (!vocab.spellable(id)) continue;
    auto raw = raw_text(alphabet_, vocab.texts[i]);
    if (raw) symbol_tokens_[static_cast<size_t>(intern(std::move(*raw)))] = id;
  }
}

Status BpeEncoder::add_merges(std::span<const std::string> merges, LogSink& log) {
  // Byte-level pieces are words already; plain UTF-8 ones are whole lines.
  if (alphabet_ == Alphabet::kUtf8Escaped && whole_pieces_ == WholePieces::kMerge) pairs_.emplace();
  size_t unusable = 0;
  for (size_t i = 0; i < merges.size(); ++i) {
    const std::string& line = merges[i];
    const size_t space = line.find(' ', 1);
    if (space == std::string::npos || space + 1 == line.size()) {
      return make_error(ErrorCode::kCorrupt,
                        "tokenizer.ggml.merges: entry {} is not two parts with a space between", i);
    }
    auto left = raw_text(alphabet_, std::string_view(line).substr(0, space));
    auto right = raw_text(alphabet_, std::string_view(line).substr(space + 1));
    if (!left || !right) {
      ++unusable;
      continue;
    }
    std::string both = *left + *right;
    if (pairs_) pairs_->add(both);
    const SymbolId left_symbol = intern(std::move(*left)), right_symbol = intern(std::move(*right));
    merges_.insert(left_symbol, right_symbol, static_cast<uint32_t>(i), intern(std::move(both)));
  }
  if (unusable > 0) {
    log.write(
        LogLevel::kWarning,
        fmt::format("tokenizer.ggml.merges: {} entries have characters outside the byte alphabet; ignored",
                    unusable));
  }
  return {};
}

void BpeEncoder::append_symbol(SymbolId symbol, std::string_view word, std::vector<TokenId>& ids) const {
  if (symbol < 0) {
    const std::string_view rest = word.substr(unknown_offset(symbol));
    byte_tokens_.append(rest.substr(0, char_length(rest)), ids);
    return;
  }
  const TokenId id = symbol_tokens_[static_cast<size_t>(symbol)];
  if (id != kNoToken) {
    ids.push_back(id);
  } else {
    byte_tokens_.append(symbol_texts_[static_cast<size_t>(symbol)], ids);
  }
}

void BpeEncoder::merge_word(std::string_view word, EncodeScratch& scratch, std::vector<TokenId>& ids) const {
  if (whole_pieces_ == WholePieces::kLookUp) {
    const SymbolId whole = symbols_.find(word);
    if (whole >= 0 && symbol_tokens_[static_cast<size_t>(whole)] != kNoToken) {
      ids.push_back(symbol_tokens_[static_cast<size_t>(whole)]);
      return;
    }
  }
  std::vector<SymbolId>& symbols = scratch.rank_merges.symbols;
  symbols.clear();
  if (alphabet_ == Alphabet::kBytes) {
    for (const char byte : word) symbols.push_back(byte_symbols_[static_cast<unsigned char>(byte)]);
  } else {
    for (size_t at = 0; at < word.size();) {
      const size_t length = char_length(word.substr(at));
      const SymbolId symbol = symbols_.find(word.substr(at, length));
      symbols.push_back(symbol >= 0 ? symbol : unknown_symbol(at));
      at += length;
    }
  }
  scratch.rank_merges.run(RankPairs{merges_});
  for (const SymbolId symbol : symbols) append_symbol(symbol, word, ids);
}

void BpeEncoder::encode_word(std::string_view word, EncodeScratch& scratch, std::vector<TokenId>& ids) const {
  scratch.cache.append(word, ids, [&] { merge_word(word, scratch, ids); });
}

void BpeEncoder::encode(std::string_view text, EncodeScratch& scratch, std::vector<TokenId>& ids) const {
  if (alphabet_ == Alphabet::kUtf8Escaped) {
    scratch.text.clear();
    append_escaped(scratch.text, text);
    text = scratch.text;
  }
  pre_.split(text, scratch.pre);
  size_t begin = 0;
  for (const size_t end : scratch.pre.ends) {
    const std::string_view piece = text.substr(begin, end - begin);
    begin = end;
    if (blanks_ == Blanks::kDrop && (char_at(CharClasses::instance(), piece, 0).classes & kSpace) != 0)
      continue;
    if (!pairs_) {
      encode_word(piece, scratch, ids);
      continue;
    }
    for (size_t at = 0; at < piece.size();) {
      const size_t word_end = pairs_->piece_end(piece, at);
      encode_word(piece.substr(at, word_end - at), scratch, ids);
      at = word_end;
    }
  }
}

}  // namespace quire::tokenizer
