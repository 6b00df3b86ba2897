// Speed of attention, of the kernel table's linear rows and of packing, beside this machine's limits in the
// same run.
//
//   kernel_bench [--benchmark_filter=REGEX] [other flags of Google Benchmark]
//
//   attention/ISA/d:HEAD_DIMENSION/rows:ROWS/context:POSITIONS   the last rows of a prompt, one thread
//   linear/FORMAT/ISA/m:ROWS/l2|dram/threads:N     one linear layer
//   pack/FORMAT                                    repacking at load, one thread
//
// GOPS count a multiply-add as two, GBps the packed weights (packing: bytes of the file's blocks; attention:
// the keys and values of the context, once). `dot`, `fma` and `read` are the fractions of what the probes of
// integer dot products, of f32 multiply-adds and of reading memory reached right before and after the cell;
// `moved` is how far the two differ: where it is above 0.1 the machine was busy with something else. One
// format takes less than a minute:
//
//   kernel_bench --benchmark_filter=linear/q4_k/

#include <benchmark/benchmark.h>

#include "cells.h"

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  quire::bench::register_attention_cells();
  quire::bench::register_linear_cells();
  quire::bench::register_pack_cells();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
