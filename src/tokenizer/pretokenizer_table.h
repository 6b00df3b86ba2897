// The named pre-tokenizers (`tokenizer.ggml.pre`): which patterns cut the text, and the settings that go with
// them.
//
// Constant data, thread safe. Source: the models' own tokenizer files; a test compares them with an
// independent implementation.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quire::tokenizer {

enum class CleanSpaces { kYes, kNo };        // tidy " ," and the like when decoding
enum class WholePieces { kMerge, kLookUp };  // kLookUp: a piece that is a token is not merged up to
enum class BosDefault {
  kNo,
  kYes,
  kUnset,
  kForced
};  // kUnset: the model has none; kForced: whatever the file says
enum class SepDefault { kNo, kYes };
enum class Alphabet {
  kBytes,        // GPT-2: each byte written as one printable character
  kUtf8,         // text as it is
  kUtf8Escaped,  // text as it is, spaces written U+2581
};
enum class Blanks { kKeep, kDrop };  // pieces of white space

struct PreTokenizerRow {
  std::vector<std::string_view> names = {};
  std::vector<std::string> patterns = {};  // applied in turn, each inside the pieces of the one before
  CleanSpaces clean_spaces = CleanSpaces::kYes;
  WholePieces whole_pieces = WholePieces::kMerge;
  BosDefault bos = BosDefault::kNo;
  SepDefault sep = SepDefault::kNo;
  Alphabet alphabet = Alphabet::kBytes;
  Blanks blanks = Blanks::kKeep;
};

std::span<const PreTokenizerRow> pre_tokenizer_table();
// Null when no row has that name.
const PreTokenizerRow* find_pre_tokenizer(std::string_view name);

}  // namespace quire::tokenizer
