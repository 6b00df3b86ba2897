#include "server/api/generation_fields.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <random>

#include "engine/stop.h"

namespace quire::server {
namespace {

constexpr size_t kMaxStops = 64;
constexpr size_t kMaxStopBytes = 1024;

// One field under several names: the first is the one that messages use.
std::optional<int64_t> integer_of(Fields& fields, std::initializer_list<std::string_view> names, int64_t low,
                                  int64_t high) {
  std::optional<int64_t> found;
  for (const std::string_view name : names) {
    const std::optional<int64_t> value = fields.integer(name, low, high);
    if (value && found && *value != *found) fields.fail(name, fmt::format("contradicts {}", *names.begin()));
    if (value && !found) found = value;
  }
  return found;
}

void set(float& target, std::optional<double> value) {
  if (value) target = static_cast<float>(*value);
}

void read_one_bias(Fields& fields, const ServedModel& model, const Json& key, const Json& value,
                   SamplingSettings& sampling) {
  constexpr const char* kName = "logit_bias";
  float bias = 0;
  if (value.is_number() && value.get<double>() >= -1e6 && value.get<double>() <= 1e6) {
    bias = value.get<float>();
    if (bias <= -100) bias = -INFINITY;  // as clients mean it: never
  } else if (value == Json(false)) {
    bias = -INFINITY;
  } else {
    return fields.fail(kName, "a bias must be a number, or false for never");
  }
  if (key.is_number_integer()) {
    const auto id = key.get<int64_t>();
    if (id < 0 || id >= static_cast<int64_t>(model.tokenizer().n_vocab()))
      return fields.fail(kName, fmt::format("token {} is outside the vocabulary", id));
    sampling.logit_bias.push_back({static_cast<int32_t>(id), bias});
    return;
  }
  if (!key.is_string()) return fields.fail(kName, "a token must be an id or a text");
  const auto ids =
      model.tokenizer().encode(key.get_ref<const std::string&>(), SpecialTokens::kPlain, AddSpecial::kNo);
  if (!ids.ok()) return fields.fail(kName, ids.error().message);
  for (const TokenId id : *ids) sampling.logit_bias.push_back({id, bias});
}

void read_logit_bias(Fields& fields, const ServedModel& model, SamplingSettings& sampling) {
  const Json* const bias = fields.any("logit_bias", R"({"type": ["object", "array", "null"]})");
  if (bias == nullptr) return;
  if (bias->is_object()) {
    for (const auto& [key, value] : bias->items()) {
      int64_t id = 0;
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
      const bool is_id = error == std::errc() && end == key.data() + key.size();
      read_one_bias(fields, model, is_id ? Json(id) : Json(key), value, sampling);
    }
    return;
  }
  if (!bias->is_array()) return fields.fail("logit_bias", "expected an object, or an array of pairs");
  for (const Json& pair : *bias) {
    if (!pair.is_array() || pair.size() != 2)
      return fields.fail("logit_bias", "expected pairs of token and bias");
    read_one_bias(fields, model, pair[0], pair[1], sampling);
  }
}

// With samplers and modes that this program does not have, at the values that switch them off.
void refuse_other_samplers(Fields& fields) {
  constexpr const char* kNotYet = "this sampler is not supported";
  fields.refuse("dynatemp_range", kNotYet, {0, 0.0});
  fields.refuse("xtc_probability", kNotYet, {0, 0.0});
  fields.refuse("dry_multiplier", kNotYet, {0, 0.0});
  fields.refuse("mirostat", kNotYet, {0});
  fields.refuse("top_n_sigma", kNotYet, {0, 0.0, -1, -1.0});
  fields.refuse("adaptive_target", kNotYet, {-1, -1.0});
  fields.refuse("min_keep", kNotYet, {0});
  // Settings of samplers that are off.
  fields.ignore({"dynatemp_exponent", "xtc_threshold", "dry_base", "dry_allowed_length", "dry_penalty_last_n",
                 "dry_sequence_breakers", "mirostat_tau", "mirostat_eta", "adaptive_decay"});
}

// Which filters there are at all, in the one order there is.
void read_samplers(Fields& fields, SamplingSettings& sampling) {
  const Json* const names = fields.array("samplers");
  if (names == nullptr || names->empty()) return;
  struct Named {
    std::string_view name;
    void (*switch_off)(SamplingSettings&);
  };
  constexpr auto kNothing = [](SamplingSettings&) {};  // off anyway
  static constexpr std::array<Named, 9> kOrder = {{
      {"penalties", [](SamplingSettings& s) { s.penalty_window = 0; }},
      {"dry", kNothing},
      {"top_n_sigma", kNothing},
      {"top_k", [](SamplingSettings& s) { s.top_k = 0; }},
      {"typ_p", [](SamplingSettings& s) { s.typical_p = 1; }},
      {"top_p", [](SamplingSettings& s) { s.top_p = 1; }},
      {"min_p", [](SamplingSettings& s) { s.min_p = 0; }},
      {"xtc", kNothing},
      {"temperature", [](SamplingSettings& s) { s.temperature = 1; }},
  }};
  size_t next = 0;  // of kOrder
  for (const Json& name : *names) {
    const Json known = name == "typical_p" ? Json("typ_p") : name;
    size_t at = next;
    while (at < kOrder.size() && known != kOrder[at].name) kOrder[at++].switch_off(sampling);
    if (at == kOrder.size())
      return fields.fail("samplers",
                         "must be names of samplers, in the order penalties, dry, top_n_sigma, "
                         "top_k, typ_p, top_p, min_p, xtc, temperature");
    next = at + 1;
  }
  for (; next < kOrder.size(); ++next) kOrder[next].switch_off(sampling);
}

// Token ids of the vocabulary.
std::vector<int32_t> read_ids(Fields& fields, std::string_view name, const ServedModel& model) {
  std::vector<int32_t> ids;
  const Json* const list = fields.array(name);
  if (list == nullptr) return ids;
  for (const Json& id : *list) {
    if (!id.is_number_integer() || id < 0 || id >= static_cast<int64_t>(model.tokenizer().n_vocab())) {
      fields.fail(name, "expected ids of the vocabulary");
      break;
    }
    ids.push_back(id.get<int32_t>());
  }
  return ids;
}

// What ends an answer beside strings, and what of it is shown.
void read_endings(Fields& fields, const ServedModel& model, GenerationAsk& ask) {
  GenerationSettings& settings = ask.settings;
  if (fields.flag("ignore_eos").value_or(false)) settings.end_tokens = EndTokens::kIgnore;
  settings.stop_tokens = read_ids(fields, "stop_token_ids", model);
  settings.min_tokens = fields.integer("min_tokens", 0, INT32_MAX).value_or(0);
  if (settings.max_tokens >= 0 && settings.min_tokens > settings.max_tokens)
    fields.fail("min_tokens", "is above max_tokens");
  if (fields.flag("include_stop_str_in_output").value_or(false)) ask.stop_text = StopText::kKeep;
  if (!fields.flag("skip_special_tokens").value_or(true)) ask.special = RenderSpecial::kShow;
}

void refuse_other_features(Fields& fields) {
  constexpr const char* kGrammar = "grammars and schemas are not supported yet";
  fields.refuse("grammar", kGrammar, {""});
  fields.refuse("json_schema", kGrammar, {Json::object()});
  fields.refuse("response_format", kGrammar, {{{"type", "text"}}});
  fields.refuse("structured_outputs", kGrammar);
  for (const char* name : {"guided_json", "guided_regex", "guided_choice", "guided_grammar"})
    fields.refuse(name, kGrammar);
  fields.refuse("lora", "adapters are not supported", {Json::array()});
  fields.refuse("n_cache_reuse", "chunks behind a difference cannot be reused", {0});
  fields.refuse("id_slot", "requests are not bound to slots", {-1});
  for (const char* name : {"n_keep", "n_discard"}) fields.refuse(name, "contexts are not shifted", {0, -1});
  fields.refuse("n_indent", "not supported", {0});
  fields.refuse("t_max_predict_ms", "not supported", {0});
  fields.refuse("bad_words", "not supported", {Json::array()});
  fields.refuse("prompt_logprobs", "not supported yet", {0});
  fields.refuse("post_sampling_probs", "not supported", {false});
  fields.refuse("priority", "not supported", {0});
  for (const char* name : {"return_progress", "return_token_ids", "timings_per_token", "verbose",
                           "backend_sampling", "use_beam_search", "reasoning_control"})
    fields.refuse(name, "not supported", {false});
  fields.refuse("response_fields", "not supported", {Json::array()});
  fields.refuse("modalities", "only text is supported", {Json::array({"text"})});
  for (const char* name : {"audio", "prediction", "web_search_options"}) fields.refuse(name, "not supported");
  fields.ignore({"user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key",
                 "prompt_cache_retention", "sse_ping_interval", "verbosity", "request_id",
                 "spaces_between_special_tokens"});
}

void read_style(Fields& fields, AnswerStyle& style) {
  if (fields.flag("stream").value_or(false)) style.delivery = Delivery::kStream;
  const Json* const options = fields.object("stream_options");
  if (options == nullptr) return;
  if (style.delivery == Delivery::kWhole) return fields.fail("stream_options", "is for streams only");
  Fields inner(*options, "stream_options", fields);
  if (inner.flag("include_usage").value_or(false)) style.usage = StreamUsage::kInclude;
  inner.ignore({"continuous_usage_stats", "include_obfuscation"});
  const ApiStatus known = inner.finish();
  if (!known.ok()) fields.fail(known.error());
}

void read_logprobs(Fields& fields, LogprobFields form, GenerationAsk& ask) {
  if (form == LogprobFields::kFlag) {
    ask.style.logprobs = fields.flag("logprobs").value_or(false);
    const std::optional<int64_t> top = fields.integer("top_logprobs", 0, kMaxAskedLogprobs);
    if (top && *top > 0 && !ask.style.logprobs) fields.fail("top_logprobs", "needs logprobs to be true");
    ask.top_logprobs = static_cast<int32_t>(top.value_or(0));
  } else {
    const std::optional<int64_t> top = integer_of(fields, {"logprobs", "n_probs"}, 0, kMaxAskedLogprobs);
    ask.style.logprobs = top.has_value();
    ask.top_logprobs = static_cast<int32_t>(top.value_or(0));
  }
  if (!ask.style.logprobs) return;
  ask.settings.sampling.logprob = Logprob::kCompute;
  ask.settings.top_logprobs = ask.top_logprobs;
}

}  // namespace

void read_sampling(Fields& fields, SamplingSettings& sampling) {
  set(sampling.temperature, fields.number("temperature", 0, 100));
  set(sampling.top_p, fields.number("top_p", 0, 1));
  set(sampling.min_p, fields.number("min_p", 0, 1));
  set(sampling.typical_p, fields.number("typical_p", 0, 1));
  if (const auto k = fields.integer("top_k", -1, INT32_MAX))
    sampling.top_k = static_cast<int32_t>(std::max<int64_t>(*k, 0));
  set(sampling.presence_penalty, fields.number("presence_penalty", -100, 100));
  set(sampling.frequency_penalty, fields.number("frequency_penalty", -100, 100));
  for (const char* name : {"repeat_penalty", "repetition_penalty"})
    set(sampling.repetition_penalty, fields.number(name, 1e-3, 1e3));
  if (const auto n = fields.integer("repeat_last_n", -1, INT32_MAX))
    sampling.penalty_window = static_cast<int32_t>(*n);
}

void read_stops(Fields& fields, std::string_view name, std::vector<std::string>& stops) {
  const Json* const value = fields.any(name, R"({"type": ["string", "array", "null"]})");
  if (value == nullptr) return;
  const Json list = value->is_array() ? *value : Json::array({*value});
  if (list.size() > kMaxStops) return fields.fail(name, fmt::format("has more than {} strings", kMaxStops));
  for (const Json& stop : list) {
    if (!stop.is_string()) return fields.fail(name, "expected a string or an array of strings");
    stops.push_back(stop.get<std::string>());
    if (stops.back().size() > kMaxStopBytes)
      return fields.fail(name, fmt::format("a string is longer than {} bytes", kMaxStopBytes));
  }
  const Status usable = check_stop_strings(stops);
  if (!usable.ok()) fields.fail(name, usable.error().message);
}

ReaderOptions reader_of(const GenerationAsk& ask) {
  return {.stops = ask.settings.stop,
          .details = ask.style.logprobs || ask.style.token_ids,
          .special = ask.special,
          .stop_text = ask.stop_text};
}

GenerationAsk read_generation(Fields& fields, const ServedModel& model, LogprobFields logprobs) {
  GenerationAsk ask{.settings = {.sampling = model.sampling()}};
  GenerationSettings& settings = ask.settings;
  read_sampling(fields, settings.sampling);
  read_samplers(fields, settings.sampling);
  read_logit_bias(fields, model, settings.sampling);
  read_stops(fields, "stop", settings.stop);
  settings.max_tokens =
      integer_of(fields, {"max_tokens", "max_completion_tokens", "n_predict"}, -1, INT32_MAX).value_or(-1);
  read_endings(fields, model, ask);
  ask.n = static_cast<int32_t>(integer_of(fields, {"n", "n_cmpl"}, 1, kMaxChoices).value_or(1));
  const std::optional<int64_t> seed = fields.integer("seed", -1);
  // 32 random bits: a seed that people can retype.
  settings.seed = seed && *seed >= 0 ? static_cast<uint64_t>(*seed) : uint64_t{std::random_device{}()};
  ask.share_prefix = fields.flag("cache_prompt").value_or(true);
  ask.cache_salt = fields.text("cache_salt").value_or("");
  if (ask.cache_salt.size() > 256) fields.fail("cache_salt", "is longer than 256 bytes");
  ask.keep_last = fields.integer("truncate_prompt_tokens", -1, INT32_MAX).value_or(-1);
  if (ask.keep_last == 0) fields.fail("truncate_prompt_tokens", "must be at least 1, or -1 for all");
  read_style(fields, ask.style);
  read_logprobs(fields, logprobs, ask);
  refuse_other_samplers(fields);
  refuse_other_features(fields);
  return ask;
}

}  // namespace quire::server
