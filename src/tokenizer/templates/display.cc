// str() and repr() of values, as Python prints them.
#include <charconv>
#include <cmath>

#include "tokenizer/templates/operators.h"
#include "tokenizer/templates/unicode.h"

namespace quire::jinja {
namespace {

void append_string_repr(TextBuilder& out, const Text& text) {
  const std::string_view bytes = text.view();
  const bool has_single = bytes.find('\'') != std::string_view::npos;
  const bool has_double = bytes.find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  const Origin outer = text.origin();
  out.append(std::string_view(&quote, 1), outer);
  for (size_t at = 0; at < bytes.size();) {
    const Character c = character_at(bytes, at);
    const Origin origin = text.origin_at(at);
    const char32_t code = c.code_point;
    if (code == static_cast<char32_t>(quote) || code == '\\') {
      const char escaped[2] = {'\\', static_cast<char>(code)};
      out.append(std::string_view(escaped, 2), origin);
    } else if (code == '\n') {
      out.append("\\n", origin);
    } else if (code == '\r') {
      out.append("\\r", origin);
    } else if (code == '\t') {
      out.append("\\t", origin);
    } else if (code >= kInvalidByte) {
      out.append(fmt::format("\\x{:02x}", static_cast<uint32_t>(code - kInvalidByte)), origin);
    } else if (!is_printable(code)) {
      const auto value = static_cast<uint32_t>(code);
      out.append(value < 0x100     ? fmt::format("\\x{:02x}", value)
                 : value < 0x10000 ? fmt::format("\\u{:04x}", value)
                                   : fmt::format("\\U{:08x}", value),
                 origin);
    } else {
      out.append(bytes.substr(at, c.length), origin);
    }
    at += c.length;
  }
  out.append(std::string_view(&quote, 1), outer);
}

void append_items(TextBuilder& out, const std::vector<Val>& items, Origin origin) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out.append(", ", origin);
    append_repr(out, items[i]);
  }
}

void append_list_repr(TextBuilder& out, const Val& value) {
  const ListObject& list = *value.list;
  switch (list.kind) {
    case ListKind::kList:
      out.append("[", value.origin);
      append_items(out, list.items, value.origin);
      out.append("]", value.origin);
      return;
    case ListKind::kTuple:
      out.append("(", value.origin);
      append_items(out, list.items, value.origin);
      out.append(list.items.size() == 1 ? ",)" : ")", value.origin);
      return;
    case ListKind::kRange:
      out.append(list.step == 1 ? fmt::format("range({}, {})", list.start, list.stop)
                                : fmt::format("range({}, {}, {})", list.start, list.stop, list.step),
                 value.origin);
      return;
    case ListKind::kKeys:
    case ListKind::kValues:
    case ListKind::kItems:
      out.append(type_name(value) + "([", value.origin);
      append_items(out, list.items, value.origin);
      out.append("])", value.origin);
      return;
    case ListKind::kIterator:
      fail("a {} has no text; apply the `list` filter first", list.type_name);
  }
}

void append_dict_repr(TextBuilder& out, const Val& value) {
  out.append("{", value.origin);
  bool first = true;
  for (const auto& [key, entry] : value.dict->entries) {
    if (!first) out.append(", ", value.origin);
    first = false;
    append_repr(out, key);
    out.append(": ", value.origin);
    append_repr(out, entry);
  }
  out.append("}", value.origin);
}

}  // namespace

std::string float_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  const auto written = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific);
  const std::string_view all(buffer, static_cast<size_t>(written.ptr - buffer));
  const size_t e = all.find('e');
  const std::string_view exponent_text = all.substr(all[e + 1] == '+' ? e + 2 : e + 1);
  int exponent = 0;
  std::from_chars(exponent_text.data(), exponent_text.data() + exponent_text.size(), exponent);
  std::string digits;
  for (char c : all.substr(0, e)) {
    if (c >= '0' && c <= '9') digits.push_back(c);
  }
  const std::string sign = all[0] == '-' ? "-" : "";
  const int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    std::string mantissa = digits.substr(0, 1);
    if (count > 1) mantissa += "." + digits.substr(1);
    return fmt::format("{}{}e{}{:02}", sign, mantissa, exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0) return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  if (count <= exponent + 1)
    return sign + digits + std::string(static_cast<size_t>(exponent + 1 - count), '0') + ".0";
  const auto point = static_cast<size_t>(exponent + 1);
  return sign + digits.substr(0, point) + "." + digits.substr(point);
}

void append_repr(TextBuilder& out, const Val& value) {
  if (value.is(Tag::kString)) return append_string_repr(out, *value.text);
  if (value.is(Tag::kUndefined)) return out.append("Undefined", value.origin);
  append_text(out, value);
}

void append_text(TextBuilder& out, const Val& value) {
  Budget& budget = out.budget();
  budget.charge_steps(1);
  switch (value.tag) {
    case Tag::kMissing:
    case Tag::kUndefined:
      return;
    case Tag::kNone:
      return out.append("None", value.origin);
    case Tag::kBool:
      return out.append(value.boolean ? "True" : "False", value.origin);
    case Tag::kInt:
      return out.append(fmt::format("{}", value.integer), value.origin);
    case Tag::kFloat:
      return out.append(float_repr(value.real), value.origin);
    case Tag::kString:
    case Tag::kBigInt:
      return out.append(*value.text);
    case Tag::kList: {
      DepthGuard guard(budget);
      return append_list_repr(out, value);
    }
    case Tag::kDict: {
      DepthGuard guard(budget);
      return append_dict_repr(out, value);
    }
    case Tag::kNamespace: {
      DepthGuard guard(budget);
      out.append("<Namespace ", value.origin);
      append_dict_repr(out, value);
      return out.append(">", value.origin);
    }
    case Tag::kMacro:
      return out.append(fmt::format("<Macro '{}'>", value.macro->node->name), value.origin);
    case Tag::kLoop:
      return out.append(fmt::format("<LoopContext {}/{}>", value.loop->index0 + 1, value.loop->items.size()),
                        value.origin);
    case Tag::kFunction:
    case Tag::kMethod:
    case Tag::kCycler:
    case Tag::kJoiner:
      fail("a {} has no text; was it meant to be called?", type_name(value));
  }
}

Val to_text(Heap& heap, const Val& value) {
  if (value.is(Tag::kString)) return value;
  TextBuilder builder(heap.budget());
  append_text(builder, value);
  return heap.string(std::move(builder));
}

std::string repr(Budget& budget, const Val& value) {
  TextBuilder builder(budget);
  append_repr(builder, value);
  return builder.take_bytes();
}

}  // namespace quire::jinja
