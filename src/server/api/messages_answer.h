// Answers of POST /v1/messages: Anthropic's message object, and the events that build it up.
#pragma once

#include <memory>

#include "server/answer/answer_writer.h"
#include "server/api/answer_style.h"

namespace quire::server {

// n_prompt: tokens of the prompt, which the first event tells.
std::unique_ptr<AnswerWriter> make_messages_writer(AnswerHead head, Delivery delivery, int64_t n_prompt,
                                                   std::shared_ptr<Reply> reply);

}  // namespace quire::server
