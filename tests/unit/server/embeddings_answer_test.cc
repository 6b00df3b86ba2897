#include "server/api/embeddings_answer.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>

namespace quire::server {
namespace {

TEST(Embeddings, Norms) {
  const std::vector<float> state = {3, -4};
  EXPECT_EQ(normalized(state, -1), state);
  EXPECT_EQ(normalized(state, 2), (std::vector<float>{0.6f, -0.8f}));
  EXPECT_EQ(normalized(state, 1),
            (std::vector<float>{static_cast<float>(3.0 / 7), static_cast<float>(-4.0 / 7)}));
  EXPECT_EQ(normalized(state, 0), (std::vector<float>{24570, -32760}));
  EXPECT_EQ(normalized(std::vector<float>{0, 0}, 2), (std::vector<float>{0, 0}));
}

// Source of the examples: RFC 4648, section 10, as the bytes of floats.
TEST(Embeddings, Base64) {
  EXPECT_EQ(base64({}), "");
  EXPECT_EQ(base64(std::vector<float>{1.0f}), "AACAPw==");
  const auto foob = std::bit_cast<float>(std::array<char, 4>{'f', 'o', 'o', 'b'});
  const auto arfo = std::bit_cast<float>(std::array<char, 4>{'a', 'r', 'f', 'o'});
  const auto obar = std::bit_cast<float>(std::array<char, 4>{'o', 'b', 'a', 'r'});
  EXPECT_EQ(base64(std::vector<float>{foob}), "Zm9vYg==");
  EXPECT_EQ(base64(std::vector<float>{foob, arfo}), "Zm9vYmFyZm8=");
  EXPECT_EQ(base64(std::vector<float>{foob, arfo, obar}), "Zm9vYmFyZm9vYmFy");
}

}  // namespace
}  // namespace quire::server
