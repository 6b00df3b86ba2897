// Attention kernels: exact order of additions, independence of how a sequence is cut, isolation from foreign
// memory.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "attention_case.h"
#include "attention_reference.h"
#include "kernels/isa.h"
#include "kernels/kernel_table.h"
#include "tensor/element_type.h"

namespace quire::kernels {
namespace {

constexpr KvType kTypes[] = {KvType::kF32, KvType::kF16, KvType::kBF16};

// Each feature alone and the combinations models use; token counts end inside a page, on a page and on a
// chunk.
constexpr Case kCases[] = {
    {.name = "causal_d64", .n_head_kv = 2, .group = 1, .d_k = 64, .d_v = 64, .n_tokens = 139},
    {.name = "one_page", .n_head_kv = 1, .group = 2, .d_k = 64, .d_v = 64, .n_tokens = 11},
    {.name = "chunk_exact", .n_head_kv = 1, .group = 1, .d_k = 32, .d_v = 32, .n_tokens = 128},
    {.name = "gqa3_d64", .n_head_kv = 2, .group = 3, .d_k = 64, .d_v = 64, .n_tokens = 83},
    {.name = "gqa8_d128", .n_head_kv = 1, .group = 8, .d_k = 128, .d_v = 128, .n_tokens = 66},
    {.name = "d80", .n_head_kv = 1, .group = 2, .d_k = 80, .d_v = 80, .n_tokens = 97},
    {.name = "d96_softcap", .n_head_kv = 1, .group = 2, .d_k = 96, .d_v = 96, .n_tokens = 80, .softcap = 5},
    {.name = "d256_window", .n_head_kv = 1, .group = 2, .d_k = 256, .d_v = 256, .n_tokens = 70, .window = 33},
    {.name = "d20_partial_lanes", .n_head_kv = 2, .group = 3, .d_k = 20, .d_v = 20, .n_tokens = 100},
    {.name = "d1", .n_head_kv = 3, .group = 1, .d_k = 1, .d_v = 1, .n_tokens = 75},
    {.name = "dk_above_dv", .n_head_kv = 2, .group = 2, .d_k = 48, .d_v = 27, .n_tokens = 75},
    {.name = "dk_below_dv", .n_head_kv = 1, .group = 3, .d_k = 24, .d_v = 112, .n_tokens = 75},
    {.name = "window_small", .n_head_kv = 1, .group = 3, .d_k = 32, .d_v = 32, .n_tokens = 150, .window = 5},
    {.name = "window_chunk", .n_head_kv = 2, .group = 1, .d_k = 32, .d_v = 32, .n_tokens = 200, .window = 64},
    {.name = "window_one", .n_head_kv = 1, .group = 1, .d_k = 16, .d_v = 16, .n_tokens = 70, .window = 1},
    {.name = "sinks", .n_head_kv = 2, .group = 3, .d_k = 32, .d_v = 32, .n_tokens = 90, .sinks = true},
    {.name = "all_at_once",
     .n_head_kv = 2,
     .group = 3,
     .d_k = 40,
     .d_v = 56,
     .n_tokens = 145,
     .window = 50,
     .softcap = 3,
     .sinks = true},
    {.name = "latent_h16",
     .n_head_kv = 1,
     .group = 16,
     .d_k = 48,
     .d_v = 32,
     .n_tokens = 83,
     .form = KvForm::kLatent},
    {.name = "latent_h4_odd",
     .n_head_kv = 1,
     .group = 4,
     .d_k = 37,
     .d_v = 29,
     .n_tokens = 75,
     .form = KvForm::kLatent},
    {.name = "latent_h40",
     .n_head_kv = 1,
     .group = 40,
     .d_k = 24,
     .d_v = 20,
     .n_tokens = 70,
     .form = KvForm::kLatent},
    {.name = "latent_d576",
     .n_head_kv = 1,
     .group = 3,
     .d_k = 576,
     .d_v = 512,
     .n_tokens = 67,
     .form = KvForm::kLatent},
    {.name = "latent_whole_row",
     .n_head_kv = 1,
     .group = 17,
     .d_k = 16,
     .d_v = 16,
     .n_tokens = 129,
     .form = KvForm::kLatent},
    {.name = "latent_all_at_once",
     .n_head_kv = 1,
     .group = 19,
     .d_k = 20,
     .d_v = 12,
     .n_tokens = 145,
     .window = 50,
     .softcap = 3,
     .sinks = true,
     .form = KvForm::kLatent},
};

std::vector<uint32_t> bits(const std::vector<float>& values) {
  std::vector<uint32_t> result(values.size());
  std::memcpy(result.data(), values.data(), values.size() * sizeof(float));
  return result;
}

// Index of the first value with other bits, or -1.
int64_t first_difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::memcmp(&a[i], &b[i], sizeof(float)) != 0) return static_cast<int64_t>(i);
  }
  return -1;
}

// One test covers all storage types and all ISAs of this machine, so that references are computed once.
class AttentionTest : public testing::TestWithParam<Case> {
 protected:
  // Calls fn(case with its storage type, inputs) for every type.
  template <typename Fn>
  void for_each_type(Fn&& fn) {
    for (const KvType type : kTypes) {
      Case c = GetParam();
      c.type = type;
      SCOPED_TRACE(kv_type_name(type));
      fn(c, make_inputs(c));
    }
  }
  template <typename Fn>
  void for_each_isa(Fn&& fn) {
    for (const Isa isa : supported_isas()) {
      SCOPED_TRACE(isa_name(isa));
      fn(attention_kernels(kernel_table(isa), GetParam().form));
    }
  }
};

INSTANTIATE_TEST_SUITE_P(All, AttentionTest, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(AttentionTest, GivesTheBitsOfTheOrderedReference) {
  for_each_type([&](const Case& c, const Inputs& in) {
    const std::vector<float> reference = ordered_attention(c, in);
    for_each_isa([&](const AttentionOps& ops) {
      EXPECT_EQ(first_difference(run_attention(ops, c, in, {.pieces = {c.n_tokens}}), reference), -1);
    });
  });
}

// The bits of all ISAs are those of the reference, so one comparison per type is enough.
TEST_P(AttentionTest, IsCloseToDoublePrecision) {
  for_each_type([&](const Case& c, const Inputs& in) {
    const std::vector<float> out = ordered_attention(c, in);
    const std::vector<double> exact = exact_attention(c, in);
    double worst = 0;
    for (size_t i = 0; i < out.size(); ++i) worst = std::max(worst, std::abs(out[i] - exact[i]));
    EXPECT_LT(worst, 3e-6 * std::max(1.0, c.d_k / 256.0));
  });
}

TEST_P(AttentionTest, DoesNotDependOnHowTheSequenceIsCut) {
  for_each_type([&](const Case& c, const Inputs& in) {
    for_each_isa([&](const AttentionOps& ops) {
      const std::vector<float> prefill = run_attention(ops, c, in, {.pieces = {c.n_tokens}});
      const RunOptions others[] = {
          {.pieces = {1}, .order = PageOrder::kReversed},
          {.pieces = {7, 1, 23, 16, 40}, .order = PageOrder::kScattered, .fill = 0x7c, .gap_bytes = 36},
          {.pieces = {c.n_tokens}, .order = PageOrder::kScattered, .tile_rows = 1, .fill = 0},
          {.pieces = {c.n_tokens - 1, 1}, .tile_rows = 2},
          {.pieces = {c.n_tokens}, .part_chunks = 1},
          {.pieces = {3}, .order = PageOrder::kScattered, .part_chunks = 2},
      };
      for (const RunOptions& options : others) {
        EXPECT_EQ(first_difference(run_attention(ops, c, in, options), prefill), -1)
            << "pieces of " << options.pieces[0] << ", tile rows " << options.tile_rows << ", parts of "
            << options.part_chunks << " chunks";
      }
    });
  });
}

// Keys and values that a row may not see hold NaN or Inf: nothing of it reaches the row.
TEST_P(AttentionTest, HiddenPositionsHaveNoInfluence) {
  for_each_type([&](const Case& c, const Inputs& in) {
    for_each_isa([&](const AttentionOps& ops) {
      const std::vector<float> clean = run_attention(ops, c, in, {.pieces = {c.n_tokens}});
      const size_t row_size = static_cast<size_t>(c.n_head() * c.d_v);
      const auto same_row = [&](const std::vector<float>& out, int32_t token) {
        const size_t at = static_cast<size_t>(token) * row_size;
        return std::memcmp(&out[at], &clean[at], row_size * sizeof(float)) == 0;
      };
      const int32_t poisoned = c.n_tokens / 2;
      for (const uint8_t poison : {uint8_t{0xff}, uint8_t{0x7f}}) {
        // One position in the middle holds poison while all rows are computed in one step: rows before it,
        // and rows whose window has left it behind, keep their bits.
        PagedSequence sequence(c, {.pieces = {}, .order = PageOrder::kScattered, .fill = poison});
        sequence.store(ops, c, in, 0, c.n_tokens);
        sequence.fill_position(poisoned, poison);
        std::vector<float> out(clean.size());
        sequence.attend(ops, c, in, 0, c.n_tokens, {.pieces = {}}, out);
        int32_t n_harmed = 0;
        for (int32_t token = 0; token < c.n_tokens; ++token) {
          const bool sees = token >= poisoned && (c.window == 0 || token - poisoned < c.window);
          if (!sees) {
            EXPECT_TRUE(same_row(out, token)) << "token " << token;
          }
          n_harmed += !same_row(out, token);
        }
        EXPECT_GT(n_harmed, 0);  // the poison does harm where it may be seen

        if (c.window == 0) continue;
        // Everything the window has left behind holds poison.
        for (int32_t p = 0; p + c.window <= poisoned; ++p) sequence.fill_position(p, poison);
        sequence.store(ops, c, in, poisoned, poisoned + 1);
        sequence.attend(ops, c, in, poisoned, poisoned + 1, {.pieces = {}}, out);
        EXPECT_TRUE(same_row(out, poisoned));
      }
    });
  });
}

// The bytes of a page, written out from the layout's definition; everything else keeps its bytes.
std::vector<std::byte> expected_pages(const Case& c, const Inputs& in, const PagedSequence& empty) {
  std::vector<std::byte> pages = empty.pages;
  const size_t element = empty.layout.element_bytes();
  const ElementTypeInfo& info = element_type_info(c.type == KvType::kF32   ? ElementType::kF32
                                                  : c.type == KvType::kF16 ? ElementType::kF16
                                                                           : ElementType::kBF16);
  for (int32_t position = 0; position < c.n_tokens; ++position) {
    const int32_t token = position % kPageTokens;
    std::byte* page =
        pages.data() + static_cast<size_t>(empty.slot(position) / kPageTokens) * empty.page_stride;
    if (c.form == KvForm::kLatent) {
      for (int32_t d = 0; d < c.d_k; ++d) {
        info.encode(&in.k[static_cast<size_t>(position * c.d_k + d)],
                    page + static_cast<size_t>(token * c.d_k + d) * element, 1);
      }
      continue;
    }
    for (int32_t head = 0; head < c.n_head_kv; ++head) {
      const float* k = in.k.data() + (position * c.n_head_kv + head) * c.d_k;
      const float* v = in.v.data() + (position * c.n_head_kv + head) * c.d_v;
      const int32_t k_at = head * c.d_k * kPageTokens;  // [d_k, kPageTokens]
      const int32_t v_at =
          c.n_head_kv * c.d_k * kPageTokens + head * kPageTokens * c.d_v;  // [kPageTokens, d_v]
      for (int32_t d = 0; d < c.d_k; ++d) {
        info.encode(k + d, page + static_cast<size_t>(k_at + d * kPageTokens + token) * element, 1);
      }
      for (int32_t d = 0; d < c.d_v; ++d) {
        info.encode(v + d, page + static_cast<size_t>(v_at + token * c.d_v + d) * element, 1);
      }
    }
  }
  return pages;
}

TEST_P(AttentionTest, StoresTheLayoutAndNothingElse) {
  for_each_type([&](const Case& c, const Inputs& in) {
    for_each_isa([&](const AttentionOps& ops) {
      PagedSequence sequence(c,
                             {.pieces = {}, .order = PageOrder::kScattered, .fill = 0xa5, .gap_bytes = 12});
      const std::vector<std::byte> expected = expected_pages(c, in, sequence);
      sequence.store(ops, c, in, 0, c.n_tokens);
      EXPECT_TRUE(sequence.pages == expected);
    });
  });
}

struct IsaTest : testing::TestWithParam<Isa> {
  const AttentionOps& ops_ = kernel_table(GetParam()).attention;
};

INSTANTIATE_TEST_SUITE_P(All, IsaTest, testing::ValuesIn(supported_isas()),
                         [](const auto& info) { return std::string(isa_name(info.param)); });

TEST_P(IsaTest, NegativeSlotsAreNotStored) {
  const Case c = {
      .name = "", .n_head_kv = 1, .group = 1, .d_k = 8, .d_v = 8, .n_tokens = 3, .type = KvType::kF32};
  const Inputs in = make_inputs(c);
  PagedSequence sequence(c, {.pieces = {}, .fill = 0x11});
  const std::vector<std::byte> before = sequence.pages;
  const int64_t slots[] = {-1, -1, -1};
  ops_.store_kv({.layout = c.layout(),
                 .pages = sequence.pages.data(),
                 .page_stride = sequence.page_stride,
                 .k = in.k.data(),
                 .ld_k = 8,
                 .v = in.v.data(),
                 .ld_v = 8,
                 .slots = slots},
                0, 3);
  EXPECT_TRUE(sequence.pages == before);
}

// Scores that overflow to -Inf weigh nothing, also when a whole chunk is so.
TEST_P(IsaTest, ScoresOfMinusInfinityWeighNothing) {
  const Case c = {
      .name = "", .n_head_kv = 1, .group = 1, .d_k = 16, .d_v = 16, .n_tokens = 140, .type = KvType::kF32};
  Inputs in = make_inputs(c);
  for (float& q : in.q) q = 1;
  for (int32_t position = 0; position < 100; ++position) {
    for (int32_t d = 0; d < c.d_k; ++d) in.k[static_cast<size_t>(position * c.d_k + d)] = -3e38f;
  }
  const std::vector<float> out = run_attention(ops_, c, in, {.pieces = {c.n_tokens}});
  for (int32_t token = 100; token < c.n_tokens; ++token) {
    double largest = 0;
    for (int32_t position = 100; position <= token; ++position) {
      largest = std::max(largest, std::abs(double{in.v[static_cast<size_t>(position * c.d_v)]}));
    }
    const float value = out[static_cast<size_t>(token * c.d_v)];
    EXPECT_TRUE(std::isfinite(value)) << token;
    EXPECT_LE(std::abs(value), largest * 1.00001) << token;
  }
  EXPECT_EQ(bits(out), bits(run_attention(ops_, c, in, {.pieces = {1}})));
}

// Whatever form keys have, the units hold every head once.
TEST_P(IsaTest, UnitsCoverTheHeads) {
  const AttentionOps& latent = kernel_table(GetParam()).latent_attention;
  for (const int32_t n_head : {1, 4, 16, 17, 20, 40, 64, 128}) {
    const HeadUnits units = latent.head_units(n_head, 1);
    EXPECT_GE(units.count * units.n_heads, n_head);
    EXPECT_LT((units.count - 1) * units.n_heads, n_head);
    EXPECT_EQ(latent.scratch_bytes(units.n_heads, 576, 512) % 64, 0u);
    EXPECT_EQ(units.n_heads * latent.partial_floats(512) % 16, 0);
  }
  EXPECT_EQ(ops_.head_units(32, 8).count, 8);
  EXPECT_EQ(ops_.head_units(32, 8).n_heads, 4);
}

TEST_P(IsaTest, ScratchHoldsWholeTilesForEveryGroup) {
  for (const int32_t group : {1, 2, 3, 5, 7, 8, 16, 48, 49, 71, 128}) {
    const int32_t rows = ops_.tile_rows(group, 64, 64);
    EXPECT_GE(rows, 1);
    EXPECT_GE(ops_.scratch_bytes(group, 64, 64), static_cast<size_t>(rows * group) * 128 * sizeof(float));
    EXPECT_EQ(ops_.scratch_bytes(group, 64, 64) % 64, 0u);
  }
}

}  // namespace
}  // namespace quire::kernels
