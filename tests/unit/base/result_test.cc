#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace quire {
namespace {

Result<int> parse_digit(char c) {
  if (c < '0' || c > '9') return make_error(ErrorCode::kInvalidArgument, "'{}' is not a digit", c);
  return c - '0';
}

Result<int> add_digits(char a, char b) {
  QUIRE_ASSIGN_OR_RETURN(const int x, parse_digit(a));
  int y = 0;
  QUIRE_ASSIGN_OR_RETURN(y, parse_digit(b));
  return x + y;
}

Status check_digit(char c) {
  QUIRE_RETURN_IF_ERROR(parse_digit(c));
  return {};
}

Status check_both(char a, char b) {
  QUIRE_RETURN_IF_ERROR(check_digit(a));
  QUIRE_RETURN_IF_ERROR(check_digit(b));
  return {};
}

TEST(Result, CarriesAValue) {
  const Result<int> sum = add_digits('3', '4');
  ASSERT_TRUE(sum.ok());
  EXPECT_TRUE(static_cast<bool>(sum));
  EXPECT_EQ(*sum, 7);
}

TEST(Result, CarriesTheFirstErrorOut) {
  const Result<int> sum = add_digits('3', 'x');
  ASSERT_FALSE(sum.ok());
  EXPECT_EQ(sum.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(sum.error().message, "'x' is not a digit");
}

TEST(Result, MovesMoveOnlyValues) {
  Result<std::unique_ptr<std::string>> made(std::make_unique<std::string>("text"));
  EXPECT_EQ((*made)->size(), 4u);
  const std::unique_ptr<std::string> taken = std::move(made).value();
  EXPECT_EQ(*taken, "text");
}

TEST(Result, ArrowReachesTheValue) {
  Result<std::string> text(std::string("abc"));
  text->push_back('d');
  EXPECT_EQ(*text, "abcd");
}

TEST(Result, StatusIsOkUnlessToldOtherwise) {
  EXPECT_TRUE(Status().ok());
  EXPECT_TRUE(check_both('1', '2').ok());
  const Status failed = check_both('1', '?');
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "'?' is not a digit");
}

TEST(ResultDeathTest, TakingTheWrongSideAbortsWithTheMessage) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH((void)parse_digit('x').value(), "'x' is not a digit");
  EXPECT_DEATH((void)parse_digit('1').error(), "check failed");
  EXPECT_DEATH((void)Status().error(), "check failed");
}

}  // namespace
}  // namespace quire
