#include "server/api/infill_route.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/api/text_route.h"

namespace quire::server {
namespace {

using TokenIds = std::vector<int32_t>;

void append(TokenIds& ids, const TokenIds& more) { ids.insert(ids.end(), more.begin(), more.end()); }

// The files, or as many of their last ids as there is room for.
ApiResult<TokenIds> context_of(const Tokenizer& tokenizer, const InfillParts& parts, size_t room) {
  TokenIds ids;
  const TokenId repository = tokenizer.special(SpecialRole::kFimRep);
  const TokenId separator = tokenizer.special(SpecialRole::kFimSep);
  if (parts.files.empty() || room == 0) return ids;
  const auto text = [&](std::string_view of) {
    return tokenizer.encode(of, SpecialTokens::kPlain, AddSpecial::kNo);
  };
  if (repository != kNoToken) {
    ids.push_back(repository);
    QUIRE_ASSIGN_OR_RETURN(const TokenIds name, text("myproject\n"));
    append(ids, name);
  }
  for (const InfillParts::File& file : parts.files) {
    if (separator != kNoToken) ids.push_back(separator);
    QUIRE_ASSIGN_OR_RETURN(const TokenIds body, text(fmt::format("{}\n{}\n", file.name, file.text)));
    append(ids, body);
  }
  if (ids.size() > room) ids.erase(ids.begin(), ids.end() - static_cast<std::ptrdiff_t>(room));
  return ids;
}

InfillParts read_parts(Fields& fields) {
  InfillParts parts{.prefix = fields.text("input_prefix").value_or(""),
                    .suffix = fields.text("input_suffix").value_or(""),
                    .begun = fields.text("prompt").value_or("")};
  const Json* const files = fields.array("input_extra");
  if (files == nullptr) return parts;
  for (size_t i = 0; i < files->size(); ++i) {
    Fields file((*files)[i], fmt::format("input_extra[{}]", i), fields);
    parts.files.push_back(
        {.name = file.text("filename").value_or("tmp"), .text = file.text("text").value_or("")});
    const ApiStatus known = file.finish();
    if (!known.ok()) fields.fail(known.error());
  }
  return parts;
}

}  // namespace

ApiResult<std::vector<int32_t>> infill_prompt(const Tokenizer& tokenizer, const InfillParts& parts,
                                              int64_t room) {
  const TokenId pre = tokenizer.special(SpecialRole::kFimPre), suf = tokenizer.special(SpecialRole::kFimSuf),
                mid = tokenizer.special(SpecialRole::kFimMid);
  if (pre == kNoToken || suf == kNoToken || mid == kNoToken) {
    return ApiError{.kind = ApiErrorKind::kNotSupported,
                    .message = "this model's vocabulary has no tokens for filling in the middle"};
  }
  const auto text = [&](std::string_view of) {
    return tokenizer.encode(of, SpecialTokens::kPlain, AddSpecial::kNo);
  };
  QUIRE_ASSIGN_OR_RETURN(TokenIds prefix, text(parts.prefix));
  QUIRE_ASSIGN_OR_RETURN(TokenIds suffix, text(parts.suffix));
  QUIRE_ASSIGN_OR_RETURN(const TokenIds begun, text(parts.begun));
  const TokenId bos = tokenizer.special(SpecialRole::kBos);
  const bool begins = tokenizer.adds_bos() && bos != kNoToken;
  const int64_t fixed = 3 + (begins ? 1 : 0) + static_cast<int64_t>(begun.size());
  const auto left = static_cast<size_t>(std::max<int64_t>(room - fixed, 0));
  if (prefix.size() + suffix.size() > left) {
    const size_t n_suffix = std::min(suffix.size(), std::max(left / 4, left - std::min(left, prefix.size())));
    suffix.resize(n_suffix);
    prefix.erase(prefix.begin(),
                 prefix.end() - static_cast<std::ptrdiff_t>(std::min(prefix.size(), left - n_suffix)));
  }
  QUIRE_ASSIGN_OR_RETURN(const TokenIds context,
                         context_of(tokenizer, parts, left - prefix.size() - suffix.size()));
  TokenIds ids;
  if (begins) ids.push_back(bos);
  append(ids, context);
  ids.push_back(pre);
  append(ids, prefix);
  ids.push_back(suf);
  append(ids, suffix);
  ids.push_back(mid);
  append(ids, begun);
  return ids;
}

ApiResult<AnswerJob> infill(const ApiCall& call) {
  QUIRE_ASSIGN_OR_RETURN(const Json body, body_of(call));
  Fields fields = call.fields(body);
  read_model(fields);
  const GenerationAsk ask = read_native(fields, call.model);
  const InfillParts parts = read_parts(fields);
  QUIRE_RETURN_IF_ERROR(fields.finish());
  // What is kept free for the answer: at most half of the context, a quarter when it has no limit.
  const int64_t n_ctx = call.model.engine().max_length();
  const int64_t asked = ask.settings.max_tokens;
  const int64_t answer = asked < 0 ? n_ctx / 4 : std::min(asked, n_ctx / 2);
  QUIRE_ASSIGN_OR_RETURN(std::vector<int32_t> prompt,
                         infill_prompt(call.model.tokenizer(), parts, n_ctx - std::max<int64_t>(answer, 1)));
  return native_job(call, ask, {std::move(prompt)});
}

}  // namespace quire::server
