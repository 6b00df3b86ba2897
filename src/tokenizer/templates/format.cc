#include "tokenizer/templates/format.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "tokenizer/templates/builtins.h"
#include "tokenizer/templates/interpreter.h"
#include "tokenizer/templates/number_format.h"
#include "tokenizer/templates/operators.h"
#include "tokenizer/templates/unicode.h"

namespace quire::jinja {
namespace {

constexpr int64_t kMaxWidth = 1 << 24;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads digits at `at`; -1 when there are none.
int64_t read_number(std::string_view text, size_t& at) {
  if (at >= text.size() || !is_digit(text[at])) return -1;
  int64_t value = 0;
  while (at < text.size() && is_digit(text[at])) {
    value = value * 10 + (text[at++] - '0');
    if (value > kMaxWidth) fail("too large a number in a format string");
  }
  return value;
}

class PercentFormatter {
 public:
  PercentFormatter(Heap& heap, const Text& format, const Val& arguments)
      : heap_(heap), format_(format), text_(format.view()), arguments_(arguments), out_(heap.budget()) {}

  Val run() {
    size_t at = 0;
    while (at < text_.size()) {
      heap_.budget().charge_steps(1);
      const size_t percent = std::min(text_.find('%', at), text_.size());
      out_.append(format_, at, percent);
      at = percent;
      if (at < text_.size()) at = directive(at + 1);
    }
    const bool is_tuple = arguments_.is(Tag::kList) && arguments_.list->kind == ListKind::kTuple;
    const bool unused = is_tuple ? next_ < arguments_.list->items.size() : next_ == 0 && !is_mapping_like();
    if (unused) fail("not all arguments converted during string formatting");
    return heap_.string(std::move(out_));
  }

 private:
  // Python lets "text" % [..] pass unused when the argument has __getitem__ and is neither tuple nor str.
  bool is_mapping_like() const {
    if (arguments_.is(Tag::kDict) || arguments_.is(Tag::kUndefined)) return true;
    return arguments_.is(Tag::kList) &&
           (arguments_.list->kind == ListKind::kList || arguments_.list->kind == ListKind::kRange);
  }

  Val next_argument() {
    if (arguments_.is(Tag::kList) && arguments_.list->kind == ListKind::kTuple) {
      if (next_ < arguments_.list->items.size()) return arguments_.list->items[next_++];
    } else if (next_ == 0) {
      ++next_;
      return arguments_;
    }
    fail("not enough arguments for format string");
  }

  Val named_argument(size_t& at) {
    const size_t end = text_.find(')', at);
    if (end == std::string_view::npos) fail("incomplete format key");
    if (!arguments_.is(Tag::kDict)) fail("format requires a mapping");
    const std::string key(text_.substr(at, end - at));
    at = end + 1;
    const Val* found = dict_find(*arguments_.dict, key);
    if (found == nullptr) fail("key '{}' is missing from the mapping of a format string", key);
    return *found;
  }

  int64_t number_or_star(size_t& at) {
    if (at < text_.size() && text_[at] == '*') {
      ++at;
      const int64_t value = to_index(next_argument(), "* in a format string");
      if (value > kMaxWidth || value < -kMaxWidth) fail("too large a number in a format string");
      return value;
    }
    return read_number(text_, at);
  }

  size_t directive(size_t at) {
    std::optional<Val> named;
    if (at < text_.size() && text_[at] == '(') named = named_argument(++at);
    FormatSpec spec;
    bool left = false;
    bool zero = false;
    for (; at < text_.size() && std::string_view("-+ #0").find(text_[at]) != std::string_view::npos; ++at) {
      const char flag = text_[at];
      if (flag == '-') left = true;
      if (flag == '+') spec.sign = Sign::kAlways;
      if (flag == ' ' && spec.sign != Sign::kAlways) spec.sign = Sign::kSpace;
      if (flag == '#') spec.alternate = true;
      if (flag == '0') zero = true;
    }
    spec.width = number_or_star(at);
    if (spec.width < -1) {
      left = true;
      spec.width = -spec.width;
    }
    spec.width = std::max<int64_t>(spec.width, 0);
    if (at < text_.size() && text_[at] == '.') {
      ++at;
      spec.precision = std::max<int64_t>(number_or_star(at), 0);
    }
    while (at < text_.size() && (text_[at] == 'l' || text_[at] == 'h' || text_[at] == 'L')) ++at;
    if (at >= text_.size()) fail("incomplete format");
    spec.type = text_[at];
    spec.align = left ? '<' : '>';
    if (spec.type == '%') {
      out_.append("%", format_.origin_at(at));
      return at + 1;
    }
    append(named ? *named : next_argument(), spec, zero && !left);
    return at + 1;
  }

  void append(const Val& value, FormatSpec spec, bool zero) {
    switch (spec.type) {
      case 's':
        return append_padded_text(out_, *to_text(heap_, value).text, spec);
      case 'r':
      case 'a': {
        TextBuilder builder(heap_.budget());
        append_repr(builder, value);
        return append_padded_text(out_, *heap_.string(std::move(builder)).text, spec);
      }
      case 'c':
        if (value.is(Tag::kString) && count_characters(*value.text) == 1) {
          return append_padded_text(out_, *value.text, spec);
        }
        if (value.is(Tag::kInt) && value.integer >= 0 && value.integer < 0x110000) {
          TextBuilder builder(heap_.budget());
          builder.append_char(static_cast<char32_t>(value.integer), value.origin);
          return append_padded_text(out_, *heap_.string(std::move(builder)).text, spec);
        }
        fail("%c requires int or char");
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        return append_integer(value, spec, zero);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        break;
      default:
        fail("unsupported format character '{}'", spec.type);
    }
    require_defined(value);
    if (!is_number(value)) fail("must be real number, not {}", type_name(value));
    if (zero) {
      spec.fill = "0";
      spec.align = '=';
    }
    append_padded_number(out_, number_text(value, spec), value.origin, spec);
  }

  void append_integer(const Val& value, FormatSpec spec, bool zero) {
    require_defined(value);
    Val number = value;
    if (value.is(Tag::kFloat) && (spec.type == 'd' || spec.type == 'i' || spec.type == 'u')) {
      if (!(value.real > -9.2e18 && value.real < 9.2e18))
        fail(ErrorCode::kUnsupported, "%d of a float beyond 64 bits");
      number = Val::of(static_cast<int64_t>(value.real), value.origin);
    }
    if (!is_number(number) || number.is(Tag::kFloat)) {
      fail("%{} format: a real number is required, not {}", spec.type, type_name(value));
    }
    if (spec.type == 'i' || spec.type == 'u') spec.type = 'd';
    const int64_t digits_wanted = std::exchange(spec.precision, -1);
    std::string digits = number_text(number, spec);
    size_t prefix =
        !digits.empty() && !is_digit(digits[0]) && std::isalpha(static_cast<unsigned char>(digits[0])) == 0
            ? 1
            : 0;
    if (spec.alternate && spec.type != 'd') prefix += 2;
    while (static_cast<int64_t>(digits.size() - prefix) < digits_wanted) {
      heap_.budget().charge_steps(1);
      digits.insert(prefix, 1, '0');
    }
    if (zero) {
      spec.fill = "0";
      spec.align = '=';
    }
    append_padded_number(out_, digits, value.origin, spec);
  }

  Heap& heap_;
  const Text& format_;
  std::string_view text_;
  const Val& arguments_;
  TextBuilder out_;
  size_t next_ = 0;
};

class BraceFormatter {
 public:
  BraceFormatter(Interpreter& interpreter, const CallArguments& arguments)
      : interpreter_(interpreter), heap_(interpreter.heap()), arguments_(arguments) {}

  void format(TextBuilder& out, const Text& format, int depth) {
    if (depth > 2) fail("Max string recursion exceeded");
    const std::string_view text = format.view();
    size_t at = 0;
    while (at < text.size()) {
      heap_.budget().charge_steps(1);
      const size_t brace = std::min(text.find_first_of("{}", at), text.size());
      out.append(format, at, brace);
      at = brace;
      if (at >= text.size()) break;
      if (at + 1 < text.size() && text[at + 1] == text[at]) {
        out.append(format, at, at + 1);
        at += 2;
        continue;
      }
      if (text[at] == '}') fail("Single '}}' encountered in format string");
      at = field(out, format, at + 1, depth);
    }
  }

 private:
  // Text of one field begins at `begin`; returns the position behind its closing brace.
  size_t field(TextBuilder& out, const Text& format, size_t begin, int depth) {
    const std::string_view text = format.view();
    size_t end = begin;
    for (int open = 1; end < text.size(); ++end) {
      if (text[end] == '{') ++open;
      if (text[end] == '}' && --open == 0) break;
    }
    if (end >= text.size()) fail("expected '}}' before end of string");
    size_t name_end = begin;
    bool in_bracket = false;
    for (; name_end < end; ++name_end) {
      if (text[name_end] == '[') in_bracket = true;
      if (text[name_end] == ']') in_bracket = false;
      if (!in_bracket && (text[name_end] == '!' || text[name_end] == ':')) break;
    }
    Val value = lookup(text.substr(begin, name_end - begin));
    size_t at = name_end;
    if (at < end && text[at] == '!') {
      const char conversion = at + 1 < end ? text[at + 1] : '\0';
      at += 2;
      if (conversion == 'r' || conversion == 'a') {
        TextBuilder builder(heap_.budget());
        append_repr(builder, value);
        value = heap_.string(std::move(builder));
      } else if (conversion == 's') {
        value = to_text(heap_, value);
      } else {
        fail("Unknown conversion specifier in format string");
      }
      if (at < end && text[at] != ':') fail("expected ':' after conversion specifier");
    }
    std::string spec;
    if (at < end) {
      TextBuilder builder(heap_.budget());
      const Val inner = heap_.slice(format, at + 1, end);
      this->format(builder, *inner.text, depth + 1);
      spec = builder.take_bytes();
    }
    append(out, value, spec);
    return end + 1;
  }

  Val lookup(std::string_view name) {
    const size_t head_end = std::min(name.find_first_of(".["), name.size());
    const std::string_view head = name.substr(0, head_end);
    Val value;
    if (head.empty() || is_digit(head[0])) {
      size_t index = automatic_;
      if (head.empty()) {
        ++automatic_;
      } else {
        size_t at = 0;
        index = static_cast<size_t>(read_number(head, at));
      }
      if (index >= arguments_.positional.size()) {
        fail("Replacement index {} out of range for positional args tuple", index);
      }
      value = arguments_.positional[index];
    } else {
      for (const auto& [key, argument] : arguments_.named) {
        if (key == head) value = argument;
      }
      if (!value.given()) fail("format key '{}' is missing", head);
    }
    for (size_t at = head_end; at < name.size();) {
      if (name[at] == '.') {
        const size_t end = std::min(name.find_first_of(".[", at + 1), name.size());
        value = interpreter_.attribute(value, name.substr(at + 1, end - at - 1));
        at = end;
      } else {
        const size_t end = name.find(']', at);
        if (end == std::string_view::npos) fail("Missing ']' in format string");
        const std::string_view key = name.substr(at + 1, end - at - 1);
        size_t digits = 0;
        const bool numeric = !key.empty() && std::all_of(key.begin(), key.end(), is_digit);
        value = numeric ? interpreter_.item(value, Val::of(read_number(key, digits)))
                        : interpreter_.item(value, heap_.string(std::string(key), Origin::kTemplate));
        at = end + 1;
      }
    }
    return value;
  }

  static FormatSpec parse_spec(std::string_view text) {
    FormatSpec spec;
    size_t at = 0;
    const auto is_align = [](char c) { return c == '<' || c == '>' || c == '^' || c == '='; };
    if (!text.empty()) {
      const size_t first = character_at(text, 0).length;
      if (first < text.size() && is_align(text[first])) {
        spec.fill = std::string(text.substr(0, first));
        spec.align = text[first];
        at = first + 1;
      } else if (is_align(text[0])) {
        spec.align = text[0];
        at = 1;
      }
    }
    const auto skip = [&](char c) { return at < text.size() && text[at] == c && ++at > 0; };
    if (skip('+')) {
      spec.sign = Sign::kAlways;
    } else if (skip(' ')) {
      spec.sign = Sign::kSpace;
    } else {
      skip('-');
    }
    spec.alternate = skip('#');
    if (at < text.size() && text[at] == '0' && spec.align == '\0') {
      spec.fill = "0";
      spec.align = '=';
      ++at;
    }
    spec.width = std::max<int64_t>(read_number(text, at), 0);
    if (skip(',')) spec.grouping = ',';
    if (skip('_')) spec.grouping = '_';
    if (skip('.')) {
      spec.precision = read_number(text, at);
      if (spec.precision < 0) fail("Format specifier missing precision");
    }
    if (at < text.size()) spec.type = text[at++];
    if (at < text.size()) fail("Invalid format specifier");
    return spec;
  }

  void append(TextBuilder& out, const Val& value, const std::string& spec_text) {
    if (spec_text.empty()) return append_text(out, value);
    FormatSpec spec = parse_spec(spec_text);
    if (value.is(Tag::kString)) {
      if (spec.type != 's' && spec.type != '\0') {
        fail("Unknown format code '{}' for object of type 'str'", spec.type);
      }
      if (spec.align == '=') {
        if (spec.fill != "0") fail("'=' alignment not allowed in string format specifier");
        spec.align = '<';
      }
      return append_padded_text(out, *value.text, spec);
    }
    if (!is_number(value)) fail("unsupported format string passed to {}.__format__", type_name(value));
    if (value.is(Tag::kBool) && spec.type == '\0') {
      return append_padded_text(out, *to_text(heap_, value).text, spec);
    }
    const bool integer = !value.is(Tag::kFloat);
    if (integer && spec.type != '\0' &&
        std::string_view("bcdoxXneEfFgG%").find(spec.type) == std::string_view::npos) {
      fail("Unknown format code '{}' for object of type 'int'", spec.type);
    }
    if (spec.type == 'c') fail(ErrorCode::kUnsupported, "format code 'c' is not supported");
    append_padded_number(out, number_text(value, spec), value.origin, spec);
  }

  Interpreter& interpreter_;
  Heap& heap_;
  const CallArguments& arguments_;
  size_t automatic_ = 0;
};

}  // namespace

Val percent_format(Heap& heap, const Text& format, const Val& arguments) {
  return PercentFormatter(heap, format, arguments).run();
}

Val brace_format(Interpreter& interpreter, const Text& format, const CallArguments& arguments) {
  TextBuilder out(interpreter.heap().budget());
  BraceFormatter(interpreter, arguments).format(out, format, 0);
  return interpreter.heap().string(std::move(out));
}

}  // namespace quire::jinja
