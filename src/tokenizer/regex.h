// Regex: a compiled pattern (PCRE2, JIT where the machine has it) over valid UTF-8.
//
// Patterns are constants of this program, never input: a bad one aborts. In patterns, \s and \S mean the
// Unicode property White_Space. Matching needs no stack that grows with the text and has no step limit, so an
// answer is never cut short; patterns must therefore be linear by construction (possessive groups, no nested
// repeats). Immutable, thread safe; each thread brings its own RegexScratch.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

namespace quire::tokenizer {

class RegexScratch {
 public:
  RegexScratch();
  ~RegexScratch();
  RegexScratch(RegexScratch&&) noexcept;
  RegexScratch& operator=(RegexScratch&&) noexcept;

 private:
  friend class Regex;
  struct State;
  std::unique_ptr<State> state_;
};

class Regex {
 public:
  struct Match {
    size_t begin;
    size_t end;
  };

  explicit Regex(std::string_view pattern);
  ~Regex();
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;

  // The leftmost match that starts at or after `from`. `subject` must be valid UTF-8 and `from` on a
  // character border; look-behind sees the text before `from`.
  std::optional<Match> find(std::string_view subject, size_t from, RegexScratch& scratch) const;

 private:
  struct Code;
  std::unique_ptr<Code> code_;
};

}  // namespace quire::tokenizer
