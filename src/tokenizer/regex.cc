#include "tokenizer/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <cstdint>
#include <string>

#include "base/check.h"
#include "tokenizer/char_class.h"

namespace quire::tokenizer {
namespace {

// Replaces \s and \S by explicit classes (see kSpaceClass). \S does not occur inside classes.
std::string expand_spaces(std::string_view pattern) {
  std::string out;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      const char next = pattern[++i];
      if (next == 's') {
        out += in_class ? std::string(kSpaceClass) : "[" + std::string(kSpaceClass) + "]";
      } else if (next == 'S') {
        QUIRE_CHECK(!in_class);
        out += "[^" + std::string(kSpaceClass) + "]";
      } else {
        out += c;
        out += next;
      }
      continue;
    }
    if (c == '[') in_class = true;
    if (c == ']') in_class = false;
    out += c;
  }
  return out;
}

}  // namespace

struct RegexScratch::State {
  State() : data(pcre2_match_data_create(1, nullptr)), context(pcre2_match_context_create(nullptr)) {
    QUIRE_CHECK(data != nullptr && context != nullptr);
    pcre2_set_match_limit(context, UINT32_MAX);
    pcre2_set_depth_limit(context, UINT32_MAX);
    pcre2_set_heap_limit(context, UINT32_MAX);
  }
  ~State() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  pcre2_match_data* data;
  pcre2_match_context* context;
};

RegexScratch::RegexScratch() : state_(std::make_unique<State>()) {}
RegexScratch::~RegexScratch() = default;
RegexScratch::RegexScratch(RegexScratch&&) noexcept = default;
RegexScratch& RegexScratch::operator=(RegexScratch&&) noexcept = default;

struct Regex::Code {
  ~Code() { pcre2_code_free(code); }
  pcre2_code* code = nullptr;
  bool jit = false;
};

Regex::Regex(std::string_view pattern) : code_(std::make_unique<Code>()) {
  const std::string expanded = expand_spaces(pattern);
  int error = 0;
  PCRE2_SIZE offset = 0;
  code_->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expanded.data()), expanded.size(),
                              PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr);
  QUIRE_CHECK(code_->code != nullptr);
  code_->jit = pcre2_jit_compile(code_->code, PCRE2_JIT_COMPLETE) == 0;
}

Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;

std::optional<Regex::Match> Regex::find(std::string_view subject, size_t from, RegexScratch& scratch) const {
  const auto* text = reinterpret_cast<PCRE2_SPTR>(subject.data());
  RegexScratch::State& state = *scratch.state_;
  int rc = PCRE2_ERROR_JIT_STACKLIMIT;
  if (code_->jit) {
    rc = pcre2_jit_match(code_->code, text, subject.size(), from, PCRE2_NO_UTF_CHECK, state.data,
                         state.context);
  }
  // The interpreter keeps its backtracking on the heap; it takes over where the JIT's small stack ends.
  if (rc == PCRE2_ERROR_JIT_STACKLIMIT) {
    rc = pcre2_match(code_->code, text, subject.size(), from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, state.data,
                     state.context);
  }
  if (rc == PCRE2_ERROR_NOMATCH) return std::nullopt;
  // 0 means "more groups than the one asked for"; anything negative would be a limit, and there is none.
  QUIRE_CHECK(rc >= 0);
  const PCRE2_SIZE* range = pcre2_get_ovector_pointer(state.data);
  return Match{range[0], range[1]};
}

}  // namespace quire::tokenizer
