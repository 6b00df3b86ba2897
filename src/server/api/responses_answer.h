// Answers of POST /v1/responses: the response object, and the events that build it up.
#pragma once

#include <memory>

#include "server/answer/answer_writer.h"
#include "server/api/answer_style.h"

namespace quire::server {

std::unique_ptr<AnswerWriter> make_responses_writer(AnswerHead head, Delivery delivery,
                                                    std::shared_ptr<Reply> reply);

}  // namespace quire::server
