#include "tokenizer/ugm.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/utf8.h"
#include "tokenizer/char_length.h"
#include "tokenizer/encode_scratch.h"
#include "tokenizer/escaped_space.h"

namespace quire::tokenizer {
namespace {

constexpr double kUnknownPenalty = 10.0;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Writes normalised text with its spaces escaped; runs of spaces, and those at the ends, are dropped on
// request.
class SpaceWriter {
 public:
  SpaceWriter(const VocabFlags& flags, std::string& out) : flags_(flags), out_(out) {
    if (flags_.space_prefix && !flags_.remove_extra_spaces) out_.append(kEscapedSpace);
  }
  void append(std::string_view text) {
    for (const char c : text) {
      if (c == ' ') {
        if (!flags_.remove_extra_spaces) out_.append(kEscapedSpace);
        space_before_ = true;
        continue;
      }
      if (flags_.remove_extra_spaces && space_before_ && (flags_.space_prefix || !out_.empty())) {
        out_.append(kEscapedSpace);
      }
      space_before_ = false;
      out_ += c;
    }
  }

 private:
  const VocabFlags& flags_;
  std::string& out_;
  bool space_before_ = true;
};

}  // namespace

Result<std::unique_ptr<UgmEncoder>> UgmEncoder::build(const Vocab& vocab, std::string_view charsmap) {
  if (vocab.special(SpecialRole::kUnk) == kNoToken) {
    return make_error(ErrorCode::kCorrupt,
                      "tokenizer.ggml.unknown_token_id: a t5 vocabulary needs an unknown token");
  }
  QUIRE_ASSIGN_OR_RETURN(Charsmap map, Charsmap::parse(charsmap));
  return std::unique_ptr<UgmEncoder>(new UgmEncoder(vocab, std::move(map)));
}

UgmEncoder::UgmEncoder(const Vocab& vocab, Charsmap charsmap)
    : vocab_(vocab), charsmap_(std::move(charsmap)) {
  std::vector<ByteTrie::Entry> entries;
  float min_score = std::numeric_limits<float>::max();
  token_scores_.resize(vocab.size());
  for (size_t i = 0; i < vocab.size(); ++i) {
    const TokenId id = static_cast<TokenId>(i);
    const TokenType type = vocab.file_types[i];
    if (type == TokenType::kNormal) min_score = std::min(min_score, vocab.scores[i]);
    token_scores_[i] = type == TokenType::kUserDefined ? 0.0 : static_cast<double>(vocab.scores[i]);
    if (vocab.spellable(id)) entries.push_back({vocab.texts[i], id});
  }
  trie_ = ByteTrie(std::move(entries));
  unknown_score_ = static_cast<double>(min_score) - kUnknownPenalty;
}

void UgmEncoder::normalize(std::string_view text, std::string& out) const {
  out.clear();
  SpaceWriter writer(vocab_.flags, out);
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const Charsmap::Match match = charsmap_.longest_prefix(rest);
    if (match.length > 0) {
      writer.append(match.replacement);
      at += match.length;
      continue;
    }
    const Utf8Char c = decode_utf8(rest);
    const auto length = static_cast<size_t>(c.length);
    writer.append(c.valid ? rest.substr(0, length) : kReplacement);
    at += length;
  }
}

void UgmEncoder::search(std::string_view text, EncodeScratch& scratch) const {
  const TokenId unknown = vocab_.special(SpecialRole::kUnk);
  std::vector<LatticeNode>& best = scratch.lattice;
  best.assign(text.size() + 1, {-std::numeric_limits<double>::infinity(), 0, unknown});
  best[0].score = 0;
  for (size_t begin = 0; begin < text.size();) {
    const double score = best[begin].score;
    const size_t first_char = char_length(text.substr(begin));
    bool char_is_token = false;
    const auto reach = [&](size_t end, TokenId token, double token_score) {
      LatticeNode& node = best[end];
      if (score + token_score > node.score) node = {score + token_score, static_cast<uint32_t>(begin), token};
    };
    ByteTrie::Node node = ByteTrie::kRoot;
    for (size_t at = begin; at < text.size();) {
      node = trie_.step(node, text[at++]);
      if (node == ByteTrie::kNone) break;
      const TokenId token = trie_.value(node);
      if (token < 0) continue;
      if (at - begin == first_char) char_is_token = true;
      reach(at, token, token_scores_[static_cast<size_t>(token)]);
    }
    if (!char_is_token) reach(begin + first_char, unknown, unknown_score_);
    begin += first_char;
  }
}

void UgmEncoder::encode(std::string_view text, EncodeScratch& scratch, std::vector<TokenId>& ids) const {
  normalize(text, scratch.text);
  QUIRE_CHECK(scratch.text.size() <= UINT32_MAX);
  if (scratch.text.empty()) return;
  search(scratch.text, scratch);
  const TokenId unknown = vocab_.special(SpecialRole::kUnk);
  const size_t first = ids.size();
  bool after_unknown = false;
  for (size_t end = scratch.text.size(); end > 0; end = scratch.lattice[end].begin) {
    const TokenId token = scratch.lattice[end].token;
    if (token != unknown || !after_unknown) ids.push_back(token);
    after_unknown = token == unknown;
  }
  std::reverse(ids.begin() + static_cast<ptrdiff_t>(first), ids.end());
}

}  // namespace quire::tokenizer
