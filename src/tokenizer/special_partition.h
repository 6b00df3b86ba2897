// SpecialPartition: finds the special tokens that a text spells and cuts the text around them.
//
// Longer tokens win over shorter ones wherever they are; among equal lengths the leftmost. Control and
// unknown tokens are found only inside the parts of the text where that is allowed; user-defined tokens (a
// vocabulary's way of keeping certain ordinary strings whole) everywhere, also across the border of such
// parts. Time is linear in the text, memory 12 bytes per byte that starts a candidate. Immutable, thread
// safe.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "tokenizer/byte_trie.h"
#include "tokenizer/token.h"
#include "tokenizer/vocab.h"

namespace quire::tokenizer {

struct ByteRange {
  size_t begin;
  size_t end;
};

// Either a special token or ordinary text [begin, end).
struct Fragment {
  TokenId token = kNoToken;
  size_t begin = 0;
  size_t end = 0;
};

struct PartitionScratch {
  struct Candidate {
    uint32_t begin;
    uint32_t special;      // index of the token
    uint32_t control_end;  // where control tokens must end
  };
  std::vector<std::vector<Candidate>> by_length;  // one list per distinct length, shortest first
  std::vector<uint8_t> taken;
  std::vector<Fragment> found;
  std::vector<Fragment> fragments;  // the result of the last split(), in order, none empty
};

class SpecialPartition {
 public:
  explicit SpecialPartition(const Vocab& vocab);

  // Cuts `text` (< 4 GiB). `parsed` are the ranges where control tokens may be found: ascending, apart.
  void split(std::string_view text, std::span<const ByteRange> parsed, PartitionScratch& scratch) const;

 private:
  struct Special {
    TokenId id;
    uint32_t length;
    uint32_t length_rank;  // among the distinct lengths
    bool anywhere;         // user-defined
    Strip strip;
  };
  void collect(std::string_view text, std::span<const ByteRange> parsed, PartitionScratch& scratch) const;
  void place(std::string_view text, size_t length_rank, PartitionScratch& scratch) const;
  void strip_beside(std::string_view text, const Special& special, size_t begin,
                    PartitionScratch& scratch) const;

  std::vector<Special> specials_;
  ByteTrie trie_;                 // text -> index into specials_
  std::vector<int32_t> shorter_;  // per special: the longest special that is a proper prefix, or -1
  size_t n_lengths_ = 0;
};

}  // namespace quire::tokenizer
