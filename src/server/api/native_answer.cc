#include "server/api/native_answer.h"

#include <span>
#include <utility>

#include "server/api/usage_json.h"

namespace quire::server {
namespace {

Json settings_json(const GenerationSettings& settings) {
  const SamplingSettings& sampling = settings.sampling;
  return {{"n_predict", settings.max_tokens},
          {"seed", settings.seed},
          {"temperature", sampling.temperature},
          {"top_k", sampling.top_k},
          {"top_p", sampling.top_p},
          {"min_p", sampling.min_p},
          {"typical_p", sampling.typical_p},
          {"repeat_penalty", sampling.repetition_penalty},
          {"repeat_last_n", sampling.penalty_window},
          {"presence_penalty", sampling.presence_penalty},
          {"frequency_penalty", sampling.frequency_penalty},
          {"ignore_eos", settings.end_tokens == EndTokens::kIgnore},
          {"stop", settings.stop}};
}

const char* stop_type(const ChoiceEnd& end) {
  if (end.reason == EndReason::kLength) return "limit";
  return end.stop_string.empty() ? "eos" : "word";
}

Json ids_json(const AnswerStyle& style, std::span<const TokenDetail> tokens) {
  Json ids = Json::array();
  if (!style.token_ids) return ids;
  for (const TokenDetail& token : tokens) ids.push_back(token.id);
  return ids;
}

// What ends a choice, in a stream and in a whole answer.
Json final_json(const NativeHead& head, size_t choice, const CollectedChoice& collected,
                const Accounting& accounting, Json tokens) {
  return {{"index", choice},
          {"content", collected.content},
          {"tokens", std::move(tokens)},
          {"id_slot", -1},
          {"stop", true},
          {"model", head.model},
          {"tokens_predicted", accounting.completion_tokens},
          {"tokens_evaluated", accounting.prompt_tokens},
          {"generation_settings", settings_json(head.settings)},
          {"prompt", head.prompts[choice]},
          {"has_new_line", collected.content.find('\n') != std::string::npos},
          {"truncated", false},
          {"stop_type", stop_type(collected.end)},
          {"stopping_word", collected.end.stop_string},
          {"tokens_cached", accounting.cached_tokens},
          {"timings", timings_json(accounting)}};
}

class NativeStream final : public AnswerWriter {
 public:
  NativeStream(NativeHead head, const AnswerStyle& style, std::shared_ptr<Reply> reply)
      : head_(std::move(head)), style_(style), ends_(head_.prompts.size()), sink_(std::move(reply)) {}

  void delta(size_t choice, Delta delta) override {
    Json json = {{"index", choice},
                 {"content", std::move(delta.text)},
                 {"tokens", ids_json(style_, delta.tokens)},
                 {"stop", false},
                 {"id_slot", -1}};
    if (style_.logprobs) json["completion_probabilities"] = token_details_json(delta.tokens);
    sink_.data(json);
  }
  void choice_end(size_t choice, const ChoiceEnd& end) override { ends_[choice] = end; }
  void finish(const Accounting& accounting) override {
    for (size_t i = 0; i < ends_.size(); ++i)
      sink_.data(final_json(head_, i, {.end = ends_[i]}, accounting, Json::array()));
    sink_.finish();
  }
  void fail(const ApiError& error) override { sink_.fail(error, ErrorStyle::kOpenAi); }

 private:
  NativeHead head_;
  AnswerStyle style_;
  std::vector<ChoiceEnd> ends_;
  EventSink sink_;
};

class NativeWhole final : public AnswerCollector {
 public:
  NativeWhole(NativeHead head, const AnswerStyle& style, std::shared_ptr<Reply> reply)
      : AnswerCollector(std::move(reply), head.prompts.size(), ErrorStyle::kOpenAi),
        head_(std::move(head)),
        style_(style) {}

 private:
  Json body(const std::vector<CollectedChoice>& choices, const Accounting& accounting) const override {
    Json list = Json::array();
    for (size_t i = 0; i < choices.size(); ++i) {
      Json json = final_json(head_, i, choices[i], accounting, ids_json(style_, choices[i].tokens));
      if (style_.logprobs) json["completion_probabilities"] = token_details_json(choices[i].tokens);
      list.push_back(std::move(json));
    }
    return list.size() == 1 ? list[0] : list;
  }

  NativeHead head_;
  AnswerStyle style_;
};

}  // namespace

std::unique_ptr<AnswerWriter> make_native_writer(NativeHead head, const AnswerStyle& style,
                                                 std::shared_ptr<Reply> reply) {
  if (style.delivery == Delivery::kStream)
    return std::make_unique<NativeStream>(std::move(head), style, std::move(reply));
  return std::make_unique<NativeWhole>(std::move(head), style, std::move(reply));
}

}  // namespace quire::server
