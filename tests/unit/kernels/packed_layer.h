// A linear layer for tests: its packed weights, and runs of it on any ISA. All that kernels read ends at an
// unreadable page. A layer is for one thread.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "guarded_bytes.h"
#include "kernels/kernel_table.h"
#include "kernels/linear.h"
#include "linear_cases.h"

namespace quire::kernels {

inline constexpr float kUntouched = 12345.0f;

// How the groups of a layer are dealt out: [0, split) after the rest, or one group to each of a few threads
// at a time.
struct Work {
  int64_t split = 0;
  int n_threads = 1;
};

class PackedLayer {
 public:
  PackedLayer(const TensorView& weights, ActivationSetting setting)
      : format_(*packed_format(weights.type, setting)),
        n_(weights.n_rows()),
        k_(weights.n_cols()),
        packed_(pack(format_, weights)) {}

  // Outputs of the first m rows of x, with kUntouched behind the columns of every row.
  std::vector<float> run(Isa isa, const std::vector<float>& x, int64_t m, Work work = {}) const {
    const KernelTable& table = kernel_table(isa);
    const LinearKernel& kernel = linear_kernel(table, format_);
    EXPECT_EQ(kernel.isa, isa);
    const auto n_x = static_cast<size_t>(m * k_), n_out = static_cast<size_t>(m * ld_out());
    auto* rows = reinterpret_cast<float*>(rows_.last(n_x * sizeof(float)));
    auto* out = reinterpret_cast<float*>(out_.last(n_out * sizeof(float)));
    std::copy_n(x.data(), n_x, rows);
    std::fill_n(out, n_out, kUntouched);
    LinearArgs args = {.weights = packed_->data(),
                       .n = n_,
                       .k = k_,
                       .activations = reinterpret_cast<const std::byte*>(rows),
                       .ld_activations = k_,
                       .m = m,
                       .out = out,
                       .ld_out = ld_out()};
    if (format_.activation != ActivationKind::kF32) {
      const size_t n_quantized = activation_bytes(format_.activation, m, k_);
      std::byte* quantized = quantized_.last(n_quantized);
      std::fill_n(quantized, n_quantized, std::byte{0xa5});
      const QuantizeArgs quantize = {.x = rows, .ld_x = k_, .out = quantized, .m = m, .k = k_};
      table.linear.quantize(quantize, m / 2, m);
      table.linear.quantize(quantize, 0, m / 2);
      args.activations = quantized;
    }
    run_groups(kernel, args, work);
    return {out, out + n_out};
  }
  int64_t ld_out() const { return n_ + 3; }

 private:
  // Guarded memory that grows with what is asked for; mapping it anew for every run takes most of the time.
  class Guarded {
   public:
    std::byte* last(size_t n) {
      if (memory_ == nullptr || n > size_) memory_ = std::make_unique<GuardedBytes>(size_ = n);
      return memory_->last<std::byte>(n);
    }

   private:
    size_t size_ = 0;
    std::unique_ptr<GuardedBytes> memory_;
  };

  static std::unique_ptr<GuardedBytes> pack(const PackedFormat& format, const TensorView& weights) {
    const int64_t groups = n_groups(weights.n_rows());
    const size_t group_bytes = format.group_bytes(weights.n_cols());
    EXPECT_EQ(group_bytes % 64, 0u);
    auto packed = std::make_unique<GuardedBytes>(static_cast<size_t>(groups) * group_bytes);
    for (int64_t g = 0; g < groups; ++g) {
      format.pack_group(weights, g, packed->data() + static_cast<size_t>(g) * group_bytes);
    }
    return packed;
  }

  void run_groups(const LinearKernel& kernel, const LinearArgs& args, Work work) const {
    if (work.n_threads == 1) {
      kernel.run(args, work.split, n_groups(n_));
      kernel.run(args, 0, work.split);
      return;
    }
    std::vector<std::thread> threads;
    for (int t = 0; t < work.n_threads; ++t) {
      threads.emplace_back([&, t] {
        for (int64_t g = t; g < n_groups(n_); g += work.n_threads) kernel.run(args, g, g + 1);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  const PackedFormat& format_;
  int64_t n_, k_;
  std::unique_ptr<GuardedBytes> packed_;
  mutable Guarded rows_, quantized_, out_;
};

// Compares with the first m rows and n columns of the reference.
inline void expect_equal(const std::vector<float>& out, int64_t ld_out, const std::vector<float>& reference,
                         int64_t ld_reference, int64_t m, int64_t n) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const float got = out[static_cast<size_t>(i * ld_out + j)];
      const float want = reference[static_cast<size_t>(i * ld_reference + j)];
      ASSERT_TRUE(same_value(got, want)) << "row " << i << " of " << m << ", column " << j << " of " << n
                                         << ": " << got << " instead of " << want;
    }
    for (int64_t j = n; j < ld_out; ++j) {
      ASSERT_EQ(out[static_cast<size_t>(i * ld_out + j)], kUntouched) << "row " << i << " column " << j;
    }
  }
}

struct Layer {
  ElementType type;
  ActivationSetting setting;
};

inline std::vector<Layer> all_layers() {
  std::vector<Layer> layers;
  for (const ElementTypeInfo& info : element_types()) {
    const PackedFormat* int8 = packed_format(info.type, ActivationSetting::kInt8);
    const PackedFormat* exact = packed_format(info.type, ActivationSetting::kF32);
    if (int8 != nullptr) layers.push_back({info.type, ActivationSetting::kInt8});
    if (exact != nullptr && exact != int8) layers.push_back({info.type, ActivationSetting::kF32});
  }
  return layers;
}

inline std::string layer_name(const testing::TestParamInfo<Layer>& info) {
  return std::string(element_type_info(info.param.type).name) +
         (info.param.setting == ActivationSetting::kF32 ? "_exact" : "");
}

}  // namespace quire::kernels
