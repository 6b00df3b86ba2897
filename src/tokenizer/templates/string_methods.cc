// Methods of str, as templates call them: "text".split(","), content.startswith("x").
#include <algorithm>

#include "tokenizer/templates/builtins.h"
#include "tokenizer/templates/format.h"
#include "tokenizer/templates/interpreter.h"
#include "tokenizer/templates/operators.h"
#include "tokenizer/templates/text_ops.h"
#include "tokenizer/templates/unicode.h"

namespace quire::jinja {
namespace {

template <LetterCase letter_case>
Val method_case(Interpreter& in, const Val& self, const Bound&) {
  return change_case(in.heap(), *self.text, letter_case);
}

template <Side side>
Val method_strip(Interpreter& in, const Val& self, const Bound& args) {
  const bool given = args[0].given() && !args[0].is(Tag::kNone);
  return strip(in.heap(), *self.text, side, given ? &require_text(args[0], "strip") : nullptr);
}

Val method_replace(Interpreter& in, const Val& self, const Bound& args) {
  return replace(in.heap(), *self.text, require_text(args[0], "replace"), require_text(args[1], "replace"),
                 integer_or(args[2], -1, "count"));
}

const Text* separator_of(const Val& value) {
  return value.given() && !value.is(Tag::kNone) ? &require_text(value, "split") : nullptr;
}

Val method_split(Interpreter& in, const Val& self, const Bound& args) {
  return in.heap().list(
      split(in.heap(), *self.text, separator_of(args[0]), integer_or(args[1], -1, "maxsplit")),
      ListKind::kList, self.text->origin());
}

Val method_rsplit(Interpreter& in, const Val& self, const Bound& args) {
  return in.heap().list(
      split_from_right(in.heap(), *self.text, separator_of(args[0]), integer_or(args[1], -1, "maxsplit")),
      ListKind::kList, self.text->origin());
}

Val method_splitlines(Interpreter& in, const Val& self, const Bound& args) {
  const LineEnds ends = flag_or(args[0], false) ? LineEnds::kKeep : LineEnds::kDrop;
  return in.heap().list(split_lines(in.heap(), *self.text, ends), ListKind::kList, self.text->origin());
}

enum class Edge { kStart, kEnd };

template <Edge edge>
bool has_edge(const Text& text, const Val& affix) {
  const std::string_view part = require_text(affix, "startswith").view();
  return edge == Edge::kStart ? text.view().starts_with(part) : text.view().ends_with(part);
}

template <Edge edge>
Val method_edge(Interpreter& in, const Val& self, const Bound& args) {
  const Text* text = self.text;
  if (args[1].given() || args[2].given()) {
    const Val part = slice(in.heap(), self, SliceBounds{args[1], args[2], Val()});
    text = part.text;
  }
  const Val& affix = args[0];
  bool found = false;
  if (affix.is(Tag::kList) && affix.list->kind == ListKind::kTuple) {
    for (const Val& option : affix.list->items) found = found || has_edge<edge>(*text, option);
  } else {
    found = has_edge<edge>(*text, affix);
  }
  return Val::of(found, self.text->origin());
}

Val method_removeprefix(Interpreter& in, const Val& self, const Bound& args) {
  const std::string_view part = require_text(args[0], "removeprefix").view();
  const size_t cut = self.view().starts_with(part) ? part.size() : 0;
  return in.heap().slice(*self.text, cut, self.text->size());
}

Val method_removesuffix(Interpreter& in, const Val& self, const Bound& args) {
  const std::string_view part = require_text(args[0], "removesuffix").view();
  const size_t cut = self.view().ends_with(part) ? part.size() : 0;
  return in.heap().slice(*self.text, 0, self.text->size() - cut);
}

enum class Direction { kForward, kBackward };

// Character index of the first (last) occurrence, or -1; start and end as for slices.
template <Direction direction>
int64_t position(Interpreter& in, const Val& self, const Bound& args) {
  const Text& part = require_text(args[0], "find");
  in.budget().charge_search(self.text->size());
  const auto characters = static_cast<int64_t>(count_characters(*self.text));
  const auto place = [&](const Val& bound, int64_t absent) {
    int64_t i = bound.given() && !bound.is(Tag::kNone) ? to_index(bound, "slice indices") : absent;
    if (i < 0) i = std::max<int64_t>(i < -characters ? 0 : i + characters, 0);
    return i;
  };
  const int64_t begin = place(args[1], 0);
  const int64_t end = std::min(place(args[2], characters), characters);
  if (begin > end) return -1;
  const size_t begin_byte = character_offset(*self.text, static_cast<size_t>(begin));
  const size_t end_byte = character_offset(*self.text, static_cast<size_t>(end - begin), begin_byte);
  const std::string_view window = self.view().substr(begin_byte, end_byte - begin_byte);
  size_t found;
  if (direction == Direction::kForward) {
    found = find_bytes(window, part.view());
  } else {
    in.budget().charge_steps(static_cast<int64_t>(window.size() / 64 * (part.size() / 64 + 1)));
    found = window.rfind(part.view());
  }
  if (found == std::string_view::npos) return -1;
  if (self.text->ascii()) return static_cast<int64_t>(begin_byte + found);
  return begin + static_cast<int64_t>(count_characters(Text(window.substr(0, found), Origin::kTemplate)));
}

template <Direction direction>
Val method_find(Interpreter& in, const Val& self, const Bound& args) {
  return Val::of(position<direction>(in, self, args), self.text->origin());
}

template <Direction direction>
Val method_index(Interpreter& in, const Val& self, const Bound& args) {
  const int64_t found = position<direction>(in, self, args);
  if (found < 0) fail("substring not found");
  return Val::of(found, self.text->origin());
}

Val method_count(Interpreter& in, const Val& self, const Bound& args) {
  const std::string_view part = require_text(args[0], "count").view();
  in.budget().charge_search(self.text->size());
  if (part.empty()) return Val::of(length(self) + 1, self.text->origin());
  int64_t count = 0;
  for (size_t at = find_bytes(self.view(), part); at != std::string_view::npos;
       at = find_bytes(self.view(), part, at + part.size())) {
    in.budget().charge_steps(1);
    ++count;
  }
  return Val::of(count, self.text->origin());
}

Val method_join(Interpreter& in, const Val& self, const Bound& args) {
  const std::vector<Val> items = iterate(in.heap(), args[0]);
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i].is(Tag::kString)) {
      fail("sequence item {}: expected str instance, {} found", i, type_name(items[i]));
    }
  }
  return join(in.heap(), *self.text, items);
}

Val method_format(Interpreter& in, const Val& self, const Bound& args) {
  return brace_format(in, *self.text, *args.raw);
}

template <Side padded_side>
Val method_justify(Interpreter& in, const Val& self, const Bound& args) {
  std::string_view fill = " ";
  if (args[1].given()) {
    const Text& given = require_text(args[1], "ljust");
    if (count_characters(given) != 1) fail("the fill character must be exactly one character long");
    fill = given.view();
  }
  return justify(in.heap(), *self.text, to_index(args[0], "width"), fill, padded_side);
}

Val method_zfill(Interpreter& in, const Val& self, const Bound& args) {
  const Text& text = *self.text;
  const int64_t missing = to_index(args[0], "width") - length(self);
  if (missing <= 0) return self;
  const size_t sign = text.view().starts_with('-') || text.view().starts_with('+') ? 1 : 0;
  TextBuilder out(in.budget());
  out.append(text, 0, sign);
  out.append_repeated("0", missing, text.origin());
  out.append(text, sign, text.size());
  return in.heap().string(std::move(out));
}

Val partition_result(Interpreter& in, const Val& self, size_t found, size_t size) {
  Heap& heap = in.heap();
  return heap.list({heap.slice(*self.text, 0, found), heap.slice(*self.text, found, found + size),
                    heap.slice(*self.text, found + size, self.text->size())},
                   ListKind::kTuple, self.text->origin());
}

Val method_partition(Interpreter& in, const Val& self, const Bound& args) {
  const std::string_view part = require_text(args[0], "partition").view();
  if (part.empty()) fail("empty separator");
  const size_t found = find_bytes(self.view(), part);
  if (found != std::string_view::npos) return partition_result(in, self, found, part.size());
  return partition_result(in, self, self.text->size(), 0);
}

Val method_rpartition(Interpreter& in, const Val& self, const Bound& args) {
  const std::string_view part = require_text(args[0], "rpartition").view();
  if (part.empty()) fail("empty separator");
  in.budget().charge_steps(static_cast<int64_t>(self.text->size() / 64 * (part.size() / 64 + 1)));
  const size_t found = self.view().rfind(part);
  if (found != std::string_view::npos) return partition_result(in, self, found, part.size());
  return partition_result(in, self, 0, 0);
}

// True when the text is not empty and every character passes.
template <bool (*passes)(char32_t)>
Val method_all(Interpreter& in, const Val& self, const Bound&) {
  in.budget().charge_scan(self.text->size());
  const std::string_view text = self.view();
  bool all = !text.empty();
  for (size_t at = 0; at < text.size() && all;) {
    const Character c = character_at(text, at);
    all = passes(c.code_point);
    at += c.length;
  }
  return Val::of(all, self.text->origin());
}

bool is_alphanumeric(char32_t c) { return is_alpha(c) || is_numeric(c); }

Val method_isascii(Interpreter&, const Val& self, const Bound&) {
  return Val::of(self.text->ascii(), self.text->origin());
}

Val method_isprintable(Interpreter& in, const Val& self, const Bound& args) {
  if (self.text->size() == 0) return Val::of(true);
  return method_all<is_printable>(in, self, args);
}

Val method_istitle(Interpreter& in, const Val& self, const Bound&) {
  in.budget().charge_scan(self.text->size());
  bool previous_cased = false;
  bool any = false;
  const std::string_view text = self.view();
  for (size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    at += c.length;
    const bool capital = is_upper(c.code_point) || is_title(c.code_point);
    if ((capital && previous_cased) || (is_lower(c.code_point) && !previous_cased)) return Val::of(false);
    previous_cased = is_cased(c.code_point);
    any = any || previous_cased;
  }
  return Val::of(any, self.text->origin());
}

template <const char* test_name>
Val method_via_test(Interpreter& in, const Val& self, const Bound&) {
  return Val::of(in.apply_test(test_name, self, {}), self.text->origin());
}
constexpr char kLowerTest[] = "lower";
constexpr char kUpperTest[] = "upper";

constexpr FunctionObject kStringMethods[] = {
    {"strip", "chars", 0, method_strip<Side::kBoth>},
    {"lstrip", "chars", 0, method_strip<Side::kLeft>},
    {"rstrip", "chars", 0, method_strip<Side::kRight>},
    {"split", "sep,maxsplit", 0, method_split},
    {"rsplit", "sep,maxsplit", 0, method_rsplit},
    {"splitlines", "keepends", 0, method_splitlines},
    {"replace", "old,new,count", 2, method_replace},
    {"startswith", "prefix,start,end", 1, method_edge<Edge::kStart>},
    {"endswith", "suffix,start,end", 1, method_edge<Edge::kEnd>},
    {"removeprefix", "prefix", 1, method_removeprefix},
    {"removesuffix", "suffix", 1, method_removesuffix},
    {"upper", "", 0, method_case<LetterCase::kUpper>},
    {"lower", "", 0, method_case<LetterCase::kLower>},
    {"title", "", 0, method_case<LetterCase::kTitle>},
    {"capitalize", "", 0, method_case<LetterCase::kCapitalize>},
    {"swapcase", "", 0, method_case<LetterCase::kSwap>},
    {"casefold", "", 0, method_case<LetterCase::kFold>},
    {"format", "*", 0, method_format},
    {"join", "iterable", 1, method_join},
    {"find", "sub,start,end", 1, method_find<Direction::kForward>},
    {"rfind", "sub,start,end", 1, method_find<Direction::kBackward>},
    {"index", "sub,start,end", 1, method_index<Direction::kForward>},
    {"rindex", "sub,start,end", 1, method_index<Direction::kBackward>},
    {"count", "sub", 1, method_count},
    {"ljust", "width,fillchar", 1, method_justify<Side::kRight>},
    {"rjust", "width,fillchar", 1, method_justify<Side::kLeft>},
    {"center", "width,fillchar", 1, method_justify<Side::kBoth>},
    {"zfill", "width", 1, method_zfill},
    {"partition", "sep", 1, method_partition},
    {"rpartition", "sep", 1, method_rpartition},
    {"isalpha", "", 0, method_all<is_alpha>},
    {"isalnum", "", 0, method_all<is_alphanumeric>},
    {"isdigit", "", 0, method_all<is_decimal>},
    {"isdecimal", "", 0, method_all<is_decimal>},
    {"isnumeric", "", 0, method_all<is_numeric>},
    {"isspace", "", 0, method_all<is_space>},
    {"isprintable", "", 0, method_isprintable},
    {"isascii", "", 0, method_isascii},
    {"islower", "", 0, method_via_test<kLowerTest>},
    {"isupper", "", 0, method_via_test<kUpperTest>},
    {"istitle", "", 0, method_istitle},
};

}  // namespace

std::span<const FunctionObject> string_methods() { return kStringMethods; }

}  // namespace quire::jinja
