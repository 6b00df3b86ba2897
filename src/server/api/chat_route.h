// POST /v1/chat/completions, its /input_tokens, /apply-template: conversations.
#pragma once

#include "server/api/api_call.h"
#include "server/api/chat_messages.h"

namespace quire::server {

ApiResult<AnswerJob> chat_completions(const ApiCall& call);
ApiResult<Json> apply_template(const ApiCall& call);
ApiResult<Json> count_chat_tokens(const ApiCall& call);

// A conversation rendered and tokenized, and how its answer is to be read. `split_thinking` as asked for.
struct ChatPlan {
  std::vector<int32_t> prompt = {};
  ReaderOptions reader = {};
};
ApiResult<ChatPlan> plan_chat(const ServedModel& model, ChatConversation conversation,
                              const GenerationAsk& ask);

}  // namespace quire::server
