// The cells of kernel_bench; each function registers one family with Google Benchmark.
#pragma once

namespace quire::bench {

void register_attention_cells();
void register_linear_cells();
void register_pack_cells();

}  // namespace quire::bench
