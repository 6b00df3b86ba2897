// SequenceId: names one open sequence of a memory. Plain value; reused after close().
#pragma once

#include <cstdint>

namespace quire {

struct SequenceId {
  int32_t index = -1;
  friend bool operator==(SequenceId, SequenceId) = default;
};

}  // namespace quire
