// WeightStore: the weights of a program in the form its kernels read.
//
// Owns one region with every packed matrix and f32 vector; tables stay views into the source, which must
// outlive the store. Loading repacks in parallel; source rows are released soon after they have been packed,
// so that no more than some 4 MB a thread are ever held twice. A dry store knows the bytes and holds
// nothing. Immutable after load(); thread safe to read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "base/memory_region.h"
#include "base/result.h"
#include "base/thread_pool.h"
#include "graph/program.h"

namespace quire::graph {

// Called from the loading thread with bytes packed so far and in all; false cancels the load (kCancelled).
using LoadProgress = FunctionRef<bool(size_t done, size_t total)>;

class WeightStore {
 public:
  // Bytes load() will own for `program`.
  static size_t plan_bytes(const Program& program);

  // Errors: kResourceExhausted, kCancelled.
  static Result<WeightStore> load(const Program& program, const WeightSource& source, ThreadPool& pool,
                                  LoadProgress progress);

  // kLinear: the first of the declaration's matrices; the others follow, packed_bytes() apart.
  const std::byte* packed(WeightId id) const { return region_.data() + offsets_[index(id)]; }
  const float* vector(WeightId id) const {
    return reinterpret_cast<const float*>(region_.data() + offsets_[index(id)]);
  }                                                                          // kVector, kTransposed
  const TensorView& table(WeightId id) const { return tables_[index(id)]; }  // kTable
  size_t bytes() const { return region_.size(); }

 private:
  static size_t index(WeightId id) { return static_cast<size_t>(id.id); }
  MemoryRegion region_;
  std::vector<size_t> offsets_;     // by weight id
  std::vector<TensorView> tables_;  // by weight id
};

}  // namespace quire::graph
