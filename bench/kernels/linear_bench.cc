// Speed of linear layers beside this machine's own limits, measured in the same run.
//
//   linear_bench [--isa NAME] [--threads N] [--mb N] [format ...]
//
// Every format is run with M = 1, 4, 16, 64, 512 rows on a matrix of about --mb megabytes (M >= 16: a part of
// it). GB/s count packed weight bytes, GOPS a multiply-add as two. Percentages are of a read of memory and of
// the dot-product rate, both measured right before each format. Best of several runs: other work on the
// machine only ever slows one down.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/memory_region.h"
#include "base/thread_pool.h"
#include "dot_peak.h"
#include "kernels/kernel_table.h"

namespace quire::kernels {
namespace {

struct Options {
  Isa isa = supported_isas().back();
  int n_threads = 2;
  size_t megabytes = 256;
  std::vector<std::string> formats;
};

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Shortest time of `run` within about half a second.
template <typename Run>
double best_time(Run run) {
  run();
  double best = 1e30;
  const double end = seconds() + 0.5;
  for (int i = 0; i < 3 || seconds() < end; ++i) {
    const double start = seconds();
    run();
    best = std::min(best, seconds() - start);
  }
  return best;
}

MemoryRegion allocate(size_t bytes) {
  Result<MemoryRegion> region = MemoryRegion::allocate(bytes);
  if (!region.ok()) {
    std::fprintf(stderr, "%s\n", region.error().message.c_str());
    std::exit(1);
  }
  region.value().fault_in(0, bytes);
  return std::move(region.value());
}

int32_t dot_product_run(Isa isa, int64_t n_steps) {
  switch (isa) {
    case Isa::kScalar:
      return scalar::dot_product_run(n_steps);
    case Isa::kAvx2:
      return avx2::dot_product_run(n_steps);
    case Isa::kAvx512:
      return avx512::dot_product_run(n_steps);
    case Isa::kAvx512Vnni:
      return avx512vnni::dot_product_run(n_steps);
  }
  return 0;
}

double dot_peak_gops(ThreadPool& pool, Isa isa) {
  const int64_t n_steps = isa == Isa::kScalar ? 1000 : 20000;
  std::vector<int32_t> sums(static_cast<size_t>(pool.size()));
  const double time = best_time([&] {
    pool.run(pool.size(),
             [&](int64_t tile, int) { sums[static_cast<size_t>(tile)] = dot_product_run(isa, n_steps); });
  });
  return static_cast<double>(pool.size() * n_steps * kDotChains) * 128 / time / 1e9;
}

double read_gb_per_second(ThreadPool& pool, const std::byte* data, size_t bytes) {
  constexpr size_t kChunk = 1 << 20;
  std::vector<uint64_t> sums(static_cast<size_t>(pool.size()) * 8);
  const double time = best_time([&] {
    pool.run(static_cast<int64_t>(bytes / kChunk), [&](int64_t tile, int thread) {
      const auto* words = reinterpret_cast<const uint64_t*>(data + static_cast<size_t>(tile) * kChunk);
      uint64_t sum[8] = {};
      for (size_t i = 0; i < kChunk / 8; i += 8) {
        for (size_t j = 0; j < 8; ++j) sum[j] += words[i + j];
      }
      for (size_t j = 0; j < 8; ++j) sums[static_cast<size_t>(thread) * 8 + j] += sum[j];
    });
  });
  return static_cast<double>(bytes / kChunk * kChunk) / time / 1e9;
}

struct Shape {
  int64_t n, k, m;
};

double layer_time(ThreadPool& pool, const KernelTable& table, const PackedFormat& format,
                  const std::byte* weights, const Shape& shape) {
  const auto [n, k, m] = shape;
  MemoryRegion x = allocate(static_cast<size_t>(m * k) * sizeof(float));
  MemoryRegion out = allocate(static_cast<size_t>(m * n) * sizeof(float));
  MemoryRegion quantized = allocate(activation_bytes(format.activation, m, k));
  auto* values = reinterpret_cast<float*>(x.data());
  for (int64_t i = 0; i < m * k; ++i) values[i] = static_cast<float>(i * 7919 % 2001 - 1000) * 0.001f;
  LinearArgs args = {.weights = weights,
                     .n = n,
                     .k = k,
                     .activations = x.data(),
                     .ld_activations = k,
                     .m = m,
                     .out = reinterpret_cast<float*>(out.data()),
                     .ld_out = n};
  if (format.activation != ActivationKind::kF32) {
    table.linear.quantize({.x = values, .ld_x = k, .out = quantized.data(), .m = m, .k = k}, 0, m);
    args.activations = quantized.data();
  }
  const LinearKernel& kernel = linear_kernel(table, format);
  const int64_t per_tile = groups_per_tile(format, n, k, m, pool.size());
  const int64_t groups = n_groups(n);
  return best_time([&] {
    pool.run((groups + per_tile - 1) / per_tile, [&](int64_t tile, int) {
      kernel.run(args, tile * per_tile, std::min(groups, (tile + 1) * per_tile));
    });
  });
}

void bench_format(ThreadPool& pool, const Options& options, const PackedFormat& format, ElementType type,
                  const MemoryRegion& memory) {
  const int64_t k = 1536;
  const size_t group_bytes = format.group_bytes(k);
  const auto groups = static_cast<int64_t>(memory.size() / group_bytes);
  // One group of zero blocks stands for all: speed does not depend on values.
  const std::vector<std::byte> blocks(static_cast<size_t>(k) * kGroupRows * 4);
  const TensorView view = {.type = type, .dims = {k, kGroupRows, 1, 1}, .data = blocks.data()};
  for (int64_t g = 0; g < groups; ++g) {
    std::byte* at = memory.data() + static_cast<size_t>(g) * group_bytes;
    if (g == 0) {
      format.pack_group(view, 0, at);
    } else {
      std::memcpy(at, memory.data(), group_bytes);
    }
  }
  const double read = read_gb_per_second(pool, memory.data(), memory.size());
  const double peak = dot_peak_gops(pool, options.isa);
  std::printf("%-12s read %5.1f GB/s, dot %6.0f GOPS\n", format.name, read, peak);
  for (const int64_t m : {1, 4, 16, 64, 512}) {
    const int64_t used = m < 16 ? groups : std::min<int64_t>(groups, m < 512 ? 560 : 96);
    const Shape shape = {used * kGroupRows, k, m};
    const double time = layer_time(pool, kernel_table(options.isa), format, memory.data(), shape);
    const double gb = static_cast<double>(used) * static_cast<double>(group_bytes) / time / 1e9;
    const double gops = 2.0 * static_cast<double>(shape.n * shape.k * m) / time / 1e9;
    std::printf("  m %4lld  %8.3f ms  %6.1f GB/s (%3.0f%%)  %7.1f GOPS (%3.0f%%)\n",
                static_cast<long long>(m), time * 1e3, gb, 100 * gb / read, gops, 100 * gops / peak);
  }
}

Result<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool has_value = i + 1 < argc;
    if (argument == "--isa" && has_value) {
      Result<Isa> isa = choose_isa(argv[++i]);
      if (!isa.ok()) return isa.error();
      options.isa = isa.value();
    } else if (argument == "--threads" && has_value) {
      options.n_threads = std::max(1, std::atoi(argv[++i]));
    } else if (argument == "--mb" && has_value) {
      options.megabytes = static_cast<size_t>(std::max(16, std::atoi(argv[++i])));
    } else {
      options.formats.push_back(argument);
    }
  }
  return options;
}

int run(int argc, char** argv) {
  const Result<Options> parsed = parse(argc, argv);
  if (!parsed.ok()) {
    std::fprintf(stderr, "%s\n", parsed.error().message.c_str());
    return 1;
  }
  const Options& options = parsed.value();
  ThreadPool pool(options.n_threads);
  const MemoryRegion memory = allocate(options.megabytes << 20);
  std::printf("isa %s, %d threads, %zu MB\n", isa_name(options.isa), options.n_threads, options.megabytes);
  std::vector<const PackedFormat*> seen;  // several types share one
  for (const ElementTypeInfo& info : element_types()) {
    const PackedFormat* format = packed_format(info.type, ActivationSetting::kInt8);
    if (format == nullptr) continue;
    if (std::count(seen.begin(), seen.end(), format) != 0) continue;
    seen.push_back(format);
    const auto& wanted = options.formats;
    if (!wanted.empty() && std::count(wanted.begin(), wanted.end(), format->name) == 0) continue;
    bench_format(pool, options, *format, info.type, memory);
  }
  return 0;
}

}  // namespace
}  // namespace quire::kernels

int main(int argc, char** argv) { return quire::kernels::run(argc, argv); }
