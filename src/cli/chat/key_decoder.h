// KeyDecoder: bytes of a terminal to keys: text, control keys, escape sequences, pasted blocks.
//
// A state machine without clock or terminal: the same bytes give the same keys, however they are cut. Knows
// the sequences of xterm and its kin (CSI and SS3 forms, modifiers, bracketed paste); unknown ones are
// swallowed whole. A plain value, one thread.
//
//   KeyDecoder decoder;
//   for (char byte : bytes) if (std::optional<Key> key = decoder.push(byte)) handle(*key);
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace quire::cli {

enum class KeyKind : uint8_t {
  kText,     // one character
  kPaste,    // a block that was pasted; lines end in \n
  kEnter,    // also the line feed that a terminal makes of it before it is in raw mode
  kNewline,  // Alt-Enter: a line break that does not send
  kBackspace,
  kDelete,
  kLeft,
  kRight,
  kUp,
  kDown,
  kHome,
  kEnd,
  kWordLeft,
  kWordRight,
  kKillWordLeft,
  kKillWordRight,
  kKillToStart,
  kKillToEnd,
  kYank,
  kInterrupt,      // Ctrl-C
  kDeleteOrClose,  // Ctrl-D
  kSuspend,        // Ctrl-Z
  kClearScreen,    // Ctrl-L
};

struct Key {
  KeyKind kind;
  std::string text = {};  // of kText and kPaste: valid UTF-8
  bool operator==(const Key&) const = default;
};

class KeyDecoder {
 public:
  // The key that this byte completes, if any.
  std::optional<Key> push(char byte);

 private:
  enum class State : uint8_t { kGround, kCharacter, kEscape, kCsi, kSs3, kPaste };

  std::optional<Key> ground(char byte);
  std::optional<Key> character(char byte);
  std::optional<Key> escape(char byte);
  std::optional<Key> csi(char byte);
  std::optional<Key> paste(char byte);

  State state_ = State::kGround;
  std::string pending_;  // bytes of the character, sequence or paste so far
};

}  // namespace quire::cli
