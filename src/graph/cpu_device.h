// CpuDevice: the processor as a place to run programs: an instruction set, its kernels, and a pool of
// threads.
//
// Owns the pool. Choices are made by name and checked here, so that callers above need not know the kernels.
// The pool runs one program step at a time.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "graph/cpu_executor.h"
#include "kernels/kernel_table.h"

namespace quire::graph {

using kernels::ActivationSetting;
using kernels::KvType;

class CpuDevice {
 public:
  // isa: "auto" or a name; n_threads 0 = one per physical core this process may use.
  // Errors: kInvalidArgument, kUnsupported.
  static Result<CpuDevice> create(std::string_view isa, int n_threads);

  // The same choices without starting threads, for planning.
  static Result<CpuDevice> create_dry(std::string_view isa, int n_threads);

  // Names of the instruction sets this machine can run, slowest first.
  static std::vector<std::string> isas();

  const kernels::KernelTable& kernels() const { return *kernels_; }
  const char* isa() const { return isa_name(kernels_->isa); }
  ThreadPool& pool() const { return *pool_; }  // not on a dry device
  ThreadPool* pool_or_null() const { return pool_.get(); }
  int n_threads() const { return n_threads_; }

 private:
  const kernels::KernelTable* kernels_ = nullptr;
  std::unique_ptr<ThreadPool> pool_;
  int n_threads_ = 1;
};

// Joins one layer of a program to the pages that memory gave it.
KvBinding bind_kv(const KvLayer& layer, KvType type, std::byte* pages, size_t page_stride);

// Bytes of one stored key or value element.
int32_t kv_element_bytes(KvType type);

// "f16", "bf16", "f32". Errors: kInvalidArgument listing the names.
Result<KvType> parse_kv_type(std::string_view name);
const char* kv_type_name(KvType type);

// "int8", "f32". Errors: kInvalidArgument listing the names.
Result<ActivationSetting> parse_activations(std::string_view name);
const char* activations_name(ActivationSetting setting);

}  // namespace quire::graph
