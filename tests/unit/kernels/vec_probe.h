// Small kernels that expose each primitive of the vector layer to tests: one table per ISA, the same rows in
// each.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quire::kernels::test {

// What a probe may read. The edge pointers have exactly n elements before an unreadable page.
struct ProbeInput {
  float a[16], b[16], c[16];
  int32_t ia[16], ib[16];
  uint8_t bytes[64], more_bytes[64], table[16];
  uint16_t halves[16];
  int8_t a4[4];
  int16_t a2[2];
  int n;  // 0..16; also a shift count
  const float* edge_f32;
  const uint16_t* edge_u16;
};

// What a probe may write; values it leaves alone keep what the caller put there.
struct ProbeOutput {
  float f[32];
  int32_t i[32];
  uint16_t h[16];
  float* edge_f32;
  uint16_t* edge_u16;
};

struct Probe {
  const char* name;
  void (*run)(const ProbeInput& in, ProbeOutput& out);
};
struct ProbeTable {
  const Probe* probes;
  size_t n;
};

}  // namespace quire::kernels::test

namespace quire::kernels {

namespace scalar {
test::ProbeTable vec_probes();
}
namespace avx2 {
test::ProbeTable vec_probes();
}
namespace avx512 {
test::ProbeTable vec_probes();
}
namespace avx512vnni {
test::ProbeTable vec_probes();
}

}  // namespace quire::kernels
