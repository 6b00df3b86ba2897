#include "tokenizer/vocab_data.h"

#include <utility>

namespace quire {
namespace {

constexpr std::string_view kTemplateKey = "tokenizer.chat_template";

std::string ggml_key(std::string_view name) { return fmt::format("tokenizer.ggml.{}", name); }

Result<std::optional<bool>> read_flag(const Metadata& metadata, std::string_view name) {
  const std::string key = ggml_key(name);
  if (!metadata.contains(key)) return std::optional<bool>();
  QUIRE_ASSIGN_OR_RETURN(bool value, metadata.get<bool>(key));
  return std::optional<bool>(value);
}

Result<std::vector<float>> read_scores(const Metadata& metadata) {
  const std::string key = ggml_key("scores");
  const Metadata::Value* value = metadata.find(key);
  if (value == nullptr) return std::vector<float>();
  if (value->type == ValueType::kArray && value->element == ValueType::kI32) {
    QUIRE_ASSIGN_OR_RETURN(std::vector<int32_t> whole, metadata.get_array<int32_t>(key));
    return std::vector<float>(whole.begin(), whole.end());
  }
  if (value->type == ValueType::kArray && value->element != ValueType::kF32) {
    return make_error(ErrorCode::kCorrupt, "{}: scores are {}, expected f32 or i32", key,
                      value_type_name(value->element));
  }
  return metadata.get_array<float>(key);
}

Result<std::vector<TokenType>> read_types(const Metadata& metadata) {
  const std::string key = ggml_key("token_type");
  std::vector<TokenType> types;
  if (!metadata.contains(key)) return types;
  QUIRE_ASSIGN_OR_RETURN(std::vector<int32_t> raw, metadata.get_array<int32_t>(key));
  types.reserve(raw.size());
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] < 0 || raw[i] > 6) {
      return make_error(ErrorCode::kCorrupt, "{}: token {} has type {}, expected 0 to 6", key, i, raw[i]);
    }
    types.push_back(static_cast<TokenType>(raw[i]));
  }
  return types;
}

// The first key is the current name of a role, the second (if any) an older one.
struct RoleKeys {
  SpecialRole role;
  const char* name;
  const char* old_name;
};
constexpr RoleKeys kRoleKeys[] = {
    {SpecialRole::kBos, "bos_token_id", "cls_token_id"},
    {SpecialRole::kEos, "eos_token_id", nullptr},
    {SpecialRole::kEot, "eot_token_id", nullptr},
    {SpecialRole::kEom, "eom_token_id", nullptr},
    {SpecialRole::kUnk, "unknown_token_id", nullptr},
    {SpecialRole::kSep, "seperator_token_id", nullptr},  // spelled so in the format
    {SpecialRole::kPad, "padding_token_id", nullptr},
    {SpecialRole::kMask, "mask_token_id", nullptr},
    {SpecialRole::kFimPre, "fim_pre_token_id", "prefix_token_id"},
    {SpecialRole::kFimSuf, "fim_suf_token_id", "suffix_token_id"},
    {SpecialRole::kFimMid, "fim_mid_token_id", "middle_token_id"},
    {SpecialRole::kFimPad, "fim_pad_token_id", nullptr},
    {SpecialRole::kFimRep, "fim_rep_token_id", nullptr},
    {SpecialRole::kFimSep, "fim_sep_token_id", nullptr},
};

Status read_special_ids(const Metadata& metadata, VocabData& data) {
  for (const RoleKeys& row : kRoleKeys) {
    for (const char* name : {row.name, row.old_name}) {
      if (name == nullptr) continue;
      const std::string key = ggml_key(name);
      if (!metadata.contains(key)) continue;
      // A negative id (some converters write -1 for "none") is a value out of range like any other.
      QUIRE_ASSIGN_OR_RETURN(int64_t id, metadata.get<int64_t>(key));
      const bool fits = id >= 0 && id <= INT32_MAX;
      data.special[static_cast<size_t>(row.role)] = fits ? static_cast<uint32_t>(id) : UINT32_MAX;
      break;
    }
  }
  return {};
}

Status read_chat_templates(const Metadata& metadata, VocabData& data) {
  if (metadata.contains(kTemplateKey)) {
    QUIRE_ASSIGN_OR_RETURN(std::string source, metadata.get<std::string>(kTemplateKey));
    data.chat_templates.push_back({.name = "", .source = std::move(source)});
  }
  const std::string prefix = fmt::format("{}.", kTemplateKey);
  for (const std::string& key : metadata.keys()) {
    if (!key.starts_with(prefix)) continue;
    QUIRE_ASSIGN_OR_RETURN(std::string source, metadata.get<std::string>(key));
    data.chat_templates.push_back({.name = key.substr(prefix.size()), .source = std::move(source)});
  }
  return {};
}

Status read_charsmap(const Metadata& metadata, VocabData& data) {
  const std::string key = ggml_key("precompiled_charsmap");
  const Metadata::Value* value = metadata.find(key);
  if (value == nullptr) return {};
  const bool bytes = value->type == ValueType::kArray &&
                     (value->element == ValueType::kU8 || value->element == ValueType::kI8);
  if (!bytes) return make_error(ErrorCode::kCorrupt, "{}: expected an array of u8", key);
  data.charsmap = std::string(value->bytes);
  return {};
}

}  // namespace

Result<VocabData> read_vocab_data(const Metadata& metadata) {
  VocabData data;
  QUIRE_ASSIGN_OR_RETURN(data.model, metadata.get<std::string>(ggml_key("model")));
  QUIRE_ASSIGN_OR_RETURN(data.pre, metadata.get_or<std::string>(ggml_key("pre"), ""));
  QUIRE_ASSIGN_OR_RETURN(data.model_name, metadata.get_or<std::string>("general.name", ""));
  QUIRE_ASSIGN_OR_RETURN(data.architecture, metadata.get_or<std::string>("general.architecture", ""));
  if (metadata.contains(ggml_key("tokens"))) {
    QUIRE_ASSIGN_OR_RETURN(data.tokens, metadata.get_array<std::string>(ggml_key("tokens")));
  }
  QUIRE_ASSIGN_OR_RETURN(data.scores, read_scores(metadata));
  QUIRE_ASSIGN_OR_RETURN(data.types, read_types(metadata));
  if (metadata.contains(ggml_key("merges"))) {
    QUIRE_ASSIGN_OR_RETURN(data.merges, metadata.get_array<std::string>(ggml_key("merges")));
  }
  if (metadata.contains(ggml_key("suppress_tokens"))) {
    QUIRE_ASSIGN_OR_RETURN(data.suppress_tokens, metadata.get_array<int32_t>(ggml_key("suppress_tokens")));
  }
  QUIRE_ASSIGN_OR_RETURN(data.add_bos, read_flag(metadata, "add_bos_token"));
  QUIRE_ASSIGN_OR_RETURN(data.add_eos, read_flag(metadata, "add_eos_token"));
  QUIRE_ASSIGN_OR_RETURN(data.add_sep, read_flag(metadata, "add_sep_token"));
  QUIRE_ASSIGN_OR_RETURN(data.add_space_prefix, read_flag(metadata, "add_space_prefix"));
  QUIRE_ASSIGN_OR_RETURN(data.remove_extra_whitespaces, read_flag(metadata, "remove_extra_whitespaces"));
  QUIRE_ASSIGN_OR_RETURN(data.lowercase, read_flag(metadata, "normalizer.lowercase"));
  QUIRE_ASSIGN_OR_RETURN(data.strip_accents, read_flag(metadata, "normalizer.strip_accents"));
  QUIRE_RETURN_IF_ERROR(read_special_ids(metadata, data));
  QUIRE_RETURN_IF_ERROR(read_charsmap(metadata, data));
  QUIRE_RETURN_IF_ERROR(read_chat_templates(metadata, data));
  return data;
}

}  // namespace quire
