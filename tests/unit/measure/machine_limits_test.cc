#include "measure/machine_limits.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/probe.h"

namespace quire {
namespace {

TEST(Probes, CountTheWorkAndReadEveryByte) {
  for (Isa isa : supported_isas()) {
    SCOPED_TRACE(isa_name(isa));
    const kernels::ProbeOps probes = kernels::probe_ops(isa);
    EXPECT_GT(probes.dot_rounds(10), 0);
    EXPECT_EQ(probes.dot_rounds(30), 3 * probes.dot_rounds(10));
    EXPECT_EQ(probes.fma_rounds(30), 3 * probes.fma_rounds(10));
    // A byte that is skipped would leave the answer as it was.
    std::vector<std::byte> data(2048);
    const uint32_t before = probes.read(data.data(), data.size());
    for (size_t i :
         {size_t{0}, size_t{63}, size_t{64}, size_t{500}, size_t{1023}, size_t{1024}, size_t{2047}}) {
      data[i] = std::byte{1};
      EXPECT_NE(probes.read(data.data(), data.size()), before) << i;
      data[i] = std::byte{0};
    }
  }
}

// How they compare depends on what else the machine does: the bench shows it, a test cannot.
TEST(MachineLimits, AreAllMeasured) {
  ThreadPool pool(1);
  const Result<MachineLimits> limits = measure_limits(pool, supported_isas().back());
  ASSERT_TRUE(limits.ok()) << limits.error().message;
  EXPECT_GT(limits->read_gbps, 0);
  EXPECT_GT(limits->fma_gops, 0);
  EXPECT_GT(limits->dot_gops, 0);
}

}  // namespace
}  // namespace quire
