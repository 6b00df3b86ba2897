// Values treated head by head: a layer with a matrix a head has the bits of as many layers with one.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "graph/cpu_device.h"
#include "graph/cpu_executor.h"
#include "unit/graph/memory_source.h"
#include "unit/graph/output_rows.h"

namespace quire::graph {
namespace {

using kernels::ActivationPlanes;
using testing::MemorySource;
using testing::output_rows;

constexpr int64_t kVocab = 24, kHeads = 3, kIn = 64, kOut = 37, kFirst = 3, kTensorRows = 42;

using Outputs = testing::OutputRows;
using Build = std::function<Value(ProgramBuilder&, Value)>;

// Rows of `build` of the embeddings [tokens, width], `chunk` tokens at a time.
Outputs run(const MemorySource& source, int64_t width, ActivationPlanes planes, size_t chunk,
            const Build& build) {
  const std::vector<int32_t> tokens = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9};
  ProgramBuilder b(source, kernels::ActivationSetting::kInt8);
  b.set_planes(planes);
  const Value x = b.embed("embd" + std::to_string(width), kVocab, width);
  const Value y = b.select_outputs(build(b, x));
  const Program program = std::move(b).finish(y).value();
  return output_rows(program, source, "auto",
                     {.n_threads = 2, .kv = {}, .limits = {.max_tokens = 16, .max_outputs = 16}}, tokens,
                     chunk);
}

class HeadsTest : public ::testing::Test {
 protected:
  // "heads": kTensorRows rows a head; "head.N": the kOut of them that count; "back.N": these as columns,
  // exact.
  void add_tensors(ElementType type) {
    source.add_random("embd" + std::to_string(kHeads * kIn), {kHeads * kIn, kVocab});
    source.add_random("embd" + std::to_string(kHeads * kOut), {kHeads * kOut, kVocab});
    std::vector<float> all(static_cast<size_t>(kHeads * kTensorRows * kIn));
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = static_cast<float>((i * 37 + i / 64) % 101) / 101 - 0.45f;
    source.add("heads", {kIn, kTensorRows, kHeads}, all, type);
    source.add("heads.flat", {kIn, kTensorRows * kHeads}, all, type);
    const TensorView stored = *source.find("heads");
    std::vector<float> decoded(all.size());
    element_type_info(type).decode(stored.data, decoded.data(), stored.n_elems());
    for (int64_t head = 0; head < kHeads; ++head) {
      const int64_t first = (head * kTensorRows + kFirst) * kIn;
      source.add("head." + std::to_string(head), {kIn, kOut},
                 {all.begin() + first, all.begin() + first + kOut * kIn}, type);
      std::vector<float> back;
      for (int64_t c = 0; c < kIn; ++c) {
        for (int64_t r = 0; r < kOut; ++r) back.push_back(decoded[static_cast<size_t>(first + r * kIn + c)]);
      }
      source.add("back." + std::to_string(head), {kOut, kIn}, back);
    }
  }

  // Head `head` of `whole` against a layer of its own.
  void expect_parts(const Outputs& whole, const std::string& name, int64_t k, int64_t n,
                    ActivationPlanes planes) {
    for (int64_t head = 0; head < kHeads; ++head) {
      const Outputs part = run(source, kHeads * k, planes, 15, [&](ProgramBuilder& b, Value x) {
        return b.linear(b.slice(x, head * k, k), name + "." + std::to_string(head), n);
      });
      for (size_t row = 0; row < whole.size(); ++row) {
        EXPECT_EQ(0, std::memcmp(whole[row].data() + head * n, part[row].data(), static_cast<size_t>(n) * 4))
            << name << " head " << head << " row " << row;
      }
    }
  }

  MemorySource source;
};

TEST_F(HeadsTest, ALayerWithAMatrixAHead) {
  for (const ElementType type : {ElementType::kF32, ElementType::kQ8_0, ElementType::kQ4_0}) {
    SCOPED_TRACE(element_type_info(type).name);
    add_tensors(type);
    for (const ActivationPlanes planes : {ActivationPlanes::kOne, ActivationPlanes::kTwo}) {
      for (const size_t chunk : {size_t{15}, size_t{1}, size_t{4}}) {
        for (const char* tensor : {"heads", "heads.flat"}) {
          const Outputs whole = run(source, kHeads * kIn, planes, chunk, [&](ProgramBuilder& b, Value x) {
            return b.head_linear(x, {.weight = tensor,
                                     .n_heads = kHeads,
                                     .n = kOut,
                                     .first_row = kFirst,
                                     .tensor_rows = kTensorRows});
          });
          expect_parts(whole, "head", kIn, kOut, planes);
        }
      }
    }
  }
}

TEST_F(HeadsTest, ATransposedMatrixAHeadIsExact) {
  for (const ElementType type : {ElementType::kF32, ElementType::kQ8_0}) {
    add_tensors(type);
    const Outputs whole =
        run(source, kHeads * kOut, ActivationPlanes::kOne, 4, [&](ProgramBuilder& b, Value x) {
          return b.head_linear_transposed(x, {.weight = "heads",
                                              .n_heads = kHeads,
                                              .n = kIn,
                                              .first_row = kFirst,
                                              .tensor_rows = kTensorRows});
        });
    expect_parts(whole, "back", kOut, kIn, ActivationPlanes::kOne);
  }
}

TEST_F(HeadsTest, SlicesOfHeadsJoinToTheWhole) {
  add_tensors(ElementType::kF32);
  const Outputs x =
      run(source, kHeads * kIn, ActivationPlanes::kOne, 4, [](ProgramBuilder&, Value v) { return v; });
  const Outputs joined = run(source, kHeads * kIn, ActivationPlanes::kOne, 5, [](ProgramBuilder& b, Value v) {
    return b.join_heads(b.slice_heads(v, kHeads, 0, 20), b.slice_heads(v, kHeads, 20, kIn - 20), kHeads);
  });
  EXPECT_EQ(joined, x);
  const Outputs swapped =
      run(source, kHeads * kIn, ActivationPlanes::kOne, 5, [](ProgramBuilder& b, Value v) {
        return b.join_heads(b.slice_heads(v, kHeads, 20, kIn - 20), b.slice_heads(v, kHeads, 0, 20), kHeads);
      });
  for (size_t row = 0; row < x.size(); ++row) {
    for (size_t head = 0; head < kHeads; ++head) {
      EXPECT_EQ(swapped[row][head * kIn], x[row][head * kIn + 20]);
      EXPECT_EQ(swapped[row][head * kIn + kIn - 20], x[row][head * kIn]);
    }
  }
}

}  // namespace
}  // namespace quire::graph
