// Filters whose result is a number: abs, round, int, float, sum, length.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "tokenizer/templates/builtins.h"
#include "tokenizer/templates/interpreter.h"
#include "tokenizer/templates/operators.h"
#include "tokenizer/templates/unicode.h"

namespace quire::jinja {
namespace {

int64_t integer_of(const Val& value) { return value.is(Tag::kBool) ? int64_t{value.boolean} : value.integer; }
bool is_integer(const Val& value) { return value.is(Tag::kInt) || value.is(Tag::kBool); }

std::string_view stripped(std::string_view text) {
  text.remove_prefix(leading_space(text));
  text.remove_suffix(trailing_space(text));
  return text;
}

// Digits without Python's underscores; nullopt when an underscore is misplaced.
std::optional<std::string> without_underscores(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out.push_back(text[i]);
      continue;
    }
    const auto alnum = [&](size_t k) {
      return k < text.size() && std::isalnum(static_cast<unsigned char>(text[k])) != 0;
    };
    if (i == 0 || !alnum(i - 1) || !alnum(i + 1)) return std::nullopt;
  }
  return out;
}

// int(text, base): kMissing when the text is no integer in that base.
Val parse_integer(Interpreter& in, const Text& source, int base) {
  std::string_view text = stripped(source.view());
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  bool prefixed = false;
  if (text.size() > 2 && text[0] == '0') {
    const char letter = static_cast<char>(text[1] | 0x20);
    const int named = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
    if (named != 0 && (base == named || base == 0)) {
      base = named;
      text.remove_prefix(text[2] == '_' ? 3 : 2);
      prefixed = true;
    }
  }
  if (base == 0) {
    if (text.size() > 1 && text[0] == '0' && text.find_first_not_of("0_") != std::string_view::npos)
      return Val();
    base = 10;
  }
  if (base < 2 || base > 36) fail("int() base must be >= 2 and <= 36, or 0");
  const std::optional<std::string> digits = without_underscores(text);
  if (!digits || digits->empty() || std::isalnum(static_cast<unsigned char>((*digits)[0])) == 0) return Val();
  const std::string number = (negative ? "-" : "") + *digits;
  int64_t value = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), value, base);
  if (parsed.ptr != number.data() + number.size()) return Val();
  if (parsed.ec == std::errc()) return Val::of(value, source.origin());
  if (base != 10 || prefixed) fail(ErrorCode::kUnsupported, "integer beyond 64 bits in base {}", base);
  const size_t first = digits->find_first_not_of('0');
  return in.heap().big_integer((negative ? "-" : "") + digits->substr(first), source.origin());
}

// float(text): nullopt when the text is no number.
std::optional<double> parse_real(std::string_view text) {
  const std::optional<std::string> plain = without_underscores(stripped(text));
  if (!plain || plain->empty()) return std::nullopt;
  const char* begin = plain->data() + ((*plain)[0] == '+' ? 1 : 0);
  const char* end = plain->data() + plain->size();
  if (begin == end || (begin != plain->data() && *begin == '-')) return std::nullopt;
  if (plain->find('(') != std::string::npos) return std::nullopt;  // "nan(...)" is C, not Python
  double value = 0;
  const auto parsed = std::from_chars(begin, end, value);
  if (parsed.ptr != end) return std::nullopt;
  if (parsed.ec == std::errc::result_out_of_range) value = std::strtod(begin, nullptr);
  return value;
}

Val truncate_to_integer(double value, Origin origin) {
  if (std::isnan(value)) return Val();
  if (std::isinf(value)) fail("cannot convert float infinity to integer");
  if (!(value > -9.3e18 && value < 9.2e18)) fail(ErrorCode::kUnsupported, "int of a float beyond 64 bits");
  return Val::of(static_cast<int64_t>(value), origin);
}

Val filter_int(Interpreter& in, const Val& self, const Bound& args) {
  require_defined(self);
  const Val fallback = args[0].given() ? args[0] : Val::of(int64_t{0});
  if (self.is(Tag::kString)) {
    const Val parsed = parse_integer(in, *self.text, static_cast<int>(integer_or(args[1], 10, "base")));
    if (parsed.given()) return parsed;
    const std::optional<double> real = parse_real(self.view());
    if (!real || !std::isfinite(*real)) return fallback;
    return truncate_to_integer(*real, self.text->origin());
  }
  if (is_integer(self)) return Val::of(integer_of(self), self.origin);
  if (self.is(Tag::kBigInt)) return self;
  if (self.is(Tag::kFloat)) {
    const Val whole = truncate_to_integer(self.real, self.origin);
    return whole.given() ? whole : fallback;
  }
  return fallback;
}

Val filter_float(Interpreter&, const Val& self, const Bound& args) {
  require_defined(self);
  if (self.is(Tag::kFloat)) return self;
  if (is_integer(self)) return Val::of(static_cast<double>(integer_of(self)), self.origin);
  if (self.is(Tag::kString) || self.is(Tag::kBigInt)) {
    if (const auto real = parse_real(self.view())) return Val::of(*real, self.text->origin());
  }
  return args[0].given() ? args[0] : Val::of(0.0);
}

Val filter_abs(Interpreter&, const Val& self, const Bound&) {
  require_defined(self);
  if (is_integer(self)) return integer_of(self) < 0 ? negate(self) : plus(self);
  if (self.is(Tag::kFloat)) return Val::of(std::fabs(self.real), self.origin);
  fail("bad operand type for abs(): '{}'", type_name(self));
}

// round(value, digits) of an int: half to even on the decimal places left of the point.
Val round_integer(int64_t value, int64_t digits, Origin origin) {
  if (digits >= 0) return Val::of(value, origin);
  if (digits < -18) return Val::of(int64_t{0}, origin);
  int64_t unit = 1;
  for (int64_t i = digits; i < 0; ++i) unit *= 10;
  int64_t quotient = value / unit;
  const int64_t rest = std::abs(value % unit);
  const int64_t half = unit / 2;
  if (rest > half || (rest == half && quotient % 2 != 0)) quotient += value < 0 ? -1 : 1;
  int64_t result = 0;
  if (__builtin_mul_overflow(quotient, unit, &result))
    fail(ErrorCode::kUnsupported, "integer result does not fit 64 bits");
  return Val::of(result, origin);
}

// round(value, digits) of a float: the decimal text is correctly rounded, then read back.
double round_real(double value, int64_t digits) {
  if (!std::isfinite(value) || digits > 323) return value;
  if (digits < -308) return std::copysign(0.0, value);
  if (digits >= 0) {
    char text[700];
    std::snprintf(text, sizeof(text), "%.*f", static_cast<int>(digits), value);
    return std::strtod(text, nullptr);
  }
  const double unit = std::pow(10.0, static_cast<double>(-digits));
  return std::nearbyint(value / unit) * unit;
}

Val filter_round(Interpreter& in, const Val& self, const Bound& args) {
  require_defined(self);
  const int64_t digits = integer_or(args[0], 0, "precision");
  const std::string_view method = args[1].given() ? require_text(args[1], "round").view() : "common";
  if (method != "common" && method != "ceil" && method != "floor")
    fail("method must be common, ceil or floor");
  if (!is_integer(self) && !self.is(Tag::kFloat))
    fail("type {} doesn't define __round__ method", type_name(self));
  if (method == "common") {
    if (is_integer(self)) return round_integer(integer_of(self), digits, self.origin);
    return Val::of(round_real(self.real, digits), self.origin);
  }
  const Val unit = binary(in.heap(), BinaryOp::kPow, Val::of(int64_t{10}), Val::of(digits));
  const Val scaled = binary(in.heap(), BinaryOp::kMul, self, unit);
  Val whole = scaled;
  if (scaled.is(Tag::kFloat)) {
    whole =
        truncate_to_integer(method == "ceil" ? std::ceil(scaled.real) : std::floor(scaled.real), self.origin);
    if (!whole.given()) fail("cannot convert float NaN to integer");
  }
  return binary(in.heap(), BinaryOp::kDiv, whole, unit);
}

Val filter_sum(Interpreter& in, const Val& self, const Bound& args) {
  Val total = args[1].given() ? args[1] : Val::of(int64_t{0});
  if (total.is(Tag::kString)) fail("sum() can't sum strings [use ''.join(seq) instead]");
  for (const Val& item : iterate(in.heap(), self)) {
    const bool by_attribute = args[0].given() && !args[0].is(Tag::kNone);
    total = binary(in.heap(), BinaryOp::kAdd, total, by_attribute ? in.attribute_path(item, args[0]) : item);
  }
  return total;
}

Val filter_length(Interpreter& in, const Val& self, const Bound&) {
  if (self.is(Tag::kString)) in.budget().charge_scan(self.text->size());
  return Val::of(length(self), self.is(Tag::kString) ? self.text->origin() : self.origin);
}

constexpr FunctionObject kFilters[] = {
    {"int", "default,base", 0, filter_int},
    {"float", "default", 0, filter_float},
    {"abs", "", 0, filter_abs},
    {"round", "precision,method", 0, filter_round},
    {"sum", "attribute,start", 0, filter_sum},
    {"length", "", 0, filter_length},
    {"count", "", 0, filter_length},
};

}  // namespace

std::span<const FunctionObject> number_filters() { return kFilters; }

}  // namespace quire::jinja
