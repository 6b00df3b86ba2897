// StreamDecoder: text of tokens as they arrive, whole characters only.
//
// Bytes of an unfinished character wait for the next token; bytes that cannot become one are U+FFFD. The
// concatenated answers equal the whole text with its invalid bytes replaced. Points to the Tokenizer, which
// must outlive it. One stream each; not thread safe.
//
//   StreamDecoder stream(tokenizer);
//   for (TokenId id : generated) send(stream.push(id));
//   send(stream.finish());
#pragma once

#include <string>

#include "tokenizer/tokenizer.h"

namespace quire {

struct StreamOptions {
  RenderSpecial special = RenderSpecial::kHide;
  // kStrip for a text that starts with the first token; kKeep for the continuation of a prompt.
  LeadingSpace leading_space = LeadingSpace::kKeep;
};

class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, const StreamOptions& options = {});

  // Text that is complete now, valid UTF-8, often empty. The id must be in the vocabulary.
  std::string push(TokenId id);
  // What is still held, as U+FFFD; afterwards the decoder is as new.
  std::string finish();
  // Bytes held back, at most 3.
  std::string_view held() const { return held_; }

 private:
  const Tokenizer& tokenizer_;
  StreamOptions options_;
  bool strip_;
  std::string held_;
};

}  // namespace quire
