#include "kernels/kernel_table.h"

#include "base/check.h"
#include "kernels/attention/attention_ops.h"
#include "kernels/linear/linear_ops.h"
#include "kernels/recurrent/recurrent_ops.h"
#include "kernels/row_ops/getters.h"

namespace quire::kernels {

// The getters of an ISA are compiled with its instructions, so a table is built only when its ISA is asked
// for.
const KernelTable& kernel_table(Isa isa) {
  QUIRE_CHECK(isa_supported(isa));
  switch (isa) {
    case Isa::kScalar: {
      static const KernelTable table = {isa,
                                        scalar::row_ops(),
                                        scalar::attention_ops(),
                                        scalar::latent_attention_ops(),
                                        scalar::linear_ops(),
                                        scalar::recurrent_ops()};
      return table;
    }
    case Isa::kAvx2: {
      static const KernelTable table = {isa,
                                        avx2::row_ops(),
                                        avx2::attention_ops(),
                                        avx2::latent_attention_ops(),
                                        avx2::linear_ops(),
                                        avx2::recurrent_ops()};
      return table;
    }
    case Isa::kAvx512: {
      static const KernelTable table = {isa,
                                        avx512::row_ops(),
                                        avx512::attention_ops(),
                                        avx512::latent_attention_ops(),
                                        avx512::linear_ops(),
                                        avx512::recurrent_ops()};
      return table;
    }
    case Isa::kAvx512Vnni: {
      static const KernelTable table = {isa,
                                        avx512vnni::row_ops(),
                                        avx512vnni::attention_ops(),
                                        avx512vnni::latent_attention_ops(),
                                        avx512vnni::linear_ops(),
                                        avx512vnni::recurrent_ops()};
      return table;
    }
    // Tiles of the processor multiply in linear layers; all else is AVX-512's.
    case Isa::kAmx: {
      static const KernelTable table = {isa,
                                        avx512vnni::row_ops(),
                                        avx512vnni::attention_ops(),
                                        avx512vnni::latent_attention_ops(),
                                        amx::linear_ops(),
                                        avx512vnni::recurrent_ops()};
      return table;
    }
  }
  check_failed(__FILE__, __LINE__, "isa", "not a known instruction set");
}

const AttentionOps& attention_kernels(const KernelTable& table, KvForm form) {
  return form == KvForm::kLatent ? table.latent_attention : table.attention;
}

const LinearKernel& linear_kernel(const KernelTable& table, const PackedFormat& format) {
  for (const LinearKernel& kernel : table.linear.kernels) {
    if (kernel.format == &format) return kernel;
  }
  check_failed(__FILE__, __LINE__, "format has a kernel", format.name);
}

}  // namespace quire::kernels
