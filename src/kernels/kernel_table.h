// The kernel table: what every ISA implements, as data. Tests and benches enumerate it, the executor picks
// from it.
//
// Constant data; thread safe.
#pragma once

#include "kernels/attention.h"
#include "kernels/isa.h"
#include "kernels/linear.h"
#include "kernels/recurrent.h"
#include "kernels/row_ops.h"

namespace quire::kernels {

struct KernelTable {
  Isa isa;
  RowOps rows;
  AttentionOps attention;
  AttentionOps latent_attention;
  LinearOps linear;
  RecurrentOps recurrent;
};

// The table of one ISA; running it on a machine without that ISA is a programmer error.
const KernelTable& kernel_table(Isa isa);

// The attention kernels of a form of keys and values.
const AttentionOps& attention_kernels(const KernelTable& table, KvForm form);

// The kernel of a format in a table; every table has one for each format.
const LinearKernel& linear_kernel(const KernelTable& table, const PackedFormat& format);

}  // namespace quire::kernels
