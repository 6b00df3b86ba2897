#include "tensor/element_type.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace quire {
namespace {

TEST(ElementType, TableIsConsistent) {
  EXPECT_EQ(element_types().size(), 35u);
  int64_t last_id = -1;
  for (const ElementTypeInfo& info : element_types()) {
    const auto id = static_cast<uint32_t>(info.type);
    EXPECT_GT(static_cast<int64_t>(id), last_id) << info.name;
    last_id = id;
    EXPECT_EQ(&element_type_info(info.type), &info);
    EXPECT_EQ(find_element_type(id), &info);
    EXPECT_EQ(find_element_type(info.name), &info);
    if (info.block_elems > 1) {
      EXPECT_NE(info.decode, nullptr) << info.name;
      EXPECT_NE(info.unpack, nullptr) << info.name;
      EXPECT_EQ(info.block_elems % kCodeGroup, 0) << info.name;
    }
  }
}

TEST(ElementType, NamesIgnoreCase) {
  EXPECT_EQ(find_element_type("q4_k"), &element_type_info(ElementType::kQ4_K));
  EXPECT_EQ(find_element_type("iq2_XXS"), &element_type_info(ElementType::kIQ2_XXS));
  EXPECT_EQ(find_element_type("q4_k_m"), nullptr);
  EXPECT_EQ(find_element_type(""), nullptr);
}

TEST(ElementType, UnknownIdsAreExplainedWhereKnown) {
  for (const uint32_t id : {4u, 5u, 31u, 32u, 33u, 36u, 37u, 38u}) {
    EXPECT_EQ(find_element_type(id), nullptr);
    EXPECT_NE(describe_unknown_element_type(id).find("removed"), std::string_view::npos) << id;
  }
  for (const uint32_t id : {97u, 99u, 133u, 137u, 144u, 151u, 158u, 202u}) {
    EXPECT_EQ(find_element_type(id), nullptr);
    EXPECT_NE(describe_unknown_element_type(id).find("ik_llama.cpp"), std::string_view::npos) << id;
  }
  for (const uint32_t id : {43u, 100u, std::numeric_limits<uint32_t>::max()}) {
    EXPECT_EQ(find_element_type(id), nullptr);
    EXPECT_TRUE(describe_unknown_element_type(id).empty()) << id;
  }
}

TEST(ElementType, RowBytes) {
  EXPECT_EQ(row_bytes(ElementType::kF32, 7), 28u);
  EXPECT_EQ(row_bytes(ElementType::kQ4_0, 64), 36u);
  EXPECT_EQ(row_bytes(ElementType::kQ6_K, 512), 420u);
  EXPECT_EQ(row_bytes(ElementType::kQ8_0, 0), 0u);
  EXPECT_EQ(row_bytes(ElementType::kQ4_0, 63), std::nullopt);
  EXPECT_EQ(row_bytes(ElementType::kF32, -4), std::nullopt);
  EXPECT_EQ(row_bytes(ElementType::kF32, std::numeric_limits<int64_t>::max()), std::nullopt);
  EXPECT_EQ(row_bytes(ElementType::kQ8_0, std::numeric_limits<int64_t>::max() / 32 * 32),
            34u * ((1ull << 58) - 1));
}

}  // namespace
}  // namespace quire
