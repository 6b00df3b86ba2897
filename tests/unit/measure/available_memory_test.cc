#include "measure/available_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace quire {
namespace {

TEST(AvailableMemory, IsThereAndNotMoreThanIsInstalled) {
  const Result<uint64_t> bytes = available_memory();
  ASSERT_TRUE(bytes.ok()) << bytes.error().message;
  EXPECT_GT(*bytes, uint64_t{1} << 20);
  EXPECT_LE(*bytes,
            static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
}

}  // namespace
}  // namespace quire
