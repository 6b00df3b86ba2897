// TextHolder: the bytes of an answer between the tokens that bring them and the text that may be sent.
//
// The one place where text is held back: bytes of an unfinished character, a tail that may become a stop
// string, and a tail that may become a marker (a tag such as "</think>"). What comes out is valid UTF-8 and
// the same however the bytes were cut into tokens: of all matches the one that begins earliest counts. Tokens
// are given out with the text that holds their last byte. A plain value; one answer each.
//
//   TextHolder holder({"\nUser:"});
//   holder.push({.id = id, .bytes = piece});
//   for (auto piece = holder.take(); piece.any(); piece = holder.take()) send(piece.text);
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/answer/token_detail.h"

namespace quire::server {

// Whether the stop string that ends a text is part of it.
enum class StopText : uint8_t { kDrop, kKeep };

class TextHolder {
 public:
  // Empty strings must not be among them.
  explicit TextHolder(std::vector<std::string> stops, StopText stop_text = StopText::kDrop)
      : stops_(std::move(stops)), stop_text_(stop_text) {}

  // The markers looked for from here on.
  void watch(std::vector<std::string> markers) { markers_ = std::move(markers); }

  void push(TokenDetail token);
  void end() { ended_ = true; }  // no more bytes come

  struct Piece {
    std::string text = {};
    std::vector<TokenDetail> tokens = {};
    std::optional<size_t> marker = {};  // found right behind the text, and taken out: index into watch()
    bool any() const { return !text.empty() || !tokens.empty() || marker; }
  };
  // What may go out now, up to the first marker; call again until nothing comes.
  Piece take();

  // Set once take() has met a stop string: nothing comes after it.
  const std::optional<std::string>& stopped_by() const { return stopped_by_; }

 private:
  struct Match {
    size_t begin = std::string::npos;
    size_t length = 0;
    bool is_stop = false;
    size_t index = 0;
  };
  Match earliest_match() const;
  size_t earliest_partial() const;
  Piece release(size_t n_text, size_t n_consumed);

  struct HeldToken {
    TokenDetail detail;
    size_t end;  // in held_
  };

  std::vector<std::string> stops_;
  StopText stop_text_;
  std::vector<std::string> markers_;
  std::string held_;
  std::deque<HeldToken> tokens_;
  std::optional<std::string> stopped_by_;
  bool ended_ = false;
};

}  // namespace quire::server
