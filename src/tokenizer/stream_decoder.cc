#include "tokenizer/stream_decoder.h"

#include <utility>

#include "base/utf8.h"

namespace quire {

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, const StreamOptions& options)
    : tokenizer_(tokenizer),
      options_(options),
      strip_(options.leading_space == LeadingSpace::kStrip && tokenizer.strips_leading_space()) {}

std::string StreamDecoder::push(TokenId id) {
  std::string_view piece = tokenizer_.piece(id, options_.special);
  if (strip_ && !tokenizer_.is_control(id)) {
    if (piece.starts_with(' ')) piece.remove_prefix(1);
    strip_ = false;
  }
  held_ += piece;
  const size_t complete = complete_utf8_prefix(held_);
  std::string text = replace_invalid_utf8(std::string_view(held_).substr(0, complete));
  held_.erase(0, complete);
  return text;
}

std::string StreamDecoder::finish() {
  strip_ = options_.leading_space == LeadingSpace::kStrip && tokenizer_.strips_leading_space();
  return replace_invalid_utf8(std::exchange(held_, {}));
}

}  // namespace quire
