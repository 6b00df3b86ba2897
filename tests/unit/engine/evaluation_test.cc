#include "engine/evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/engine/tiny_model.h"

namespace quire {
namespace {

using ::testing::ElementsAre;

std::vector<TokenId> list(std::span<const TokenId> ids) { return {ids.begin(), ids.end()}; }

TEST(CutText, PutsTheBeginTokenBeforeEveryWindow) {
  const TokenId text[] = {10, 11, 12, 13, 14};
  const EvaluationText cut = cut_text(text, {.window = 3, .begin = 1});
  ASSERT_EQ(cut.n_windows(), 3);
  EXPECT_THAT(list(cut[0]), ElementsAre(1, 10, 11));
  EXPECT_THAT(list(cut[1]), ElementsAre(1, 12, 13));
  EXPECT_THAT(list(cut[2]), ElementsAre(1, 14));
  EXPECT_EQ(cut.n_scored(), 5);
}

TEST(CutText, LeavesOutWhatScoresNothing) {
  const TokenId text[] = {10, 11, 12, 13};
  const EvaluationText cut = cut_text(text, {.window = 3});
  ASSERT_EQ(cut.n_windows(), 1);
  EXPECT_THAT(list(cut[0]), ElementsAre(10, 11, 12));
  EXPECT_EQ(cut.n_scored(), 2);
  EXPECT_EQ(cut_text({}, {.window = 3}).n_scored(), 0);
  EXPECT_EQ(cut_text({}, {.window = 3, .begin = 1}).n_scored(), 0);
}

class Evaluate : public ::testing::Test {
 protected:
  std::unique_ptr<Runner> runner(int64_t step) {
    return testing::load("llama/model-f32.gguf", {.ctx = 16, .max_batch_tokens = step, .max_outputs = step});
  }
  // The logits of every prediction, one after the other.
  std::vector<float> logits(int64_t step) {
    const std::unique_ptr<Runner> loaded = runner(step);
    std::vector<float> all;
    nexts_.clear();
    const Status status = evaluate(
        *loaded, text_,
        [&](const Prediction& prediction) {
          all.insert(all.end(), prediction.logits.begin(), prediction.logits.end());
          nexts_.push_back(prediction.next);
          return Status();
        },
        [](int64_t) { return true; });
    EXPECT_TRUE(status.ok());
    return all;
  }

  std::vector<TokenId> ids_ = {93, 78, 96, 52, 223, 40, 41, 42, 60, 61,
                               62, 63, 64, 65, 66,  67, 68, 69, 70, 71};
  EvaluationText text_ = cut_text(ids_, {.window = 8, .begin = 1});
  std::vector<TokenId> nexts_;
};

TEST_F(Evaluate, PredictsEveryTokenWhateverTheStep) {
  const std::vector<float> whole = logits(16);
  EXPECT_EQ(nexts_, ids_);
  EXPECT_EQ(logits(3), whole);
  EXPECT_EQ(logits(1), whole);
}

TEST_F(Evaluate, StartsEveryWindowAfresh) {
  const std::vector<float> all = logits(8);
  const std::unique_ptr<Runner> alone = runner(8);
  const size_t n_vocab = static_cast<size_t>(alone->model().n_vocab());
  Result<SequenceId> sequence = alone->open();
  ASSERT_TRUE(sequence.ok());
  const BatchItem item{.sequence = *sequence, .tokens = text_[1].first(7), .logits = Logits::kAll};
  ASSERT_TRUE(alone->step({&item, 1}).ok());
  for (int64_t i = 0; i < 7; ++i) {
    const std::span<const float> row = alone->logits(i);
    const auto at = static_cast<size_t>(7 + i) * n_vocab;
    EXPECT_TRUE(std::equal(row.begin(), row.end(), all.begin() + static_cast<std::ptrdiff_t>(at))) << i;
  }
}

TEST_F(Evaluate, StopsWhenToldTo) {
  const std::unique_ptr<Runner> loaded = runner(8);
  std::vector<int64_t> heard;
  const Status cancelled = evaluate(
      *loaded, text_, [](const Prediction&) { return Status(); },
      [&](int64_t done) {
        heard.push_back(done);
        return heard.size() < 2;
      });
  EXPECT_EQ(cancelled.error().code, ErrorCode::kCancelled);
  EXPECT_THAT(heard, ElementsAre(0, 7));
  const Status refused = evaluate(
      *loaded, text_,
      [](const Prediction&) {
        return Status(Error{ErrorCode::kIo, "full"});
      },
      [](int64_t) { return true; });
  EXPECT_EQ(refused.error().message, "full");
  EXPECT_TRUE(loaded->open().ok());  // the sequence was given back both times
}

}  // namespace
}  // namespace quire
