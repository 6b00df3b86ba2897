#include "engine/bench_profile.h"

#include <gtest/gtest.h>

namespace quire {
namespace {

TEST(BenchProfile, LayersShareALabel) {
  EXPECT_EQ(label_without_layer("blk.12.ffn_up"), "ffn_up");
  EXPECT_EQ(label_without_layer("blk.0.attn.q|k"), "attn.q|k");
  EXPECT_EQ(label_without_layer("output.norm"), "output.norm");
  EXPECT_EQ(label_without_layer("blk.x.y"), "blk.x.y");
  EXPECT_EQ(label_without_layer("blk.7"), "blk.7");
  EXPECT_EQ(label_without_layer("blk."), "blk.");
}

}  // namespace
}  // namespace quire
