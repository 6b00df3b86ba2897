#include "cli/token_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quire::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(TokenList, IdsMayBeSeparatedInAnyUsualWay) {
  for (const char* text : {"1,2,30", "1 2 30", "[1, 2, 30]\n", " 1\n2\t30 ", "1,,2,30,"}) {
    const Result<std::vector<TokenId>> ids = parse_token_ids(text);
    ASSERT_TRUE(ids.ok()) << text;
    EXPECT_THAT(*ids, ElementsAre(1, 2, 30)) << text;
  }
  EXPECT_THAT(*parse_token_ids(" \n"), IsEmpty());
  EXPECT_THAT(*parse_token_ids("-1"), ElementsAre(-1));  // whether a vocabulary has it is another question
}

TEST(TokenList, WhatIsNoIdIsNamed) {
  for (const char* text : {"1,x", "1.5", "0x10", "99999999999", "1;2", "+1"}) {
    const Result<std::vector<TokenId>> ids = parse_token_ids(text);
    ASSERT_FALSE(ids.ok()) << text;
    EXPECT_THAT(ids.error().message, HasSubstr("no token id"));
  }
}

}  // namespace
}  // namespace quire::cli
