// FinishReason: why an answer ended. Plain value.
#pragma once

#include <cstdint>

namespace quire {

enum class FinishReason : uint8_t {
  kStop,       // an end-of-generation token or a stop string
  kLength,     // max_tokens, or the end of the context
  kCancelled,  // whoever asked for it said so
  kDeadline,   // its time was over
  kFailed,     // an error, which is reported beside it
};
const char* finish_reason_name(FinishReason reason);  // "stop", "length", "cancelled", "deadline", "failed"

}  // namespace quire
