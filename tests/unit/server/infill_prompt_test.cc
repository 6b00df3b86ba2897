#include "server/api/infill_route.h"

#include <gtest/gtest.h>

#include <array>

namespace quire::server {
namespace {

// Id = byte, for the bytes of ASCII; above them tokens for filling in, of which `n_roles` are there.
std::unique_ptr<Tokenizer> make_tokenizer(size_t n_roles) {
  constexpr std::array kRoles = {SpecialRole::kFimPre, SpecialRole::kFimSuf, SpecialRole::kFimMid,
                                 SpecialRole::kFimSep, SpecialRole::kFimRep};
  VocabData data{.model = "rwkv"};
  for (int byte = 0; byte < 128; ++byte) data.tokens.push_back(fmt::format("\\x{:02x}", byte));
  for (size_t i = 0; i < kRoles.size(); ++i) {
    data.tokens.push_back(fmt::format("<fim{}>", i));
    if (i < n_roles) data.special[static_cast<size_t>(kRoles[i])] = static_cast<uint32_t>(128 + i);
  }
  NullLogSink log;
  auto built = Tokenizer::build(std::move(data), log);
  EXPECT_TRUE(built.ok()) << built.error().message;
  return std::move(*built);
}

// P, S, M, F, R for the special ids, and text.
std::string shown(const ApiResult<std::vector<int32_t>>& ids) {
  if (!ids.ok()) return ids.error().message;
  std::string out;
  for (const int32_t id : *ids) out += id < 128 ? static_cast<char>(id) : "PSMFR"[id - 128];
  return out;
}

TEST(InfillPrompt, PrefixSuffixMiddle) {
  const auto tokenizer = make_tokenizer(3);
  EXPECT_EQ(shown(infill_prompt(*tokenizer, {.prefix = "ab", .suffix = "cd", .begun = "e"}, 100)),
            "PabScdMe");
  EXPECT_EQ(shown(infill_prompt(*tokenizer, {}, 100)), "PSM");
}

TEST(InfillPrompt, FilesStandBefore) {
  const auto tokenizer = make_tokenizer(5);
  const InfillParts parts{.prefix = "ab", .suffix = "cd", .files = {{"x", "one"}, {"y", "two"}}};
  EXPECT_EQ(shown(infill_prompt(*tokenizer, parts, 100)), "Rmyproject\nFx\none\nFy\ntwo\nPabScdM");
  EXPECT_EQ(shown(infill_prompt(*tokenizer, parts, 12)), "\ntwo\nPabScdM");
}

TEST(InfillPrompt, WhatDoesNotFitIsCutAtItsFarEnds) {
  const auto tokenizer = make_tokenizer(3);
  const InfillParts parts{.prefix = "abcdefghij", .suffix = "0123456789"};
  EXPECT_EQ(shown(infill_prompt(*tokenizer, parts, 11)), "PefghijS01M");
  EXPECT_EQ(shown(infill_prompt(*tokenizer, {.prefix = "ab", .suffix = "0123456789"}, 11)), "PabS012345M");
  EXPECT_EQ(shown(infill_prompt(*tokenizer, parts, 0)), "PSM");
}

TEST(InfillPrompt, NeedsTheTokens) {
  const auto result = infill_prompt(*make_tokenizer(2), {}, 100);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ApiErrorKind::kNotSupported);
}

}  // namespace
}  // namespace quire::server
