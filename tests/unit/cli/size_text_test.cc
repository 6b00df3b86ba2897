#include "cli/size_text.h"

#include <gtest/gtest.h>

namespace quire::cli {
namespace {

TEST(SizeText, UnitsArePowersOf1000OrOf1024) {
  const std::pair<const char*, uint64_t> cases[] = {{"4GB", 4'000'000'000},
                                                    {"512MiB", uint64_t{512} << 20},
                                                    {"1.5G", 1'500'000'000},
                                                    {"2 TiB", uint64_t{2} << 40},
                                                    {"800000000", 800'000'000},
                                                    {"3k", 3000},
                                                    {"3KIB", 3072},
                                                    {"17B", 17},
                                                    {"0.5kib", 512}};
  for (const auto& [text, bytes] : cases) {
    const Result<uint64_t> size = parse_size(text);
    ASSERT_TRUE(size.ok()) << text;
    EXPECT_EQ(*size, bytes) << text;
  }
}

TEST(SizeText, AnythingElseIsRefused) {
  for (const char* text : {"", "GB", "-1GB", "1.2.3G", "4XB", "4GBs", "0", "0.0001", "99999999999TB", "nan",
                           " 4GB", "4G B", "."}) {
    EXPECT_FALSE(parse_size(text).ok()) << text;
  }
}

}  // namespace
}  // namespace quire::cli
