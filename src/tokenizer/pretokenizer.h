// PreTokenizer: cuts a text into the pieces that BPE merges inside.
//
// Each pattern of its row is a stage that cuts inside the pieces of the stage before; a look-ahead never sees
// past its piece. Time is linear in the text. Immutable, thread safe; each thread brings its own
// PreTokenizerScratch.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/pretokenizer_table.h"
#include "tokenizer/regex.h"
#include "tokenizer/scanners.h"

namespace quire::tokenizer {

struct PreTokenizerScratch {
  std::vector<size_t> ends;  // the result of the last split(): end of each piece, ascending
  std::vector<size_t> next;
  std::string clean;
  std::vector<size_t> origin;
  RegexScratch regex;
};

// kNative uses hand-written scanners where there are any; kCompiled is the reference they are tested against.
enum class ScannerChoice { kNative, kCompiled };

class PreTokenizer {
 public:
  explicit PreTokenizer(const PreTokenizerRow& row, ScannerChoice choice = ScannerChoice::kNative);

  // Leaves the ends of the pieces of `text` in scratch.ends: the pieces cover the text, none is empty. Any
  // bytes are fine: each invalid byte is cut like one U+FFFD.
  void split(std::string_view text, PreTokenizerScratch& scratch) const;

 private:
  struct Stage {
    const Scanner* scanner = nullptr;  // null: use the regex
    std::vector<Regex> regex;          // one, or none
  };
  void run_stages(std::string_view text, PreTokenizerScratch& scratch) const;

  std::vector<Stage> stages_;
  bool needs_valid_utf8_ = false;
};

}  // namespace quire::tokenizer
