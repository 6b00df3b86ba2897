#include "tokenizer/special_partition.h"

#include <algorithm>

#include "base/check.h"

namespace quire::tokenizer {
namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

SpecialPartition::SpecialPartition(const Vocab& vocab) {
  std::vector<ByteTrie::Entry> entries;
  std::vector<uint32_t> lengths;
  for (size_t i = 0; i < vocab.size(); ++i) {
    const TokenType type = vocab.types[i];
    const bool anywhere = type == TokenType::kUserDefined;
    if (!anywhere && type != TokenType::kControl && type != TokenType::kUnknown) continue;
    const std::string& text = vocab.texts[i];
    entries.push_back({text, static_cast<int32_t>(specials_.size())});
    specials_.push_back(
        {static_cast<TokenId>(i), static_cast<uint32_t>(text.size()), 0, anywhere, vocab.strip[i]});
    lengths.push_back(static_cast<uint32_t>(text.size()));
  }
  std::ranges::sort(lengths);
  lengths.erase(std::ranges::unique(lengths).begin(), lengths.end());
  n_lengths_ = lengths.size();
  for (Special& special : specials_) {
    special.length_rank =
        static_cast<uint32_t>(std::ranges::lower_bound(lengths, special.length) - lengths.begin());
  }
  trie_ = ByteTrie(entries);
  shorter_.assign(specials_.size(), -1);
  for (const ByteTrie::Entry& entry : entries) {
    ByteTrie::Node node = ByteTrie::kRoot;
    for (size_t i = 0; i + 1 < entry.text.size(); ++i) {
      node = trie_.step(node, entry.text[i]);
      const int32_t prefix = trie_.value(node);
      if (prefix >= 0) shorter_[static_cast<size_t>(entry.value)] = prefix;
    }
  }
}

// Files every position where a special token starts under the length of the longest one allowed there.
void SpecialPartition::collect(std::string_view text, std::span<const ByteRange> parsed,
                               PartitionScratch& scratch) const {
  size_t range = 0;
  for (size_t begin = 0; begin < text.size(); ++begin) {
    ByteTrie::Node node = trie_.step(ByteTrie::kRoot, text[begin]);
    if (node == ByteTrie::kNone) continue;
    while (range < parsed.size() && parsed[range].end <= begin) ++range;
    // Control tokens must end here at the latest.
    const size_t limit = range < parsed.size() && parsed[range].begin <= begin ? parsed[range].end : begin;
    int32_t best = -1;
    for (size_t at = begin + 1;; ++at) {
      const int32_t value = trie_.value(node);
      if (value >= 0 && (at <= limit || specials_[static_cast<size_t>(value)].anywhere)) best = value;
      if (at >= text.size()) break;
      node = trie_.step(node, text[at]);
      if (node == ByteTrie::kNone) break;
    }
    if (best < 0) continue;
    scratch.by_length[specials_[static_cast<size_t>(best)].length_rank].push_back(
        {static_cast<uint32_t>(begin), static_cast<uint32_t>(best), static_cast<uint32_t>(limit)});
  }
}

// Takes the candidates of one length, left to right. A candidate whose end is taken gets another chance with
// the next shorter token at its place. (A longer token that is already placed cannot lie strictly inside a
// shorter candidate, so looking at the two ends is enough.)
void SpecialPartition::place(std::string_view text, size_t length_rank, PartitionScratch& scratch) const {
  std::vector<PartitionScratch::Candidate>& candidates = scratch.by_length[length_rank];
  std::ranges::sort(candidates, {}, &PartitionScratch::Candidate::begin);
  for (const PartitionScratch::Candidate& candidate : candidates) {
    const size_t begin = candidate.begin;
    if (scratch.taken[begin] != 0) continue;
    const Special& special = specials_[candidate.special];
    const size_t length = special.length;
    if (scratch.taken[begin + length - 1] != 0) {
      int32_t shorter = shorter_[candidate.special];
      while (shorter >= 0 && !specials_[static_cast<size_t>(shorter)].anywhere &&
             begin + specials_[static_cast<size_t>(shorter)].length > candidate.control_end) {
        shorter = shorter_[static_cast<size_t>(shorter)];
      }
      if (shorter >= 0) {
        const auto next = static_cast<uint32_t>(shorter);
        scratch.by_length[specials_[next].length_rank].push_back(
            {candidate.begin, next, candidate.control_end});
      }
      continue;
    }
    std::fill_n(scratch.taken.begin() + static_cast<ptrdiff_t>(begin), length, uint8_t(1));
    scratch.found.push_back({special.id, begin, begin + length});
    strip_beside(text, special, begin, scratch);
  }
  candidates.clear();
}

// White space beside a token that eats it belongs to neither token nor text.
void SpecialPartition::strip_beside(std::string_view text, const Special& special, size_t begin,
                                    PartitionScratch& scratch) const {
  const size_t end = begin + special.length;
  if (special.strip == Strip::kRight) {
    size_t stop = end;
    while (stop < text.size() && scratch.taken[stop] == 0 && is_blank(text[stop])) scratch.taken[stop++] = 1;
    if (stop > end) scratch.found.push_back({kNoToken, end, stop});
  } else if (special.strip == Strip::kLeft) {
    size_t start = begin;
    while (start > 0 && scratch.taken[start - 1] == 0 && is_blank(text[start - 1]))
      scratch.taken[--start] = 1;
    if (start < begin) scratch.found.push_back({kNoToken, start, begin});
  }
}

void SpecialPartition::split(std::string_view text, std::span<const ByteRange> parsed,
                             PartitionScratch& scratch) const {
  QUIRE_CHECK(text.size() <= UINT32_MAX);
  scratch.fragments.clear();
  scratch.found.clear();
  scratch.by_length.resize(n_lengths_);
  collect(text, parsed, scratch);
  const bool any = std::ranges::any_of(scratch.by_length, [](const auto& list) { return !list.empty(); });
  if (any) {
    scratch.taken.assign(text.size(), 0);
    for (size_t rank = n_lengths_; rank-- > 0;) place(text, rank, scratch);
    std::ranges::sort(scratch.found, {}, &Fragment::begin);
  }
  size_t at = 0;
  for (const Fragment& found : scratch.found) {
    if (found.begin > at) scratch.fragments.push_back({kNoToken, at, found.begin});
    if (found.token != kNoToken) scratch.fragments.push_back(found);
    at = found.end;
  }
  if (at < text.size()) scratch.fragments.push_back({kNoToken, at, text.size()});
}

}  // namespace quire::tokenizer
