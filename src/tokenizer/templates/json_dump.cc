#include "tokenizer/templates/json_dump.h"

#include <algorithm>
#include <cmath>

#include "tokenizer/templates/operators.h"
#include "tokenizer/templates/unicode.h"

namespace quire::jinja {
namespace {

class JsonWriter {
 public:
  JsonWriter(Heap& heap, TextBuilder& out, const JsonStyle& style) : heap_(heap), out_(out), style_(style) {}

  void write(const Val& value, int level) {
    heap_.budget().charge_steps(1);
    switch (value.tag) {
      case Tag::kString:
        return write_string(*value.text);
      case Tag::kNone:
        return out_.append("null", value.origin);
      case Tag::kBool:
        return out_.append(value.boolean ? "true" : "false", value.origin);
      case Tag::kInt:
      case Tag::kBigInt:
        return append_text(out_, value);
      case Tag::kFloat:
        return out_.append(float_text(value.real), value.origin);
      case Tag::kDict:
        return write_dict(value, level);
      case Tag::kList:
        if (value.list->kind == ListKind::kList || value.list->kind == ListKind::kTuple)
          return write_list(value, level);
        break;
      default:
        break;
    }
    fail("Object of type {} is not JSON serializable", type_name(value));
  }

 private:
  static std::string float_text(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
    return float_repr(value);
  }

  void write_string(const Text& text) {
    const Origin outer = text.size() == 0 ? text.uniform_origin() : text.origin();
    out_.append("\"", outer);
    const std::string_view bytes = text.view();
    size_t plain = 0;  // start of the bytes not written yet
    for (size_t at = 0; at < bytes.size();) {
      const auto byte = static_cast<unsigned char>(bytes[at]);
      const bool escape = byte < 0x20 || byte == '"' || byte == '\\' ||
                          (style_.non_ascii == NonAscii::kEscape && byte >= 0x7F);
      if (!escape) {
        ++at;
        continue;
      }
      out_.append(text, plain, at);
      const Character c = character_at(bytes, at);
      write_escape(c.code_point, text.origin_at(at));
      at += c.length;
      plain = at;
    }
    out_.append(text, plain, bytes.size());
    out_.append("\"", outer);
  }

  void write_escape(char32_t c, Origin origin) {
    switch (c) {
      case '"':
        return out_.append("\\\"", origin);
      case '\\':
        return out_.append("\\\\", origin);
      case '\n':
        return out_.append("\\n", origin);
      case '\r':
        return out_.append("\\r", origin);
      case '\t':
        return out_.append("\\t", origin);
      case '\f':
        return out_.append("\\f", origin);
      case '\b':
        return out_.append("\\b", origin);
      default:
        break;
    }
    if (c >= kInvalidByte) c = 0xFFFD;
    const auto value = static_cast<uint32_t>(c);
    if (value < 0x10000) return out_.append(fmt::format("\\u{:04x}", value), origin);
    const uint32_t rest = value - 0x10000;
    out_.append(fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF)), origin);
  }

  void write_key(const Val& key) {
    switch (key.tag) {
      case Tag::kString:
        return write_string(*key.text);
      case Tag::kNone:
      case Tag::kBool:
      case Tag::kInt:
      case Tag::kBigInt:
      case Tag::kFloat:
        out_.append("\"", key.origin);
        write(key, 0);
        return out_.append("\"", key.origin);
      default:
        fail("keys must be str, int, float, bool or None, not {}", type_name(key));
    }
  }

  void line_break(int level, Origin origin) {
    if (!style_.indent) return;
    out_.append("\n", origin);
    for (int i = 0; i < level; ++i) out_.append(*style_.indent->text);
  }

  void item_separator(Origin origin) {
    if (style_.item_separator) return out_.append(*style_.item_separator->text);
    out_.append(style_.indent ? "," : ", ", origin);
  }

  void key_separator(Origin origin) {
    if (style_.key_separator) return out_.append(*style_.key_separator->text);
    out_.append(": ", origin);
  }

  void write_list(const Val& value, int level) {
    DepthGuard guard(heap_.budget());
    const auto& items = value.list->items;
    if (items.empty()) return out_.append("[]", value.origin);
    out_.append("[", value.origin);
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) item_separator(value.origin);
      line_break(level + 1, value.origin);
      write(items[i], level + 1);
    }
    line_break(level, value.origin);
    out_.append("]", value.origin);
  }

  void write_dict(const Val& value, int level) {
    DepthGuard guard(heap_.budget());
    if (value.dict->entries.empty()) return out_.append("{}", value.origin);
    auto entries = value.dict->entries;
    if (style_.key_order == KeyOrder::kSorted) {
      std::stable_sort(entries.begin(), entries.end(),
                       [&](const auto& a, const auto& b) { return less(heap_.budget(), a.first, b.first); });
    }
    out_.append("{", value.origin);
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) item_separator(value.origin);
      line_break(level + 1, value.origin);
      write_key(entries[i].first);
      key_separator(value.origin);
      write(entries[i].second, level + 1);
    }
    line_break(level, value.origin);
    out_.append("}", value.origin);
  }

  Heap& heap_;
  TextBuilder& out_;
  const JsonStyle& style_;
};

}  // namespace

void append_json(Heap& heap, TextBuilder& out, const Val& value, const JsonStyle& style) {
  JsonWriter(heap, out, style).write(value, 0);
}

}  // namespace quire::jinja
