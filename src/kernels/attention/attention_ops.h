// The attention kernels of each ISA; kernel_table.cc collects them. Constant data, thread safe.
#pragma once

#include "kernels/attention.h"

namespace quire::kernels {

namespace scalar {
AttentionOps attention_ops();
AttentionOps latent_attention_ops();
}  // namespace scalar
namespace avx2 {
AttentionOps attention_ops();
AttentionOps latent_attention_ops();
}  // namespace avx2
namespace avx512 {
AttentionOps attention_ops();
AttentionOps latent_attention_ops();
}  // namespace avx512
namespace avx512vnni {
AttentionOps attention_ops();
AttentionOps latent_attention_ops();
}  // namespace avx512vnni

}  // namespace quire::kernels
