#include "gguf/file_type.h"

#include <array>

namespace quire {
namespace {

constexpr uint32_t kGuessedFlag = 1024;

// Indexed by id; empty where an id was removed from the format.
constexpr std::array<std::string_view, 42> kNames = {
    "F32",   "F16",     "Q4_0",      "Q4_1",   "",       "",        "",       "Q8_0",   "Q5_0",
    "Q5_1",  "Q2_K",    "Q3_K_S",    "Q3_K_M", "Q3_K_L", "Q4_K_S",  "Q4_K_M", "Q5_K_S", "Q5_K_M",
    "Q6_K",  "IQ2_XXS", "IQ2_XS",    "Q2_K_S", "IQ3_XS", "IQ3_XXS", "IQ1_S",  "IQ4_NL", "IQ3_S",
    "IQ3_M", "IQ2_S",   "IQ2_M",     "IQ4_XS", "IQ1_M",  "BF16",    "",       "",       "",
    "TQ1_0", "TQ2_0",   "MXFP4_MOE", "NVFP4",  "Q1_0",   "Q2_0"};
static_assert(kNames[15] == "Q4_K_M" && kNames[32] == "BF16" && kNames[41] == "Q2_0");

}  // namespace

std::string_view file_type_name(uint32_t id) {
  const uint32_t plain = id & ~kGuessedFlag;
  return plain < kNames.size() ? kNames[plain] : std::string_view();
}

}  // namespace quire
