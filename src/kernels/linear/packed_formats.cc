// Which packed format each element type uses, and the sizes the planner asks for.

#include "kernels/linear/packed_formats.h"

#include "kernels/activation_tiles.h"
#include "kernels/linear/activation_layout.h"

namespace quire::kernels {
namespace {

const PackedFormat* int8_format(ElementType type) {
  switch (type) {
    case ElementType::kQ4_0:
      return &kPackedQ4_0;
    case ElementType::kQ4_1:
      return &kPackedQ4_1;
    case ElementType::kQ5_0:
      return &kPackedQ5_0;
    case ElementType::kQ5_1:
      return &kPackedQ5_1;
    case ElementType::kQ8_0:
      return &kPackedQ8_0;
    case ElementType::kIQ4_NL:
      return &kPackedIQ4_NL;
    case ElementType::kMXFP4:
      return &kPackedMXFP4;
    case ElementType::kQ4_K:
      return &kPackedQ4_K;
    case ElementType::kQ5_K:
      return &kPackedQ5_K;
    case ElementType::kQ6_K:
      return &kPackedQ6_K;
    case ElementType::kQ2_K:
      return &kPackedQ2_K;
    case ElementType::kQ3_K:
      return &kPackedQ3_K;
    case ElementType::kIQ4_XS:
      return &kPackedIQ4_XS;
    case ElementType::kNVFP4:
      return &kPackedNVFP4;
    case ElementType::kIQ1_S:
    case ElementType::kIQ1_M:
    case ElementType::kIQ2_XXS:
    case ElementType::kIQ2_XS:
    case ElementType::kIQ2_S:
    case ElementType::kIQ3_XXS:
    case ElementType::kIQ3_S:
    case ElementType::kTQ1_0:
    case ElementType::kTQ2_0:
    case ElementType::kQ1_0:
    case ElementType::kQ2_0:
      return &kPackedI8x16;
    default:
      return nullptr;
  }
}

}  // namespace

const PackedFormat* packed_format(ElementType type, ActivationSetting setting) {
  switch (type) {
    case ElementType::kF32:
      return &kPackedF32;
    case ElementType::kF16:
      return &kPackedF16;
    case ElementType::kBF16:
      return &kPackedBF16;
    default:
      break;
  }
  const PackedFormat* format = int8_format(type);
  if (format == nullptr || setting == ActivationSetting::kInt8) return format;
  return &kPackedF32;
}

int64_t activation_tiles(int64_t m) { return row_tiles(m).count; }

size_t activation_bytes(ActivationKind kind, int64_t m, int64_t k) {
  const auto bytes = static_cast<size_t>(m * activation_row_bytes(kind, k));
  return (bytes + 63) / 64 * 64;
}

}  // namespace quire::kernels
