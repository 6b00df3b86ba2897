#include "server/api/prompt_fields.h"

#include <algorithm>

#include "engine/chat.h"

namespace quire::server {
namespace {

using TokenIds = std::vector<int32_t>;

constexpr const char* kExpected = "expected a string, token ids, or an array of these";

bool is_id(const Json& json) { return json.is_number_integer() && json >= 0 && json <= INT32_MAX; }

struct PromptReader {
  std::string_view name;
  TextUse use;
  const Tokenizer& tokenizer;

  ApiResult<TokenIds> text(const std::string& text) const {
    if (use == TextUse::kContinued) {
      QUIRE_ASSIGN_OR_RETURN(TokenIds ids, raw_prompt(tokenizer, text));
      return ids;
    }
    if (text.empty()) return TokenIds();  // not the begin token alone
    QUIRE_ASSIGN_OR_RETURN(TokenIds ids, tokenizer.encode(text, SpecialTokens::kPlain, AddSpecial::kYes));
    return ids;
  }

  // A string, or an array of ids and strings, one after the other.
  ApiResult<TokenIds> one(const Json& json) const {
    if (json.is_string()) return text(json.get_ref<const std::string&>());
    if (!json.is_array()) return invalid_field(name, kExpected);
    TokenIds ids;
    for (const Json& part : json) {
      if (is_id(part)) {
        ids.push_back(part.get<int32_t>());
        continue;
      }
      if (!part.is_string()) return invalid_field(name, kExpected);
      const AddSpecial add = ids.empty() ? AddSpecial::kYes : AddSpecial::kNo;
      const SpecialTokens special =
          use == TextUse::kContinued ? SpecialTokens::kParse : SpecialTokens::kPlain;
      QUIRE_ASSIGN_OR_RETURN(const TokenIds more,
                             tokenizer.encode(part.get_ref<const std::string&>(), special, add));
      ids.insert(ids.end(), more.begin(), more.end());
    }
    return ids;
  }
};

}  // namespace

ApiResult<std::vector<TokenIds>> read_prompts(Fields& fields, std::string_view name, TextUse use,
                                              const Tokenizer& tokenizer) {
  const Json* const value = fields.any(name, R"({"type": ["string", "array"]})");
  if (value == nullptr) return invalid_field(name, "is missing");
  const bool several = value->is_array() && !value->empty() &&
                       std::ranges::none_of(*value, [](const Json& part) { return is_id(part); });
  const Json list = several ? *value : Json::array({*value});
  if (list.size() > kMaxPrompts) return invalid_field(name, "there are too many");
  const PromptReader reader{.name = name, .use = use, .tokenizer = tokenizer};
  std::vector<TokenIds> prompts;
  for (const Json& one : list) {
    QUIRE_ASSIGN_OR_RETURN(TokenIds ids, reader.one(one));
    if (ids.empty()) return invalid_field(name, "has no tokens");
    prompts.push_back(std::move(ids));
  }
  return prompts;
}

}  // namespace quire::server
