// The ring between the engine and a reader: everything arrives once and in order, whatever the reader's pace.
#include "engine/answer_stream.h"

#include <gtest/gtest.h>

namespace quire {
namespace {

void push(AnswerStream& stream, int32_t id) {
  for (TokenLogprob& top : stream.next_top()) top = {.id = id, .logprob = -1.0f};
  stream.push({.id = id, .logprob = 0});
}

std::vector<int32_t> ids(std::span<const SampledToken> tokens) {
  std::vector<int32_t> out;
  for (const SampledToken& token : tokens) out.push_back(token.id);
  return out;
}

TEST(AnswerStream, HandsOutEveryTokenOnce) {
  AnswerStream stream(8, 0, {});
  EXPECT_TRUE(stream.take().empty());
  for (int32_t i = 0; i < 5; ++i) push(stream, i);
  EXPECT_EQ(ids(stream.take()), (std::vector<int32_t>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(stream.take().empty());
  for (int32_t i = 5; i < 10; ++i) push(stream, i);
  EXPECT_EQ(ids(stream.take()), (std::vector<int32_t>{5, 6, 7}));  // up to the end of the ring
  EXPECT_EQ(ids(stream.next()), (std::vector<int32_t>{8, 9}));
  stream.end({.reason = FinishReason::kStop});
  EXPECT_TRUE(stream.next().empty());
  EXPECT_EQ(stream.outcome().reason, FinishReason::kStop);
}

TEST(AnswerStream, WhatIsHandedOutIsUnreadUntilMoreIsAskedFor) {
  AnswerStream stream(4, 2, {});
  for (int32_t i = 0; i < 4; ++i) push(stream, i);
  EXPECT_EQ(stream.n_unread(), 4);
  const std::span<const SampledToken> tokens = stream.take();
  EXPECT_EQ(stream.n_unread(), 4);
  for (const SampledToken& token : tokens) {
    ASSERT_EQ(stream.top(token).size(), 2u);
    EXPECT_EQ(stream.top(token)[1].id, token.id);
  }
  stream.release();
  EXPECT_EQ(stream.n_unread(), 0);
  push(stream, 4);
  EXPECT_EQ(stream.top(stream.take()[0])[0].id, 4);
}

TEST(AnswerStreamDeath, TakesNoMoreThanItHasRoomFor) {
  AnswerStream stream(2, 0, {});
  push(stream, 0);
  push(stream, 1);
  EXPECT_DEATH(push(stream, 2), "");
}

}  // namespace
}  // namespace quire
