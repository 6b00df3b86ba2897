// PieceSink: collects matches inside one piece of text as consecutive piece ends, gaps between matches
// included.
//
// Borrow only; lives for one scan.
#pragma once

#include <cstddef>
#include <vector>

namespace quire::tokenizer {

class PieceSink {
 public:
  // Ends are appended to `ends`, each with `base` (where the piece starts in the whole text) added.
  PieceSink(size_t base, std::vector<size_t>& ends) : base_(base), ends_(ends) {}

  // A match [begin, end) at or after the last one. An empty match only cuts.
  void match(size_t begin, size_t end) {
    if (begin > last_) ends_.push_back(base_ + begin);
    if (end > begin) ends_.push_back(base_ + end);
    last_ = end;
  }
  // The text ends at `size`: what is left after the last match is a piece.
  void finish(size_t size) {
    if (size > last_) ends_.push_back(base_ + size);
  }

 private:
  size_t base_;
  std::vector<size_t>& ends_;
  size_t last_ = 0;
};

}  // namespace quire::tokenizer
