// Filters whose result is text.
#include <algorithm>

#include "tokenizer/templates/builtins.h"
#include "tokenizer/templates/format.h"
#include "tokenizer/templates/interpreter.h"
#include "tokenizer/templates/json_dump.h"
#include "tokenizer/templates/operators.h"
#include "tokenizer/templates/text_ops.h"
#include "tokenizer/templates/unicode.h"

namespace quire::jinja {
namespace {

bool absent(const Val& value) { return !value.given() || value.is(Tag::kNone); }

template <LetterCase letter_case>
Val filter_case(Interpreter& in, const Val& self, const Bound&) {
  return change_case(in.heap(), *to_text(in.heap(), self).text, letter_case);
}

// Each word, cut at whitespace, hyphens and opening brackets, starts in upper case; the rest is lower case.
Val filter_title(Interpreter& in, const Val& self, const Bound&) {
  const Val value = to_text(in.heap(), self);
  const Text& text = *value.text;
  const auto cuts = [](char32_t c) {
    return is_space(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<';
  };
  TextBuilder out(in.budget());
  for (size_t at = 0; at < text.size();) {
    const Character first = character_at(text.view(), at);
    if (cuts(first.code_point)) {
      out.append(text, at, at + first.length);
      at += first.length;
      continue;
    }
    size_t end = at + first.length;
    while (end < text.size()) {
      const Character c = character_at(text.view(), end);
      if (cuts(c.code_point)) break;
      end += c.length;
    }
    for (char32_t c : upper(first.code_point)) out.append_char(c, text.origin_at(at));
    const Val rest = in.heap().slice(text, at + first.length, end);
    out.append(*change_case(in.heap(), *rest.text, LetterCase::kLower).text);
    at = end;
  }
  return in.heap().string(std::move(out));
}

Val filter_trim(Interpreter& in, const Val& self, const Bound& args) {
  const Val text = to_text(in.heap(), self);
  return strip(in.heap(), *text.text, Side::kBoth,
               absent(args[0]) ? nullptr : &require_text(args[0], "trim"));
}

Val filter_replace(Interpreter& in, const Val& self, const Bound& args) {
  Heap& heap = in.heap();
  return replace(heap, *to_text(heap, self).text, *to_text(heap, args[0]).text, *to_text(heap, args[1]).text,
                 absent(args[2]) ? -1 : to_index(args[2], "count"));
}

Val filter_string(Interpreter& in, const Val& self, const Bound&) { return to_text(in.heap(), self); }

Val filter_escape(Interpreter& in, const Val& self, const Bound&) {
  const Val value = to_text(in.heap(), self);
  const Text& text = *value.text;
  TextBuilder out(in.budget());
  for (size_t at = 0; at < text.size(); ++at) {
    const char* entity = nullptr;
    switch (text.view()[at]) {
      case '&':
        entity = "&amp;";
        break;
      case '<':
        entity = "&lt;";
        break;
      case '>':
        entity = "&gt;";
        break;
      case '"':
        entity = "&#34;";
        break;
      case '\'':
        entity = "&#39;";
        break;
      default:
        break;
    }
    if (entity == nullptr) {
      out.append(text, at, at + 1);
    } else {
      out.append(entity, text.origin_at(at));
    }
  }
  return in.heap().string(std::move(out));
}

Val filter_indent(Interpreter& in, const Val& self, const Bound& args) {
  Heap& heap = in.heap();
  const Text& text = require_text(self, "indent");
  const bool first = flag_or(args[1], false);
  const bool blank = flag_or(args[2], false);
  Val indentation;
  if (args[0].given() && args[0].is(Tag::kString)) {
    indentation = args[0];
  } else {
    TextBuilder spaces(in.budget());
    const int64_t width = integer_or(args[0], 4, "width");
    spaces.append_repeated(" ", width, Origin::kTemplate);
    indentation = heap.string(std::move(spaces));
  }
  // A line break is added before the lines are cut, so that a trailing one makes a last empty line.
  TextBuilder extended(in.budget());
  extended.append(text);
  extended.append("\n", Origin::kTemplate);
  const Val whole = heap.string(std::move(extended));
  const std::vector<Val> lines = split_lines(heap, *whole.text, LineEnds::kDrop);
  TextBuilder out(in.budget());
  if (first) out.append(*indentation.text);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.append("\n", text.origin());
    if (i > 0 && (blank || lines[i].text->size() > 0)) out.append(*indentation.text);
    out.append(*lines[i].text);
  }
  return heap.string(std::move(out));
}

Val filter_join(Interpreter& in, const Val& self, const Bound& args) {
  std::vector<Val> items = iterate(in.heap(), self);
  if (!absent(args[1])) {
    for (Val& item : items) item = in.attribute_path(item, args[1]);
  }
  const Val separator = args[0].given() ? to_text(in.heap(), args[0]) : in.heap().view("", Origin::kTemplate);
  return join(in.heap(), *separator.text, items);
}

Val filter_format(Interpreter& in, const Val& self, const Bound& args) {
  const CallArguments& raw = *args.raw;
  if (!raw.positional.empty() && !raw.named.empty()) {
    fail("can't handle positional and keyword arguments at the same time");
  }
  Val values;
  if (raw.named.empty()) {
    values = in.heap().list(raw.positional, ListKind::kTuple);
  } else {
    values = in.heap().dict();
    for (const auto& [name, value] : raw.named) {
      dict_insert(in.budget(), *values.dict, in.heap().string(std::string(name), Origin::kTemplate), value);
    }
  }
  return percent_format(in.heap(), *to_text(in.heap(), self).text, values);
}

Val filter_tojson(Interpreter& in, const Val& self, const Bound& args) {
  JsonStyle style;
  if (flag_or(args[0], false)) style.non_ascii = NonAscii::kEscape;
  if (!absent(args[1])) {
    if (args[1].is(Tag::kString)) {
      style.indent = args[1];
    } else {
      const int64_t width = std::clamp<int64_t>(to_index(args[1], "indent"), 0, 1024);
      style.indent = in.heap().string(std::string(static_cast<size_t>(width), ' '), Origin::kTemplate);
    }
    // With an indent, Python drops the space after the comma.
  }
  if (!absent(args[2])) {
    const std::vector<Val> pair = iterate(in.heap(), args[2]);
    if (pair.size() != 2) fail("separators must be a pair of strings");
    require_text(pair[0], "tojson");
    require_text(pair[1], "tojson");
    style.item_separator = pair[0];
    style.key_separator = pair[1];
  }
  if (flag_or(args[3], false)) style.key_order = KeyOrder::kSorted;
  TextBuilder out(in.budget());
  append_json(in.heap(), out, self, style);
  return in.heap().string(std::move(out));
}

Val filter_center(Interpreter& in, const Val& self, const Bound& args) {
  return justify(in.heap(), *to_text(in.heap(), self).text, integer_or(args[0], 80, "width"), " ",
                 Side::kBoth);
}

Val filter_truncate(Interpreter& in, const Val& self, const Bound& args) {
  Heap& heap = in.heap();
  const int64_t limit = integer_or(args[0], 255, "length");
  const Val end = args[2].given() ? args[2] : heap.view("...", Origin::kTemplate);
  const int64_t end_size = static_cast<int64_t>(count_characters(require_text(end, "truncate")));
  const int64_t leeway = absent(args[3]) ? 5 : to_index(args[3], "leeway");
  if (limit < end_size) fail("expected length >= {}, got {}", end_size, limit);
  if (leeway < 0) fail("expected leeway >= 0, got {}", leeway);
  if (length(self) - leeway <= limit) return self;  // anything with a length may pass
  const Text& text = require_text(self, "truncate");
  Val kept = heap.slice(text, 0, character_offset(text, static_cast<size_t>(limit - end_size)));
  if (!flag_or(args[1], false)) {
    const size_t space = kept.view().rfind(' ');
    if (space != std::string_view::npos) kept = heap.slice(*kept.text, 0, space);
  }
  return binary(heap, BinaryOp::kAdd, kept, end);
}

Val filter_wordcount(Interpreter& in, const Val& self, const Bound&) {
  const Val value = to_text(in.heap(), self);
  int64_t count = 0;
  bool inside = false;
  for (size_t at = 0; at < value.text->size();) {
    const Character c = character_at(value.view(), at);
    at += c.length;
    const bool word = is_alpha(c.code_point) || is_numeric(c.code_point) || c.code_point == '_';
    if (word && !inside) ++count;
    inside = word;
  }
  return Val::of(count, value.text->origin());
}

constexpr FunctionObject kFilters[] = {
    {"upper", "", 0, filter_case<LetterCase::kUpper>},
    {"lower", "", 0, filter_case<LetterCase::kLower>},
    {"capitalize", "", 0, filter_case<LetterCase::kCapitalize>},
    {"title", "", 0, filter_title},
    {"trim", "chars", 0, filter_trim},
    {"replace", "old,new,count", 2, filter_replace},
    {"string", "", 0, filter_string},
    {"safe", "", 0, filter_string},
    {"escape", "", 0, filter_escape},
    {"e", "", 0, filter_escape},
    {"forceescape", "", 0, filter_escape},
    {"indent", "width,first,blank", 0, filter_indent},
    {"join", "d,attribute", 0, filter_join},
    {"format", "*", 0, filter_format},
    {"tojson", "ensure_ascii,indent,separators,sort_keys", 0, filter_tojson},
    {"center", "width", 0, filter_center},
    {"truncate", "length,killwords,end,leeway", 0, filter_truncate},
    {"wordcount", "", 0, filter_wordcount},
};

}  // namespace

std::span<const FunctionObject> text_filters() { return kFilters; }

}  // namespace quire::jinja
