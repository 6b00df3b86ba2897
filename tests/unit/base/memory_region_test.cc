#include "base/memory_region.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace quire {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

size_t resident_pages(const MemoryRegion& region) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> state((region.size() + page - 1) / page);
  EXPECT_EQ(mincore(region.data(), region.size(), state.data()), 0);
  return static_cast<size_t>(
      std::count_if(state.begin(), state.end(), [](unsigned char s) { return s & 1; }));
}

TEST(MemoryRegion, IsZeroFilledAlignedAndWritable) {
  for (const size_t bytes : {size_t{1}, size_t{100}, size_t{4096}, 2 * kMiB - 1, 2 * kMiB, 3 * kMiB + 5}) {
    Result<MemoryRegion> region = MemoryRegion::allocate(bytes);
    ASSERT_TRUE(region.ok()) << bytes;
    EXPECT_EQ(region->size(), bytes);
    EXPECT_FALSE(region->dry());
    const size_t alignment = bytes >= 2 * kMiB ? 2 * kMiB : 64;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(region->data()) % alignment, 0u) << bytes;
    EXPECT_TRUE(
        std::all_of(region->data(), region->data() + bytes, [](std::byte b) { return b == std::byte{0}; }));
    region->data()[0] = std::byte{1};
    region->data()[bytes - 1] = std::byte{2};
  }
}

TEST(MemoryRegion, DryReportsBytesWithoutMemory) {
  const size_t more_than_any_machine = std::numeric_limits<size_t>::max() / 2;
  Result<MemoryRegion> region = MemoryRegion::allocate(more_than_any_machine, Allocation::kDry);
  ASSERT_TRUE(region.ok());
  EXPECT_TRUE(region->dry());
  EXPECT_EQ(region->size(), more_than_any_machine);
  EXPECT_EQ(region->data(), nullptr);
  region->fault_in(0, more_than_any_machine);
}

TEST(MemoryRegion, EmptyIsNotDry) {
  Result<MemoryRegion> region = MemoryRegion::allocate(0);
  ASSERT_TRUE(region.ok());
  EXPECT_FALSE(region->dry());
  EXPECT_EQ(region->size(), 0u);
  region->fault_in(0, 0);
}

TEST(MemoryRegion, WhatDoesNotFitIsAnErrorWithTheNumber) {
  for (const size_t bytes : {std::numeric_limits<size_t>::max(), std::numeric_limits<size_t>::max() / 4}) {
    const Result<MemoryRegion> region = MemoryRegion::allocate(bytes);
    ASSERT_FALSE(region.ok());
    EXPECT_EQ(region.error().code, ErrorCode::kResourceExhausted);
    EXPECT_NE(region.error().message.find(std::to_string(bytes)), std::string::npos)
        << region.error().message;
  }
}

TEST(MemoryRegion, MovingKeepsTheAddress) {
  MemoryRegion first = MemoryRegion::allocate(3 * kMiB).value();
  std::byte* const data = first.data();
  MemoryRegion second = std::move(first);
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(first.data(), nullptr);  // NOLINT: moved-from is empty by contract
  EXPECT_EQ(first.size(), 0u);
  MemoryRegion third = MemoryRegion::allocate(10).value();
  third = std::move(second);
  EXPECT_EQ(third.data(), data);
  EXPECT_EQ(third.size(), 3 * kMiB);
}

TEST(MemoryRegion, FaultInMakesPagesResidentAndKeepsTheirBytes) {
  MemoryRegion region = MemoryRegion::allocate(kMiB).value();  // below the huge-page size: page by page
  EXPECT_EQ(resident_pages(region), 0u);
  region.data()[5] = std::byte{42};
  EXPECT_EQ(resident_pages(region), 1u);
  region.fault_in(0, region.size());
  EXPECT_EQ(resident_pages(region), region.size() / static_cast<size_t>(sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(region.data()[5], std::byte{42});
}

TEST(MemoryRegionDeathTest, FaultInOutsideTheRegionAborts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const MemoryRegion region = MemoryRegion::allocate(100).value();
  EXPECT_DEATH(region.fault_in(50, 51), "check failed");
}

}  // namespace
}  // namespace quire
