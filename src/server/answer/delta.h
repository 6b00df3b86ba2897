// Delta: a piece of an answer on its way to the client, whatever the API. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/answer/token_detail.h"

namespace quire::server {

enum class DeltaKind : uint8_t { kContent, kReasoning, kToolCall, kState };

// A call the model asks for. `arguments` is the text of a JSON object.
struct AnsweredCall {
  std::string id = {};
  std::string name = {};
  std::string arguments = {};
};

struct Delta {
  DeltaKind kind = DeltaKind::kContent;
  std::string text = {};                 // of content and reasoning; valid UTF-8
  AnsweredCall call = {};                // of kToolCall
  std::vector<TokenDetail> tokens = {};  // when logprobs were asked for
  std::vector<float> state = {};         // of kState: what embeddings are made of
};

enum class EndReason : uint8_t { kStop, kLength, kToolCalls };

struct ChoiceEnd {
  EndReason reason = EndReason::kStop;
  std::string stop_string = {};  // that ended it; empty: a token of the model did, or the length
};

}  // namespace quire::server
