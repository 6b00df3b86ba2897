#include "kernels/row_ops.h"

#include "kernels/row_ops/families.h"

namespace quire::kernels::QUIRE_ISA {

RowOps row_ops() {
  const NormOps norm = norm_ops();
  const ElementwiseOps elementwise = elementwise_ops();
  const ActivationOps activation = activation_ops();
  const RopeOps rope = rope_ops();
  const SelectionOps selection = selection_ops();
  const RoutingOps routing = routing_ops();
  return {
      .rms_norm = norm.rms_norm,
      .l2_norm = norm.l2_norm,
      .layer_norm = norm.layer_norm,
      .add_rms_norm = norm.add_rms_norm,
      .add = elementwise.add,
      .add_bias = elementwise.add_bias,
      .scale = elementwise.scale,
      .softcap = elementwise.softcap,
      .activation = activation.activation,
      .gated_activation = activation.gated_activation,
      .clamped_swiglu = activation.clamped_swiglu,
      .gate_rows = activation.gate_rows,
      .rope_table = rope.rope_table,
      .rope = rope.rope,
      .argmax = selection.argmax,
      .copy_rows = selection.copy_rows,
      .route = routing.route,
      .combine = routing.combine,
  };
}

}  // namespace quire::kernels::QUIRE_ISA
