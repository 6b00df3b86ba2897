#include "memory/page_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

namespace quire {
namespace {

TEST(PagePool, HandsPagesOutFromTheFrontAndTakesThemBackAtTheEnd) {
  PagePool pool(4);
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.take(), 1);
  pool.release(0);
  EXPECT_EQ(pool.take(), 2);
  EXPECT_EQ(pool.take(), 3);
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.take(), -1);
  EXPECT_EQ(pool.n_free(), 0);
  EXPECT_TRUE(pool.check().ok());
}

TEST(PagePool, SortingBringsFreePagesIntoAscendingOrder) {
  PagePool pool(6);
  for (int i = 0; i < 6; ++i) pool.take();
  for (const int32_t page : {4, 1, 5, 0}) pool.release(page);
  pool.sort_free();
  EXPECT_TRUE(pool.check().ok());
  for (const int32_t page : {0, 1, 4, 5}) EXPECT_EQ(pool.take(), page);
  EXPECT_EQ(pool.take(), -1);
}

TEST(PagePool, MayBeEmpty) {
  PagePool pool(0);
  EXPECT_EQ(pool.take(), -1);
  pool.sort_free();
  EXPECT_TRUE(pool.check().ok());
}

TEST(PagePoolDeathTest, ReleasingAFreeOrForeignPageIsADefect) {
  PagePool pool(2);
  EXPECT_DEATH(pool.release(0), "check failed");
  EXPECT_DEATH(pool.release(2), "check failed");
  EXPECT_DEATH(pool.release(-1), "check failed");
}

// Against a plain queue, over operations drawn at random.
TEST(PagePool, BehavesAsAQueue) {
  constexpr int32_t kPages = 37;
  std::mt19937 random(11);
  PagePool pool(kPages);
  std::deque<int32_t> free_pages;
  std::vector<int32_t> owned;
  for (int32_t page = 0; page < kPages; ++page) free_pages.push_back(page);
  for (int step = 0; step < 100000; ++step) {
    const uint32_t dice = random() % 1000;
    if (dice < 500) {
      const int32_t page = pool.take();
      if (free_pages.empty()) {
        ASSERT_EQ(page, -1);
      } else {
        ASSERT_EQ(page, free_pages.front());
        free_pages.pop_front();
        owned.push_back(page);
      }
    } else if (dice < 998) {
      if (owned.empty()) continue;
      std::swap(owned[random() % owned.size()], owned.back());
      pool.release(owned.back());
      free_pages.push_back(owned.back());
      owned.pop_back();
    } else {
      pool.sort_free();
      std::sort(free_pages.begin(), free_pages.end());
    }
    ASSERT_EQ(pool.n_free(), static_cast<int32_t>(free_pages.size()));
    if (step % 100 == 0) {
      const Status status = pool.check();
      ASSERT_TRUE(status.ok()) << status.error().message;
    }
  }
}

}  // namespace
}  // namespace quire
