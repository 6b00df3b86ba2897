// The text clean-up of WordPiece vocabularies, character by character. Pure, thread safe.
#pragma once

#include <string>

#include "tokenizer/char_class.h"
#include "tokenizer/vocab.h"

namespace quire::tokenizer {

enum class WordBreak {
  kNone,     // part of a word
  kBetween,  // white space
  kAlone,    // a word of its own
};

// What a character of the text does to the words around it.
WordBreak word_break(const ClassedChar& c);

// Appends what `c` becomes: without accents and small as the flags ask; nothing for characters that vanish.
void append_normalized(const VocabFlags& flags, const ClassedChar& c, std::string& out);

}  // namespace quire::tokenizer
