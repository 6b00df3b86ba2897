#include "memory/page_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <vector>

namespace quire {
namespace {

using Then = PagePool::Then;

TEST(PagePool, HandsPagesOutFromTheFrontAndTakesThemBackAtTheEnd) {
  PagePool pool(4);
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.take(), 1);
  pool.release(0, Then::kFree);
  EXPECT_EQ(pool.take(), 2);
  EXPECT_EQ(pool.take(), 3);
  EXPECT_EQ(pool.take(), 0);
  EXPECT_EQ(pool.take(), -1);
  EXPECT_EQ(pool.n_free(), 0);
  EXPECT_TRUE(pool.check().ok());
}

TEST(PagePool, APageIsFreeOnlyWhenItsLastHolderLetsGo) {
  PagePool pool(2);
  const int32_t page = pool.take();
  pool.retain(page);
  pool.release(page, Then::kFree);
  EXPECT_EQ(pool.n_free(), 1);
  EXPECT_EQ(pool.holders(page), 1);
  pool.release(page, Then::kFree);
  EXPECT_EQ(pool.n_free(), 2);
}

TEST(PagePool, CachedPagesWaitInTheOrderTheyWereLetGo) {
  PagePool pool(4);
  for (int i = 0; i < 4; ++i) pool.take();
  for (const int32_t page : {2, 0, 3}) pool.release(page, Then::kCache);
  EXPECT_EQ(pool.n_cached(), 3);
  EXPECT_EQ(pool.n_held(), 1);
  EXPECT_EQ(pool.oldest_cached(), 2);
  pool.retain(0);  // wanted again: leaves the queue from the middle
  EXPECT_EQ(pool.n_cached(), 2);
  pool.evict(2);
  EXPECT_TRUE(pool.is_free(2));
  EXPECT_EQ(pool.oldest_cached(), 3);
  pool.evict(3);
  EXPECT_EQ(pool.oldest_cached(), -1);
  EXPECT_TRUE(pool.check().ok());
}

TEST(PagePool, SortingBringsFreePagesIntoAscendingOrder) {
  PagePool pool(6);
  for (int i = 0; i < 6; ++i) pool.take();
  for (const int32_t page : {4, 1, 5, 0}) pool.release(page, Then::kFree);
  pool.release(2, Then::kCache);
  pool.sort_free();
  EXPECT_TRUE(pool.check().ok());
  for (const int32_t page : {0, 1, 4, 5}) EXPECT_EQ(pool.take(), page);
  EXPECT_EQ(pool.take(), -1);
}

TEST(PagePool, FreePagesCanBeGivenAnOrder) {
  PagePool pool(6);
  EXPECT_EQ(pool.take(), 0);
  pool.order_free(std::vector<int32_t>{5, 2, 0, 77, -1, 3});
  for (const int32_t page : {5, 2, 3, 1, 4}) EXPECT_EQ(pool.take(), page);
  EXPECT_EQ(pool.take(), -1);
}

TEST(PagePool, MayBeEmpty) {
  PagePool pool(0);
  EXPECT_EQ(pool.take(), -1);
  EXPECT_EQ(pool.oldest_cached(), -1);
  pool.sort_free();
  EXPECT_TRUE(pool.check().ok());
}

TEST(PagePoolDeathTest, ReleasingAFreeOrForeignPageIsADefect) {
  PagePool pool(2);
  EXPECT_DEATH(pool.release(0, Then::kFree), "check failed");
  EXPECT_DEATH(pool.release(2, Then::kFree), "check failed");
  EXPECT_DEATH(pool.release(-1, Then::kFree), "check failed");
  EXPECT_DEATH(pool.retain(0), "check failed");
  EXPECT_DEATH(pool.evict(0), "check failed");
}

// Against plain queues, over operations drawn at random.
TEST(PagePool, BehavesAsTwoQueues) {
  constexpr int32_t kPages = 37;
  std::mt19937 random(11);
  PagePool pool(kPages);
  std::deque<int32_t> free_pages, cached;
  std::map<int32_t, int> holders;
  for (int32_t page = 0; page < kPages; ++page) free_pages.push_back(page);
  const auto any_held = [&] { return std::next(holders.begin(), random() % holders.size())->first; };
  for (int step = 0; step < 100000; ++step) {
    const uint64_t dice = random() % 1000;
    if (dice < 400) {
      const int32_t page = pool.take();
      ASSERT_EQ(page, free_pages.empty() ? -1 : free_pages.front());
      if (page < 0) continue;
      free_pages.pop_front();
      holders[page] = 1;
    } else if (dice < 500 && !holders.empty()) {
      const int32_t page = any_held();
      pool.retain(page);
      ++holders[page];
    } else if (dice < 550 && !cached.empty()) {
      const auto at = cached.begin() + static_cast<ptrdiff_t>(random() % cached.size());
      pool.retain(*at);
      holders[*at] = 1;
      cached.erase(at);
    } else if (dice < 600 && !cached.empty()) {
      ASSERT_EQ(pool.oldest_cached(), cached.front());
      pool.evict(cached.front());
      free_pages.push_back(cached.front());
      cached.pop_front();
    } else if (dice < 998 && !holders.empty()) {
      const int32_t page = any_held();
      const Then then = random() % 2 == 0 ? Then::kFree : Then::kCache;
      pool.release(page, then);
      if (--holders[page] > 0) continue;
      holders.erase(page);
      (then == Then::kFree ? free_pages : cached).push_back(page);
    } else if (dice >= 998) {
      pool.sort_free();
      std::sort(free_pages.begin(), free_pages.end());
    }
    ASSERT_EQ(pool.n_free(), static_cast<int32_t>(free_pages.size()));
    ASSERT_EQ(pool.n_cached(), static_cast<int32_t>(cached.size()));
    if (step % 100 == 0) {
      const Status status = pool.check();
      ASSERT_TRUE(status.ok()) << status.error().message;
    }
  }
}

}  // namespace
}  // namespace quire
