#include "cli/format.h"

#include <gtest/gtest.h>

namespace quire::cli {
namespace {

TEST(FormatSize, KeepsThreeDigits) {
  EXPECT_EQ(format_size(0), "0 B");
  EXPECT_EQ(format_size(999), "999 B");
  EXPECT_EQ(format_size(1000), "1.00 kB");
  EXPECT_EQ(format_size(98362432), "98.4 MB");
  EXPECT_EQ(format_size(253113024), "253 MB");
  EXPECT_EQ(format_size(1117320768), "1.12 GB");
  EXPECT_EQ(format_size(9995), "10.0 kB");  // 9.995 would need four digits
  EXPECT_EQ(format_size(99950), "100 kB");
  EXPECT_EQ(format_size(999499), "999 kB");
  EXPECT_EQ(format_size(999500), "1.00 MB");  // not 1000 kB
  EXPECT_EQ(format_size(UINT64_MAX), "18446744 TB");
}

TEST(FormatCount, UsesLettersFromAThousandUp) {
  EXPECT_EQ(format_count(270), "270");
  EXPECT_EQ(format_count(134515008), "135 M");
  EXPECT_EQ(format_count(1543714304), "1.54 B");
}

TEST(FormatTable, AlignsByCharactersAndLeavesNoSpacesAtTheEnd) {
  EXPECT_EQ(format_table({{"name", "size", "type"}, {"é", "1", "x"}, {"longer", "22", ""}}, "lrl"),
            "name    size  type\n"
            "é          1  x\n"
            "longer    22\n");
  EXPECT_EQ(format_table({}, "ll"), "");
}

}  // namespace
}  // namespace quire::cli
