// What a request says about the form of its answer. Plain data.
#pragma once

#include <cstdint>

namespace quire::server {

enum class Delivery : uint8_t { kWhole, kStream };
enum class StreamUsage : uint8_t { kOmit, kInclude };

struct AnswerStyle {
  Delivery delivery = Delivery::kWhole;
  StreamUsage usage = StreamUsage::kOmit;
  bool logprobs = false;
  bool token_ids = false;
};

}  // namespace quire::server
