#include "base/function_ref.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <type_traits>

namespace quire {
namespace {

int twice(FunctionRef<int(int)> fn, int x) { return fn(fn(x)); }

TEST(FunctionRef, CallsALambdaWithState) {
  int calls = 0;
  EXPECT_EQ(twice(
                [&calls](int x) {
                  ++calls;
                  return x + 10;
                },
                1),
            21);
  EXPECT_EQ(calls, 2);
}

TEST(FunctionRef, RefersToTheCallableAndDoesNotCopyIt) {
  struct Counter {
    int count = 0;
    Counter() = default;
    Counter(const Counter&) = delete;
    int operator()(int by) { return count += by; }
  };
  Counter counter;
  EXPECT_EQ(twice(counter, 3), 6);  // 3, then 3 + 3
  EXPECT_EQ(counter.count, 6);
}

TEST(FunctionRef, ForwardsMoveOnlyArgumentsAndConvertsResults) {
  const auto length = [](std::unique_ptr<std::string> text) { return static_cast<short>(text->size()); };
  FunctionRef<long(std::unique_ptr<std::string>)> ref = length;
  EXPECT_EQ(ref(std::make_unique<std::string>("abc")), 3);
}

TEST(FunctionRef, RejectsCallablesOfAnotherSignature) {
  const auto takes_string = [](const std::string&) {};
  static_assert(!std::is_constructible_v<FunctionRef<void(int)>, decltype(takes_string)&>);
  static_assert(sizeof(FunctionRef<void(int)>) == 2 * sizeof(void*));
}

}  // namespace
}  // namespace quire
