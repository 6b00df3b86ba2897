#include "kernels/isa.h"

#include <string>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace quire {
namespace {

struct IsaName {
  Isa isa;
  const char* name;
};
constexpr IsaName kNames[] = {
    {Isa::kScalar, "scalar"},         {Isa::kAvx2, "avx2"}, {Isa::kAvx512, "avx512"},
    {Isa::kAvx512Vnni, "avx512vnni"}, {Isa::kAmx, "amx"},
};

#if defined(__x86_64__)

// What the processor says it can do, and which registers the operating system saves.
struct CpuFeatures {
  uint32_t leaf1_ecx = 0;
  uint32_t leaf7_ebx = 0;
  uint32_t leaf7_ecx = 0;
  uint32_t leaf7_edx = 0;
  uint64_t saved_state = 0;  // XCR0
};

CpuFeatures read_cpu_features() {
  CpuFeatures features;
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0) features.leaf1_ecx = ecx;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) {
    features.leaf7_ebx = ebx;
    features.leaf7_ecx = ecx;
    features.leaf7_edx = edx;
  }
  constexpr uint32_t kOsxsave = 1u << 27;
  if ((features.leaf1_ecx & kOsxsave) != 0) {
    uint32_t low = 0, high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    features.saved_state = static_cast<uint64_t>(high) << 32 | low;
  }
  return features;
}

template <typename T>
bool has_all(T value, T bits) {
  return (value & bits) == bits;
}

bool has_avx2(const CpuFeatures& cpu) {
  constexpr uint32_t kFma = 1u << 12, kAvx = 1u << 28, kF16c = 1u << 29;  // leaf 1, ecx
  constexpr uint32_t kAvx2 = 1u << 5, kBmi2 = 1u << 8;                    // leaf 7, ebx
  constexpr uint64_t kXmmYmm = 0x6;
  return has_all(cpu.leaf1_ecx, kFma | kAvx | kF16c) && has_all(cpu.leaf7_ebx, kAvx2 | kBmi2) &&
         has_all(cpu.saved_state, kXmmYmm);
}

bool has_avx512(const CpuFeatures& cpu) {
  constexpr uint32_t kF = 1u << 16, kDq = 1u << 17, kBw = 1u << 30, kVl = 1u << 31;  // leaf 7, ebx
  constexpr uint64_t kMasksAndZmm = 0xe0;
  return has_avx2(cpu) && has_all(cpu.leaf7_ebx, kF | kDq | kBw | kVl) &&
         has_all(cpu.saved_state, kMasksAndZmm);
}

// Tiles also need the system's leave, asked for once per process: their state is 8 kB per thread.
bool has_amx(const CpuFeatures& cpu) {
  constexpr uint32_t kTile = 1u << 24, kInt8 = 1u << 25;  // leaf 7, edx
  constexpr uint64_t kTileState = 0x60000;
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // arch_prctl(ARCH_REQ_XCOMP_PERM, ...)
  return has_all(cpu.leaf7_edx, kTile | kInt8) && has_all(cpu.saved_state, kTileState) &&
         syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

bool detect(Isa isa) {
  const CpuFeatures cpu = read_cpu_features();
  constexpr uint32_t kVnni = 1u << 11;  // leaf 7, ecx
  switch (isa) {
    case Isa::kScalar:
      return true;
    case Isa::kAvx2:
      return has_avx2(cpu);
    case Isa::kAvx512:
      return has_avx512(cpu);
    case Isa::kAvx512Vnni:
      return has_avx512(cpu) && has_all(cpu.leaf7_ecx, kVnni);
    case Isa::kAmx:
      return has_avx512(cpu) && has_all(cpu.leaf7_ecx, kVnni) && has_amx(cpu);
  }
  return false;
}

#else

bool detect(Isa isa) { return isa == Isa::kScalar; }

#endif

std::string names_of(std::span<const Isa> isas) {
  std::string names;
  for (Isa isa : isas) {
    if (!names.empty()) names += ", ";
    names += isa_name(isa);
  }
  return names;
}

}  // namespace

const char* isa_name(Isa isa) {
  for (const IsaName& entry : kNames) {
    if (entry.isa == isa) return entry.name;
  }
  return "?";
}

std::span<const Isa> supported_isas() {
  static const std::vector<Isa> supported = [] {
    std::vector<Isa> isas;
    for (const IsaName& entry : kNames) {
      if (detect(entry.isa)) isas.push_back(entry.isa);
    }
    return isas;
  }();
  return supported;
}

bool isa_supported(Isa isa) {
  for (Isa supported : supported_isas()) {
    if (supported == isa) return true;
  }
  return false;
}

Result<Isa> choose_isa(std::string_view name) {
  if (name == "auto") return supported_isas().back();
  for (const IsaName& entry : kNames) {
    if (name != entry.name) continue;
    if (isa_supported(entry.isa)) return entry.isa;
    return make_error(ErrorCode::kUnsupported,
                      "instruction set {} is not available here; this machine has {}", name,
                      names_of(supported_isas()));
  }
  return make_error(ErrorCode::kInvalidArgument,
                    "unknown instruction set '{}'; expected auto, scalar, avx2, avx512, avx512vnni or amx",
                    name);
}

}  // namespace quire
