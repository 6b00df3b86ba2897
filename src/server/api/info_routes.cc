#include "server/api/info_routes.h"

#include "base/utf8.h"

namespace quire::server {
namespace {

Json piece_json(std::string_view piece) {
  if (complete_utf8_prefix(piece) == piece.size() && replace_invalid_utf8(piece) == piece) return piece;
  Json bytes = Json::array();
  for (const char c : piece) bytes.push_back(static_cast<uint8_t>(c));
  return bytes;
}

Json token_text(const Tokenizer& tokenizer, SpecialRole role) {
  const TokenId id = tokenizer.special(role);
  return id == kNoToken ? Json("") : Json(std::string(tokenizer.token_text(id)));
}

}  // namespace

ApiResult<Json> models(const ApiCall& call) {
  const ServedModel& served = call.model;
  const Model& model = served.engine().model();
  Json entry = {{"id", served.name()},
                {"object", "model"},
                {"created", served.created()},
                {"owned_by", "quire"},
                {"root", served.name()},
                {"parent", nullptr},
                {"max_model_len", served.engine().max_length()},
                {"meta",
                 {{"vocab_type", served.tokenizer().model()},
                  {"n_vocab", model.n_vocab()},
                  {"n_ctx_train", model.n_ctx_train()},
                  {"n_params", served.n_parameters()},
                  {"size", served.file_bytes()}}}};
  return Json{{"object", "list"}, {"data", Json::array({std::move(entry)})}};
}

ApiResult<Json> props(const ApiCall& call) {
  const ServedModel& served = call.model;
  const SamplingSettings& sampling = served.sampling();
  const Tokenizer& tokenizer = served.tokenizer();
  return Json{{"default_generation_settings",
               {{"n_ctx", served.engine().max_length()},
                {"params",
                 {{"temperature", sampling.temperature},
                  {"top_k", sampling.top_k},
                  {"top_p", sampling.top_p},
                  {"min_p", sampling.min_p},
                  {"typical_p", sampling.typical_p},
                  {"repeat_penalty", sampling.repetition_penalty},
                  {"repeat_last_n", sampling.penalty_window},
                  {"presence_penalty", sampling.presence_penalty},
                  {"frequency_penalty", sampling.frequency_penalty}}}}},
              {"total_slots", served.engine().max_sequences()},
              {"model_alias", served.name()},
              {"model_path", served.engine().model().file().path()},
              {"chat_template", std::string(served.template_source())},
              {"chat_template_caps",
               {{"supports_tools", served.answers().tools != ToolSyntax::kNone},
                {"supports_thinking", served.answers().thinks}}},
              {"modalities", {{"vision", false}, {"audio", false}}},
              {"bos_token", token_text(tokenizer, SpecialRole::kBos)},
              {"eos_token", token_text(tokenizer, SpecialRole::kEos)},
              {"is_sleeping", false}};
}

// Sequences are not bound to slots: the first so many are shown as busy.
ApiResult<Json> slots(const ApiCall& call) {
  const Engine& engine = call.model.engine();
  const int32_t running = engine.gauges().running;
  if (call.request.query.find("fail_on_no_slot=1") != std::string::npos && running >= engine.max_sequences())
    return ApiError{
        .kind = ApiErrorKind::kUnavailable, .message = "no slot is free", .retry_after_seconds = 1};
  Json list = Json::array();
  for (int32_t i = 0; i < engine.max_sequences(); ++i) {
    list.push_back(
        {{"id", i}, {"n_ctx", engine.max_length()}, {"speculative", false}, {"is_processing", i < running}});
  }
  return list;
}

ApiResult<Json> tokenize(const ApiCall& call) {
  QUIRE_ASSIGN_OR_RETURN(const Json body, body_of(call));
  Fields fields = call.fields(body);
  read_model(fields);
  std::optional<std::string> content = fields.text("content");
  std::optional<std::string> prompt = fields.text("prompt");
  if (content && prompt) fields.fail("prompt", "contradicts content");
  const std::optional<bool> add_tokens = fields.flag("add_special_tokens");
  const bool add_special = add_tokens.value_or(fields.flag("add_special").value_or(prompt.has_value()));
  const bool parse_special = fields.flag("parse_special").value_or(true);
  const bool with_pieces = fields.flag("with_pieces").value_or(false);
  if (prompt) content = std::move(prompt);
  if (!content) fields.fail("content", "is missing");
  QUIRE_RETURN_IF_ERROR(fields.finish());
  const Tokenizer& tokenizer = call.model.tokenizer();
  QUIRE_ASSIGN_OR_RETURN(
      const std::vector<TokenId> ids,
      tokenizer.encode(*content, parse_special ? SpecialTokens::kParse : SpecialTokens::kPlain,
                       add_special ? AddSpecial::kYes : AddSpecial::kNo));
  Json answer = {{"tokens", ids}, {"count", ids.size()}, {"max_model_len", call.model.engine().max_length()}};
  if (!with_pieces) return answer;
  Json tokens = Json::array();
  for (const TokenId id : ids)
    tokens.push_back({{"id", id}, {"piece", piece_json(tokenizer.piece(id, RenderSpecial::kShow))}});
  answer["tokens"] = std::move(tokens);
  return answer;
}

ApiResult<Json> tokenizer_info(const ApiCall& call) {
  const Tokenizer& tokenizer = call.model.tokenizer();
  const auto token = [&](SpecialRole role) {
    const TokenId id = tokenizer.special(role);
    return id == kNoToken ? Json() : Json(std::string(tokenizer.token_text(id)));
  };
  return Json{
      {"tokenizer_class", tokenizer.model()},  {"bos_token", token(SpecialRole::kBos)},
      {"eos_token", token(SpecialRole::kEos)}, {"unk_token", token(SpecialRole::kUnk)},
      {"pad_token", token(SpecialRole::kPad)}, {"chat_template", std::string(call.model.template_source())}};
}

ApiResult<Json> detokenize(const ApiCall& call) {
  QUIRE_ASSIGN_OR_RETURN(const Json body, body_of(call));
  Fields fields = call.fields(body);
  read_model(fields);
  const Json* const tokens = fields.array("tokens");
  if (tokens == nullptr) fields.fail("tokens", "is missing");
  QUIRE_RETURN_IF_ERROR(fields.finish());
  std::vector<TokenId> ids;
  for (const Json& token : *tokens) {
    const bool known = token.is_number_integer() && token >= 0 && token <= INT32_MAX &&
                       call.model.tokenizer().valid(token.get<TokenId>());
    if (!known) return invalid_field("tokens", "expected ids of the vocabulary");
    ids.push_back(token.get<TokenId>());
  }
  QUIRE_ASSIGN_OR_RETURN(std::string text,
                         call.model.tokenizer().decode(ids, {.special = RenderSpecial::kShow}));
  text = replace_invalid_utf8(text);
  return Json{{"content", text}, {"prompt", text}};
}

}  // namespace quire::server
