#include "tokenizer/templates/number_format.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tokenizer/templates/operators.h"

namespace quire::jinja {
namespace {

constexpr int64_t kMaxPrecision = 1000;

bool is_integer(const Val& value) { return value.is(Tag::kInt) || value.is(Tag::kBool); }

const char* sign_text(bool negative, Sign sign) {
  if (negative) return "-";
  return sign == Sign::kAlways ? "+" : sign == Sign::kSpace ? " " : "";
}

// Thousands (or groups of four for other bases) in the digits before a point or exponent.
std::string group(std::string digits, char separator, size_t every) {
  if (separator == '\0') return digits;
  size_t end = 0;
  while (end < digits.size() && ((digits[end] >= '0' && digits[end] <= '9') ||
                                 (every == 4 && std::isalpha(static_cast<unsigned char>(digits[end])) != 0)))
    ++end;
  for (size_t at = end; at > every; at -= every) digits.insert(at - every, 1, separator);
  return digits;
}

std::string integer_text(const Val& value, const FormatSpec& spec) {
  const int64_t number = value.is(Tag::kBool) ? int64_t{value.boolean} : value.integer;
  const uint64_t magnitude = number < 0 ? ~static_cast<uint64_t>(number) + 1 : static_cast<uint64_t>(number);
  std::string prefix;
  std::string digits;
  size_t every = 4;
  switch (spec.type) {
    case 'x':
      digits = fmt::format("{:x}", magnitude);
      prefix = "0x";
      break;
    case 'X':
      digits = fmt::format("{:X}", magnitude);
      prefix = "0X";
      break;
    case 'o':
      digits = fmt::format("{:o}", magnitude);
      prefix = "0o";
      break;
    case 'b':
      digits = fmt::format("{:b}", magnitude);
      prefix = "0b";
      break;
    default:
      digits = fmt::format("{}", magnitude);
      every = 3;
  }
  if (!spec.alternate || every == 3) prefix.clear();
  return sign_text(number < 0, spec.sign) + prefix + group(digits, spec.grouping, every);
}

std::string c_format(const char* format, int precision, double value) {
  std::string text(static_cast<size_t>(std::snprintf(nullptr, 0, format, precision, value)), '\0');
  std::snprintf(text.data(), text.size() + 1, format, precision, value);
  return text;
}

std::string float_text(double value, const FormatSpec& spec) {
  if (spec.precision > kMaxPrecision) fail("precision too big");
  const double magnitude = std::fabs(value);
  const bool negative = std::signbit(value) && !std::isnan(value);
  const int precision = static_cast<int>(spec.precision < 0 ? 6 : spec.precision);
  std::string digits;
  if (!std::isfinite(value)) {
    digits = std::isnan(value) ? "nan" : "inf";
    if (spec.type == 'F' || spec.type == 'E' || spec.type == 'G') {
      std::transform(digits.begin(), digits.end(), digits.begin(),
                     [](char c) { return static_cast<char>(c - 32); });
    }
    if (spec.type == '%') digits += "%";
    return sign_text(negative, spec.sign) + digits;
  }
  switch (spec.type) {
    case 'f':
    case 'F':
      digits = c_format("%.*f", precision, magnitude);
      break;
    case 'e':
      digits = c_format("%.*e", precision, magnitude);
      break;
    case 'E':
      digits = c_format("%.*E", precision, magnitude);
      break;
    case 'g':
    case 'n':
      digits = c_format(spec.alternate ? "%#.*g" : "%.*g", precision, magnitude);
      break;
    case 'G':
      digits = c_format(spec.alternate ? "%#.*G" : "%.*G", precision, magnitude);
      break;
    case '%':
      digits = c_format("%.*f", precision, magnitude * 100) + "%";
      break;
    case '\0':
      if (spec.precision < 0) {
        digits = float_repr(magnitude);
      } else {
        // As 'g', but at least one digit follows the point.
        const int significant = std::max(precision, 1);
        digits = c_format("%.*g", significant, magnitude);
        if (digits.find_first_of(".e") == std::string::npos) {
          if (static_cast<int>(digits.size()) >= significant) {
            digits = c_format("%.*e", significant - 1, magnitude);
          } else {
            digits += ".0";
          }
        }
      }
      break;
    default:
      fail("Unknown format code '{}' for object of type 'float'", spec.type);
  }
  return sign_text(negative, spec.sign) + group(digits, spec.grouping, 3);
}

}  // namespace

std::string number_text(const Val& value, const FormatSpec& spec) {
  if (value.is(Tag::kBigInt)) {
    if (spec.type != 'd' && spec.type != '\0')
      fail(ErrorCode::kUnsupported, "formatting of integers beyond 64 bits");
    const bool negative = value.view().starts_with('-');
    return sign_text(negative, spec.sign) +
           group(std::string(value.view().substr(negative ? 1 : 0)), spec.grouping, 3);
  }
  const bool wants_float =
      std::string_view("eEfFgG%").find(spec.type) != std::string_view::npos && spec.type != '\0';
  if (is_integer(value) && !wants_float) return integer_text(value, spec);
  if (is_integer(value)) {
    return float_text(static_cast<double>(value.is(Tag::kBool) ? int64_t{value.boolean} : value.integer),
                      spec);
  }
  if (value.is(Tag::kFloat)) return float_text(value.real, spec);
  fail("must be real number, not {}", type_name(value));
}

void append_padded_number(TextBuilder& out, const std::string& digits, Origin origin,
                          const FormatSpec& spec) {
  const auto size = static_cast<int64_t>(digits.size());
  const int64_t padding = std::max<int64_t>(spec.width - size, 0);
  const char align = spec.align == '\0' ? '>' : spec.align;
  int64_t before = align == '<' ? 0 : align == '^' ? padding / 2 : padding;
  size_t prefix = 0;
  if (align == '=') {
    if (!digits.empty() && (digits[0] == '-' || digits[0] == '+' || digits[0] == ' ')) prefix = 1;
    if (digits.size() > prefix + 1 && digits[prefix] == '0' &&
        std::isalpha(static_cast<unsigned char>(digits[prefix + 1])) != 0)
      prefix += 2;
  }
  out.append(std::string_view(digits).substr(0, prefix), origin);
  out.append_repeated(spec.fill, before, origin);
  out.append(std::string_view(digits).substr(prefix), origin);
  out.append_repeated(spec.fill, padding - before, origin);
}

void append_padded_text(TextBuilder& out, const Text& text, const FormatSpec& spec) {
  size_t end = text.size();
  if (spec.precision >= 0) end = character_offset(text, static_cast<size_t>(spec.precision));
  const int64_t cut = spec.precision < 0 ? INT64_MAX : spec.precision;
  const auto characters = std::min(static_cast<int64_t>(count_characters(text)), cut);
  const int64_t padding = std::max<int64_t>(spec.width - characters, 0);
  const int64_t before = spec.align == '>' ? padding : spec.align == '^' ? padding / 2 : 0;
  out.append_repeated(spec.fill, before, text.origin());
  out.append(text, 0, end);
  out.append_repeated(spec.fill, padding - before, text.origin());
}

}  // namespace quire::jinja
