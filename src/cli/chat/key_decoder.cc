#include "cli/chat/key_decoder.h"

#include <array>
#include <string_view>
#include <utility>

#include "base/utf8.h"

namespace quire::cli {
namespace {

constexpr char kEscapeByte = '\x1b';
constexpr char kDeleteByte = '\x7f';
constexpr size_t kMaxSequence = 32;  // longer than any that is known
constexpr std::string_view kPasteBegin = "200~";
constexpr std::string_view kPasteEnd = "\x1b[201~";

constexpr char control(char letter) { return static_cast<char>(letter & 0x1f); }

std::optional<KeyKind> control_key(char byte) {
  static constexpr std::array<std::pair<char, KeyKind>, 18> kKeys = {{
      {control('A'), KeyKind::kHome},
      {control('B'), KeyKind::kLeft},
      {control('C'), KeyKind::kInterrupt},
      {control('D'), KeyKind::kDeleteOrClose},
      {control('E'), KeyKind::kEnd},
      {control('F'), KeyKind::kRight},
      {control('H'), KeyKind::kBackspace},
      {control('J'), KeyKind::kEnter},
      {control('K'), KeyKind::kKillToEnd},
      {control('L'), KeyKind::kClearScreen},
      {control('M'), KeyKind::kEnter},
      {control('N'), KeyKind::kDown},
      {control('P'), KeyKind::kUp},
      {control('U'), KeyKind::kKillToStart},
      {control('W'), KeyKind::kKillWordLeft},
      {control('Y'), KeyKind::kYank},
      {control('Z'), KeyKind::kSuspend},
      {kDeleteByte, KeyKind::kBackspace},
  }};
  for (const auto& [key_byte, kind] : kKeys) {
    if (key_byte == byte) return kind;
  }
  return std::nullopt;
}

std::optional<KeyKind> alt_key(char byte) {
  switch (byte) {
    case 'b':
      return KeyKind::kWordLeft;
    case 'f':
      return KeyKind::kWordRight;
    case 'd':
      return KeyKind::kKillWordRight;
    case kDeleteByte:
    case '\b':
      return KeyKind::kKillWordLeft;
    case '\r':
    case '\n':
      return KeyKind::kNewline;
    default:
      return std::nullopt;
  }
}

// The final letter of "CSI ... letter" and "SS3 letter".
std::optional<KeyKind> letter_key(char letter, bool modified) {
  switch (letter) {
    case 'A':
      return KeyKind::kUp;
    case 'B':
      return KeyKind::kDown;
    case 'C':
      return modified ? KeyKind::kWordRight : KeyKind::kRight;
    case 'D':
      return modified ? KeyKind::kWordLeft : KeyKind::kLeft;
    case 'H':
      return KeyKind::kHome;
    case 'F':
      return KeyKind::kEnd;
    default:
      return std::nullopt;
  }
}

// "CSI number ~", with or without a modifier.
std::optional<KeyKind> number_key(std::string_view number, bool modified) {
  if (number == "1" || number == "7") return KeyKind::kHome;
  if (number == "4" || number == "8") return KeyKind::kEnd;
  if (number == "3") return modified ? KeyKind::kKillWordRight : KeyKind::kDelete;
  return std::nullopt;
}

std::optional<Key> as_key(std::optional<KeyKind> kind) {
  if (!kind) return std::nullopt;
  return Key{.kind = *kind};
}

constexpr bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

// What a block means as text: line ends of any kind are \n, other control characters but tabs are left out.
std::string pasted_text(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const Utf8Char next = decode_utf8(bytes);
    bytes.remove_prefix(static_cast<size_t>(next.length));
    if (next.code_point == '\r') {
      text += '\n';
      if (bytes.starts_with('\n')) bytes.remove_prefix(1);
    } else if (next.code_point == '\n' || next.code_point == '\t' || !is_control(next.code_point)) {
      append_utf8(text, next.code_point);
    }
  }
  return text;
}

}  // namespace

std::optional<Key> KeyDecoder::push(char byte) {
  switch (state_) {
    case State::kGround:
      return ground(byte);
    case State::kCharacter:
      return character(byte);
    case State::kEscape:
      return escape(byte);
    case State::kCsi:
      return csi(byte);
    case State::kSs3:
      state_ = State::kGround;
      return as_key(letter_key(byte, false));
    case State::kPaste:
      return paste(byte);
  }
  return std::nullopt;
}

std::optional<Key> KeyDecoder::ground(char byte) {
  pending_.clear();
  if (byte == kEscapeByte) {
    state_ = State::kEscape;
    return std::nullopt;
  }
  const auto value = static_cast<unsigned char>(byte);
  if (value < 0x20 || byte == kDeleteByte) {
    if (byte == '\t') return Key{.kind = KeyKind::kText, .text = "\t"};
    return as_key(control_key(byte));
  }
  return character(byte);
}

std::optional<Key> KeyDecoder::character(char byte) {
  pending_ += byte;
  if (complete_utf8_prefix(pending_) == 0) {
    state_ = State::kCharacter;
    return std::nullopt;
  }
  state_ = State::kGround;
  const Utf8Char decoded = decode_utf8(pending_);
  if (decoded.valid && static_cast<size_t>(decoded.length) == pending_.size()) {
    if (is_control(decoded.code_point)) return std::nullopt;
    return Key{.kind = KeyKind::kText, .text = std::move(pending_)};
  }
  // A character broken off by `byte`, which may begin something of its own.
  const bool single = pending_.size() == 1;
  pending_.clear();
  Key broken{.kind = KeyKind::kText, .text = "\xef\xbf\xbd"};
  if (single) return broken;
  std::optional<Key> next = ground(byte);
  if (!next || next->kind != KeyKind::kText) return next;
  broken.text += next->text;
  return broken;
}

std::optional<Key> KeyDecoder::escape(char byte) {
  if (byte == '[') {
    state_ = State::kCsi;
    return std::nullopt;
  }
  if (byte == 'O') {
    state_ = State::kSs3;
    return std::nullopt;
  }
  if (byte == kEscapeByte) return std::nullopt;  // Escape twice: the second may begin a sequence
  state_ = State::kGround;
  return as_key(alt_key(byte));
}

std::optional<Key> KeyDecoder::csi(char byte) {
  const bool is_final = byte >= 0x40 && byte <= 0x7e;
  pending_ += byte;
  if (!is_final) {
    if (pending_.size() > kMaxSequence || static_cast<unsigned char>(byte) < 0x20) state_ = State::kGround;
    return std::nullopt;
  }
  if (pending_ == kPasteBegin) {
    state_ = State::kPaste;
    pending_.clear();
    return std::nullopt;
  }
  state_ = State::kGround;
  const std::string_view parameters(pending_.data(), pending_.size() - 1);
  const size_t semicolon = parameters.find(';');
  const bool modified = semicolon != std::string_view::npos && parameters.substr(semicolon) != ";1";
  if (byte == '~') return as_key(number_key(parameters.substr(0, semicolon), modified));
  return as_key(letter_key(byte, modified));
}

std::optional<Key> KeyDecoder::paste(char byte) {
  pending_ += byte;
  if (!pending_.ends_with(kPasteEnd)) return std::nullopt;
  state_ = State::kGround;
  pending_.resize(pending_.size() - kPasteEnd.size());
  Key key{.kind = KeyKind::kPaste, .text = pasted_text(pending_)};
  pending_.clear();
  return key;
}

}  // namespace quire::cli
