// PieceCache: remembers the ids of short pieces (mostly words) within one thread.
//
// Direct mapped: a new piece replaces the old one in its place, so the size is fixed (about 320 KiB, taken on
// first use). Belongs to one tokenizer and one thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include "tokenizer/text_index.h"
#include "tokenizer/token.h"

namespace quire::tokenizer {

class PieceCache {
 public:
  // Appends the ids of `piece`: from memory when it has them, otherwise what `encode()` appends to `ids`,
  // which is then remembered if it is short enough. `piece` is not empty.
  template <typename Encode>
  void append(std::string_view piece, std::vector<TokenId>& ids, Encode&& encode) {
    if (piece.size() > kMaxPiece) {
      encode();
      return;
    }
    if (append_known(piece, ids)) return;
    const size_t first = ids.size();
    encode();
    remember(piece, ids.data() + first, ids.size() - first);
  }

 private:
  static constexpr size_t kMaxPiece = 31;
  static constexpr size_t kMaxIds = 11;

  // Appends the ids of `piece` (1 to kMaxPiece bytes) and returns true when they are known.
  bool append_known(std::string_view piece, std::vector<TokenId>& ids) {
    if (entries_.empty()) entries_.resize(kEntries);
    slot_ = &entries_[hash_text(piece) % kEntries];
    if (slot_->size != piece.size() || std::memcmp(slot_->piece.data(), piece.data(), piece.size()) != 0) {
      return false;
    }
    ids.insert(ids.end(), slot_->ids.begin(), slot_->ids.begin() + slot_->n_ids);
    return true;
  }
  // Remembers `ids` for the piece that was asked for last.
  void remember(std::string_view piece, const TokenId* ids, size_t n) {
    if (n > kMaxIds) return;
    slot_->size = static_cast<uint8_t>(piece.size());
    slot_->n_ids = static_cast<uint8_t>(n);
    std::copy_n(piece.data(), piece.size(), slot_->piece.data());
    std::copy_n(ids, n, slot_->ids.data());
  }

  static constexpr size_t kEntries = 4096;
  struct Entry {
    uint8_t size = 0;
    uint8_t n_ids = 0;
    std::array<char, kMaxPiece> piece = {};
    std::array<TokenId, kMaxIds> ids = {};
  };
  std::vector<Entry> entries_;
  Entry* slot_ = nullptr;
};

}  // namespace quire::tokenizer
