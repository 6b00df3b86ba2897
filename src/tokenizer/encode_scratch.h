// EncodeScratch: everything an encoder needs while it runs, kept between calls so that nothing is allocated
// anew.
//
// Belongs to one tokenizer (the cache holds its ids) and to one thread at a time.
#pragma once

#include <string>
#include <vector>

#include "tokenizer/merge_list.h"
#include "tokenizer/merge_table.h"
#include "tokenizer/piece_cache.h"
#include "tokenizer/pretokenizer.h"
#include "tokenizer/score_pairs.h"
#include "tokenizer/special_partition.h"
#include "tokenizer/ugm_lattice.h"

namespace quire::tokenizer {

struct EncodeScratch {
  std::string joined;             // all segments of one call
  std::vector<ByteRange> parsed;  // where control tokens may be found in it
  PartitionScratch partition;
  std::string text;  // the fragment, normalised
  PreTokenizerScratch pre;
  MergeList<RankPairs> rank_merges;
  MergeList<ScorePairs> score_merges;
  std::vector<LatticeNode> lattice;
  PieceCache cache;
};

}  // namespace quire::tokenizer
