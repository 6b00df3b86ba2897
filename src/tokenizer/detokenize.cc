#include "tokenizer/detokenize.h"

#include "tokenizer/byte_alphabet.h"
#include "tokenizer/byte_tokens.h"
#include "tokenizer/escaped_space.h"
#include "tokenizer/rwkv.h"

namespace quire::tokenizer {
namespace {

std::string normal_piece(const Vocab& vocab, const std::string& text) {
  switch (vocab.kind) {
    case VocabKind::kBpe:
      if (vocab.pre->alphabet == Alphabet::kBytes) {
        // A text outside the alphabet is an added token that the file marks as a normal one: shown as stored.
        auto bytes = decode_byte_alphabet(text);
        return bytes ? std::move(*bytes) : text;
      }
      return vocab.flags.escaped_spaces ? unescape_spaces(text) : text;
    case VocabKind::kRwkv:
      return unescape_rwkv(text);
    default:
      return unescape_spaces(text);
  }
}

std::string token_piece(const Vocab& vocab, size_t i) {
  const std::string& text = vocab.texts[i];
  if (vocab.rendered[i]) return text;
  switch (vocab.types[i]) {
    case TokenType::kUserDefined:
      return text;
    case TokenType::kNormal:
      return normal_piece(vocab, text);
    case TokenType::kByte: {
      const int byte = parse_hex_byte(text);
      return byte >= 0 ? std::string(1, static_cast<char>(byte)) : normal_piece(vocab, text);
    }
    case TokenType::kUndefined:
    case TokenType::kUnknown:
    case TokenType::kControl:
    case TokenType::kUnused:
      break;
  }
  return {};
}

// Appends `text` with the space of every " X" removed, X being one of `marks`.
std::string join_left(std::string_view text, std::string_view marks) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size(); ++at) {
    const bool drop =
        text[at] == ' ' && at + 1 < text.size() && marks.find(text[at + 1]) != std::string_view::npos;
    if (!drop) out += text[at];
  }
  return out;
}

std::string join_quotes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at).starts_with(" ' ")) {
      out += '\'';
      at += 2;
    } else {
      out += text[at];
    }
  }
  return out;
}

std::string join_contractions(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = text.substr(at);
    const bool drop = rest.starts_with(" 's") || rest.starts_with(" 'm") || rest.starts_with(" 're") ||
                      rest.starts_with(" 've");
    if (!drop) out += text[at];
  }
  return out;
}

}  // namespace

Detokenizer::Detokenizer(const Vocab& vocab) {
  begins_.reserve(vocab.size() + 1);
  for (size_t i = 0; i < vocab.size(); ++i) {
    begins_.push_back(bytes_.size());
    bytes_ += token_piece(vocab, i);
  }
  begins_.push_back(bytes_.size());
}

std::string clean_up_spaces(std::string_view text) {
  return join_contractions(join_quotes(join_left(text, "?!.,")));
}

}  // namespace quire::tokenizer
