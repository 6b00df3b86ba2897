// The row operation families of one ISA: each *.kern.cc here exports one of these, row_ops.kern.cc joins
// them.
#pragma once

#include "kernels/row_ops.h"

#if !defined(QUIRE_ISA)
#error "kernels/row_ops/families.h is for *.kern.cc files, which quire_kernels() compiles once per ISA"
#endif

namespace quire::kernels::QUIRE_ISA {

struct NormOps {
  RowFn<RmsNormArgs> rms_norm;
  RowFn<L2NormArgs> l2_norm;
  RowFn<LayerNormArgs> layer_norm;
  RowFn<AddRmsNormArgs> add_rms_norm;
};
struct ElementwiseOps {
  RowFn<AddArgs> add;
  RowFn<AddBiasArgs> add_bias;
  RowFn<ScaleArgs> scale;
  RowFn<SoftcapArgs> softcap;
};
struct ActivationOps {
  RowFn<ActivationArgs> activation;
  RowFn<GatedActivationArgs> gated_activation;
  RowFn<ClampedSwigluArgs> clamped_swiglu;
  RowFn<GateRowsArgs> gate_rows;
};
struct RopeOps {
  RowFn<RopeTableArgs> rope_table;
  RowFn<RopeArgs> rope;
};
struct SelectionOps {
  RowFn<ArgmaxArgs> argmax;
  RowFn<CopyRowsArgs> copy_rows;
};
struct RoutingOps {
  RowFn<RouteArgs> route;
  RowFn<CombineArgs> combine;
};

NormOps norm_ops();
ElementwiseOps elementwise_ops();
ActivationOps activation_ops();
RopeOps rope_ops();
SelectionOps selection_ops();
RoutingOps routing_ops();

// All of them: what kernel_table.cc takes from this ISA.
RowOps row_ops();

}  // namespace quire::kernels::QUIRE_ISA
