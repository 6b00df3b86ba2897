#include "graph/cpu_device.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

namespace quire::graph {
namespace {

// More threads than this on one machine is a typing error.
constexpr int kMaxThreads = 1024;

// Physical cores among the processors this process may run on: SMT siblings share a core's pipes and add
// nothing here.
int physical_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 1;
  std::set<std::string> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    std::ifstream siblings(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
    std::string list;
    if (!std::getline(siblings, list)) list = std::to_string(cpu);
    cores.insert(list);
  }
  return std::max(1, static_cast<int>(cores.size()));
}

}  // namespace

Result<CpuDevice> CpuDevice::create_dry(std::string_view isa, int n_threads) {
  if (n_threads < 0 || n_threads > kMaxThreads) {
    return make_error(ErrorCode::kInvalidArgument,
                      "{} threads asked for, expected 1 to {} (0 = one per core)", n_threads, kMaxThreads);
  }
  QUIRE_ASSIGN_OR_RETURN(const Isa chosen, choose_isa(isa));
  CpuDevice device;
  device.kernels_ = &kernels::kernel_table(chosen);
  device.n_threads_ = n_threads == 0 ? physical_cores() : n_threads;
  return device;
}

std::vector<std::string> CpuDevice::isas() {
  std::vector<std::string> names;
  for (const Isa isa : supported_isas()) names.emplace_back(isa_name(isa));
  return names;
}

Result<CpuDevice> CpuDevice::create(std::string_view isa, int n_threads) {
  QUIRE_ASSIGN_OR_RETURN(CpuDevice device, create_dry(isa, n_threads));
  QUIRE_ASSIGN_OR_RETURN(device.pool_, ThreadPool::create(device.n_threads_));
  return device;
}

KvBinding bind_kv(const KvLayer& layer, KvType type, std::byte* pages, size_t page_stride) {
  return {.layout = {.type = type,
                     .form = layer.form,
                     .n_head_kv = layer.n_head_kv,
                     .d_k = layer.d_k,
                     .d_v = layer.d_v},
          .pages = pages,
          .page_stride = page_stride};
}

int32_t kv_element_bytes(KvType type) { return type == KvType::kF32 ? 4 : 2; }

Result<KvType> parse_kv_type(std::string_view name) {
  if (name == "f16") return KvType::kF16;
  if (name == "bf16") return KvType::kBF16;
  if (name == "f32") return KvType::kF32;
  return make_error(ErrorCode::kInvalidArgument, "KV type \"{}\" is unknown, expected f16, bf16 or f32",
                    name);
}

const char* kv_type_name(KvType type) {
  return type == KvType::kF32 ? "f32" : type == KvType::kF16 ? "f16" : "bf16";
}

Result<ActivationSetting> parse_activations(std::string_view name) {
  if (name == "int8") return ActivationSetting::kInt8;
  if (name == "f32") return ActivationSetting::kF32;
  return make_error(ErrorCode::kInvalidArgument, "activation type \"{}\" is unknown, expected int8 or f32",
                    name);
}

const char* activations_name(ActivationSetting setting) {
  return setting == ActivationSetting::kInt8 ? "int8" : "f32";
}

}  // namespace quire::graph
