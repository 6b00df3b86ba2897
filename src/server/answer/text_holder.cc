#include "server/answer/text_holder.h"

#include <algorithm>

#include "base/utf8.h"

namespace quire::server {

void TextHolder::push(TokenDetail token) {
  if (stopped_by_) return;
  held_ += token.bytes;
  tokens_.push_back({std::move(token), held_.size()});
}

// At the same place a stop string wins over a marker.
TextHolder::Match TextHolder::earliest_match() const {
  Match first;
  const auto look = [&](const std::vector<std::string>& strings, bool is_stop) {
    for (size_t i = 0; i < strings.size(); ++i) {
      const size_t at = held_.find(strings[i]);
      if (at < first.begin) first = {at, strings[i].size(), is_stop, i};
    }
  };
  look(stops_, true);
  look(markers_, false);
  return first;
}

// Where a tail begins that is a proper beginning of some string; held_.size() when there is none.
size_t TextHolder::earliest_partial() const {
  size_t first = held_.size();
  for (const std::vector<std::string>* strings : {&stops_, &markers_}) {
    for (const std::string& string : *strings) {
      const size_t longest = std::min(string.size() - 1, held_.size());
      for (size_t begin = held_.size() - longest; begin < first; ++begin) {
        if (string.starts_with(std::string_view(held_).substr(begin))) first = begin;
      }
    }
  }
  return first;
}

TextHolder::Piece TextHolder::take() {
  if (stopped_by_) return {};
  const Match match = earliest_match();
  const size_t partial = ended_ ? held_.size() : earliest_partial();
  // A candidate that began before the match may still win; until it is decided the match is not final.
  if (match.begin != std::string::npos && match.begin <= partial) {
    if (match.is_stop) {
      const size_t end = match.begin + (stop_text_ == StopText::kKeep ? match.length : 0);
      Piece piece = release(end, end);  // dropped with its tokens
      stopped_by_ = stops_[match.index];
      return piece;
    }
    Piece piece = release(match.begin, match.begin + match.length);
    piece.marker = match.index;
    return piece;
  }
  const size_t n = ended_ ? held_.size() : complete_utf8_prefix(std::string_view(held_).substr(0, partial));
  return release(n, n);
}

// Takes n_consumed bytes out, of which the first n_text are text.
TextHolder::Piece TextHolder::release(size_t n_text, size_t n_consumed) {
  Piece piece{.text = replace_invalid_utf8(std::string_view(held_).substr(0, n_text))};
  while (!tokens_.empty() && tokens_.front().end <= n_consumed) {
    piece.tokens.push_back(std::move(tokens_.front().detail));
    tokens_.pop_front();
  }
  for (HeldToken& token : tokens_) token.end -= n_consumed;
  held_.erase(0, n_consumed);
  return piece;
}

}  // namespace quire::server
