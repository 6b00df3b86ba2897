// Every primitive and elementary function of the vector layer gives the bits of the scalar specification on
// every ISA.
#include <gtest/gtest.h>

#include <cstring>
#include <string_view>

#include "guarded_bytes.h"
#include "kernel_values.h"
#include "vec_probes.h"

namespace quire::kernels::test {
namespace {

void fill_random_bytes(void* p, size_t n, std::mt19937& rng) {
  for (size_t i = 0; i < n; ++i) static_cast<unsigned char*>(p)[i] = static_cast<unsigned char>(rng());
}

struct Edges {
  GuardedBytes in_f32{4096}, in_u16{4096}, out_f32{4096}, out_u16{4096};
};

ProbeInput random_input(std::mt19937& rng, Edges& edges) {
  ProbeInput in = {};
  fill_hostile(in.a, rng);
  fill_hostile(in.b, rng);
  fill_hostile(in.c, rng);
  fill_random_bytes(in.ia, sizeof in.ia, rng);
  fill_random_bytes(in.ib, sizeof in.ib, rng);
  fill_random_bytes(in.bytes, sizeof in.bytes, rng);
  fill_random_bytes(in.more_bytes, sizeof in.more_bytes, rng);
  fill_random_bytes(in.table, sizeof in.table, rng);
  fill_random_bytes(in.halves, sizeof in.halves, rng);
  fill_random_bytes(in.a4, sizeof in.a4, rng);
  fill_random_bytes(in.a2, sizeof in.a2, rng);
  // The extremes, together: where a saturating instruction would show.
  if (rng() % 4 == 0) {
    std::memset(in.bytes, rng() % 2 == 0 ? 0xff : 0x80, sizeof in.bytes);
    std::memset(in.more_bytes, rng() % 2 == 0 ? 0x7f : 0x80, sizeof in.more_bytes);
    std::memset(in.a4, rng() % 2 == 0 ? 0x7f : 0x80, sizeof in.a4);
    in.a2[0] = in.a2[1] = INT16_MIN;
  }
  if (rng() % 4 == 0) in.ia[0] = in.ib[1] = INT32_MIN, in.ia[1] = in.ib[0] = INT32_MAX, in.ib[2] = in.ia[2];
  in.n = static_cast<int>(rng() % 17);
  in.edge_f32 = edges.in_f32.last<float>(in.n);
  in.edge_u16 = edges.in_u16.last<uint16_t>(in.n);
  fill_hostile({edges.in_f32.last<float>(16), 16}, rng);
  fill_random_bytes(edges.in_u16.last<uint16_t>(16), 32, rng);
  return in;
}

// Everything a probe wrote, including what it left alone around a partial store.
struct Observed {
  ProbeOutput out;
  float edge_f32[20];
  uint16_t edge_u16[20];
};

Observed run_probe(const Probe& probe, const ProbeInput& in, Edges& edges) {
  Observed seen = {};
  std::memset(edges.out_f32.last<float>(20), 0x55, 20 * sizeof(float));
  std::memset(edges.out_u16.last<uint16_t>(20), 0x55, 20 * sizeof(uint16_t));
  seen.out.edge_f32 = edges.out_f32.last<float>(in.n);
  seen.out.edge_u16 = edges.out_u16.last<uint16_t>(in.n);
  probe.run(in, seen.out);
  std::memcpy(seen.edge_f32, edges.out_f32.last<float>(20), sizeof seen.edge_f32);
  std::memcpy(seen.edge_u16, edges.out_u16.last<uint16_t>(20), sizeof seen.edge_u16);
  return seen;
}

bool is_nan_half(uint16_t h, uint16_t exponent_mask) {
  return (h & exponent_mask) == exponent_mask && (h & 0x7fff) != exponent_mask;
}

// Compares as floats where floats were written, else as bits.
void expect_same(const Observed& want, const Observed& got, std::string_view name) {
  for (int i = 0; i < 32; ++i) {
    EXPECT_TRUE(same_bits(want.out.f[i], got.out.f[i]))
        << name << " lane " << i << ": " << want.out.f[i] << " vs " << got.out.f[i];
    const float wi = std::bit_cast<float>(want.out.i[i]), gi = std::bit_cast<float>(got.out.i[i]);
    const bool same = name == "bits_of" ? same_bits(wi, gi) : want.out.i[i] == got.out.i[i];
    EXPECT_TRUE(same) << name << " int " << i << ": " << want.out.i[i] << " vs " << got.out.i[i];
  }
  const uint16_t exponent = name.find("bf16") != name.npos ? 0x7f80 : 0x7c00;
  const auto same_half = [&](uint16_t a, uint16_t b) {
    return a == b || (name.starts_with("store_") && is_nan_half(a, exponent) && is_nan_half(b, exponent) &&
                      name.find("f16") != name.npos);
  };
  for (int i = 0; i < 16; ++i) {
    EXPECT_TRUE(same_half(want.out.h[i], got.out.h[i])) << name << " half " << i;
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(same_bits(want.edge_f32[i], got.edge_f32[i])) << name << " edge float " << i;
    EXPECT_TRUE(same_half(want.edge_u16[i], got.edge_u16[i])) << name << " edge half " << i;
  }
}

class VecTest : public testing::TestWithParam<Isa> {};

TEST_P(VecTest, EveryProbeGivesTheBitsOfScalar) {
  const std::span<const Probe> want = probes_of(Isa::kScalar), got = probes_of(GetParam());
  ASSERT_EQ(want.size(), got.size());
  Edges edges;
  std::mt19937 rng(7);
  for (int round = 0; round < 400; ++round) {
    const ProbeInput in = random_input(rng, edges);
    for (size_t i = 0; i < want.size(); ++i) {
      const Observed expected = run_probe(want[i], in, edges);
      expect_same(expected, run_probe(got[i], in, edges), want[i].name);
      if (testing::Test::HasFailure()) FAIL() << want[i].name << " in round " << round;
    }
  }
}

TEST_P(VecTest, HalfPrecisionConversionsAreExhaustivelyEqual) {
  const auto find = [](std::span<const Probe> probes, std::string_view name) -> const Probe& {
    for (const Probe& probe : probes) {
      if (name == probe.name) return probe;
    }
    ADD_FAILURE() << "no probe " << name;
    return probes[0];
  };
  Edges edges;
  std::mt19937 rng(3);
  ProbeInput in = random_input(rng, edges);
  for (std::string_view name : {"load_f16", "load_bf16"}) {
    for (uint32_t base = 0; base < 0x10000; base += 16) {
      for (uint32_t i = 0; i < 16; ++i) in.halves[i] = static_cast<uint16_t>(base + i);
      expect_same(run_probe(find(probes_of(Isa::kScalar), name), in, edges),
                  run_probe(find(probes_of(GetParam()), name), in, edges), name);
    }
  }
  // Around every rounding boundary of f16 and bf16: each high half with five low halves.
  for (std::string_view name : {"store_f16", "store_bf16"}) {
    const Probe &want = find(probes_of(Isa::kScalar), name), &got = find(probes_of(GetParam()), name);
    for (uint32_t high = 0; high < 0x10000; high += 2) {
      for (uint32_t i = 0; i < 16; ++i) {
        constexpr uint32_t kLow[8] = {0, 1, 0x0fff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001};
        in.a[i] = std::bit_cast<float>((high + i / 8) << 16 | kLow[i % 8]);
      }
      expect_same(run_probe(want, in, edges), run_probe(got, in, edges), name);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, VecTest, testing::ValuesIn(supported_isas().begin(), supported_isas().end()),
                         [](const auto& info) { return std::string(isa_name(info.param)); });

}  // namespace
}  // namespace quire::kernels::test
