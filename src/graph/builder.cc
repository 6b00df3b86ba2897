#include "graph/builder.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace quire::graph {

void ProgramBuilder::fail(Error error) {
  if (!error_) error_ = std::move(error);
}

Value ProgramBuilder::new_value(Rows rows, int64_t cols, DataType type) {
  program_.values.push_back({.rows = rows, .cols = cols, .type = type});
  return Value{static_cast<int32_t>(program_.values.size() - 1)};
}

Value ProgramBuilder::new_value_like(Value x) {
  const ValueInfo in = info(x);
  QUIRE_CHECK(in.type == DataType::kF32);
  return new_pairs(in.rows, in.n_used, in.cols);
}

Value ProgramBuilder::emit(OpAttrs attrs, std::vector<Value> inputs, std::vector<WeightId> weights,
                           Value output, std::string_view what) {
  Op op{.attrs = std::move(attrs), .inputs = std::move(inputs), .weights = std::move(weights)};
  if (output.valid()) op.outputs.push_back(output);
  op.label = label_.empty() ? std::string(what) : label_ + "." + std::string(what);
  if (output.valid()) program_.values[static_cast<size_t>(output.id)].name = op.label;
  program_.ops.push_back(std::move(op));
  return output;
}

Value ProgramBuilder::unary(OpAttrs attrs, Value x, std::vector<WeightId> weights, std::string_view what) {
  QUIRE_CHECK(info(x).n_used == 0);
  return emit(std::move(attrs), {x}, std::move(weights), new_value_like(x), what);
}

// A declaration of the tensor `name`, whose shape must be [rows, cols], or [n_matrices, rows, cols], or the
// same in two dimensions.
WeightDecl ProgramBuilder::checked_decl(const std::string& name, WeightRole role, int64_t cols, int64_t rows,
                                        int64_t n_matrices) {
  WeightDecl decl{.name = name, .role = role, .n_matrices = n_matrices};
  const TensorView* tensor = source_.find(name);
  if (tensor == nullptr) {
    fail(make_error(ErrorCode::kCorrupt, "tensor {} is missing from the model file", name));
    decl.view.dims = {cols, rows, n_matrices, 1};
  } else {
    const std::array<int64_t, 4>& dims = tensor->dims;
    // Matrices may also stand one below the other in two dimensions.
    const int64_t n_rows = dims[1] * dims[2] * dims[3];
    const bool rows_fit =
        n_rows == rows * n_matrices && (n_matrices == 1 || dims[1] == rows || dims[1] == n_rows);
    if (dims[0] != cols || !rows_fit) {
      const std::string matrices = n_matrices == 1 ? "" : fmt::format(", {}", n_matrices);
      fail(make_error(ErrorCode::kCorrupt,
                      "tensor {} has shape [{}, {}, {}, {}], expected [{}, {}{}] from the metadata", name,
                      dims[0], dims[1], dims[2], dims[3], cols, rows, matrices));
    }
    const ElementTypeInfo& type = element_type_info(tensor->type);
    if (type.decode == nullptr) {
      fail(make_error(ErrorCode::kUnsupported, "tensor {} has type {}, which cannot hold weights", name,
                      type.name));
    }
    decl.view = *tensor;
  }
  if (role == WeightRole::kLinear) {
    decl.format = kernels::packed_format(decl.view.type, activations_);
    if (decl.format == nullptr) {
      fail(make_error(ErrorCode::kUnsupported, "tensor {} has type {}, which no linear kernel takes", name,
                      element_type_info(decl.view.type).name));
      decl.format = kernels::packed_format(ElementType::kF32, activations_);
    }
  }
  return decl;
}

WeightId ProgramBuilder::add_decl(WeightDecl decl) {
  const WeightId id{static_cast<int32_t>(program_.weights.size())};
  declared_.emplace(std::make_tuple(decl.name, decl.role, decl.first_row), id);
  program_.weights.push_back(std::move(decl));
  return id;
}

WeightId ProgramBuilder::declare(const std::string& name, WeightRole role, int64_t cols, int64_t rows) {
  if (auto it = declared_.find({name, role, 0}); it != declared_.end()) return it->second;
  return add_decl(checked_decl(name, role, cols, rows, 1));
}

// A vector of n values, which some files write as n rows of one.
WeightId ProgramBuilder::declare_values(const std::string& name, int64_t n) {
  const TensorView* tensor = source_.find(name);
  const bool column = tensor != nullptr && tensor->dims[0] == 1 && n > 1;
  return column ? declare(name, WeightRole::kVector, 1, n) : declare(name, WeightRole::kVector, n, 1);
}

Result<std::vector<float>> ProgramBuilder::read_values(const std::string& tensor, int64_t n) const {
  const TensorView* view = source_.find(tensor);
  if (view == nullptr)
    return make_error(ErrorCode::kCorrupt, "tensor {} is missing from the model file", tensor);
  const ElementTypeInfo& type = element_type_info(view->type);
  if (view->n_elems() != n || type.decode == nullptr) {
    return make_error(ErrorCode::kCorrupt, "tensor {} holds {} values of type {}, expected {} numbers",
                      tensor, view->n_elems(), type.name, n);
  }
  std::vector<float> values(static_cast<size_t>(n));
  type.decode(view->data, values.data(), n);
  return values;
}

Value ProgramBuilder::embed(const std::string& table, int64_t n_vocab, int64_t d, float scale) {
  const WeightId weight = declare(table, WeightRole::kTable, d, n_vocab);
  return emit(EmbedAttrs{.scale = scale}, {}, {weight}, new_value(Rows::kTokens, d), "embed");
}

Value ProgramBuilder::rms_norm(Value x, const std::string& weight, float eps, int64_t n_groups) {
  QUIRE_CHECK(n_groups > 0 && info(x).cols % n_groups == 0);
  const WeightId id = declare(weight, WeightRole::kVector, info(x).cols / n_groups, 1);
  return unary(RmsNormAttrs{.eps = eps, .n_groups = n_groups}, x, {id}, "norm");
}

Value ProgramBuilder::rms_norm_plain(Value x, float eps, int64_t n_groups) {
  QUIRE_CHECK(n_groups > 0 && info(x).cols % n_groups == 0);
  return unary(RmsNormAttrs{.eps = eps, .n_groups = n_groups}, x, {}, "norm");
}

Value ProgramBuilder::rms_norm_by_group(Value x, const std::string& weight, float eps, int64_t n_groups) {
  QUIRE_CHECK(n_groups > 0 && info(x).cols % n_groups == 0);
  const WeightId id = declare(weight, WeightRole::kVector, info(x).cols / n_groups, n_groups);
  return unary(RmsNormAttrs{.eps = eps, .n_groups = n_groups, .weights = GroupWeights::kOwn}, x, {id},
               "norm");
}

Value ProgramBuilder::l2_norm(Value x, float eps, int64_t n_groups) {
  QUIRE_CHECK(n_groups > 0 && info(x).cols % n_groups == 0);
  return unary(L2NormAttrs{.eps = eps, .n_groups = n_groups}, x, {}, "l2_norm");
}

Value ProgramBuilder::layer_norm(Value x, const std::string& weight, const std::string& bias, float eps) {
  const WeightId w = declare(weight, WeightRole::kVector, info(x).cols, 1);
  const WeightId b = bias.empty() ? WeightId{} : declare(bias, WeightRole::kVector, info(x).cols, 1);
  return unary(LayerNormAttrs{.eps = eps}, x, {w, b}, "norm");
}

Value ProgramBuilder::add(Value a, Value b, float b_scale) {
  QUIRE_CHECK(info(a).cols == info(b).cols && info(a).rows == info(b).rows);
  QUIRE_CHECK(info(a).n_used == 0 && info(b).n_used == 0);
  const ValueInfo in = info(a);
  return emit(AddAttrs{.b_scale = b_scale}, {a, b}, {}, new_value(in.rows, in.cols), "add");
}

Value ProgramBuilder::add_bias(Value x, const std::string& bias) {
  return unary(AddBiasAttrs{}, x, {declare(bias, WeightRole::kVector, info(x).cols, 1)}, "bias");
}

Value ProgramBuilder::scale(Value x, float factor) {
  return unary(ScaleAttrs{.scale = factor}, x, {}, "scale");
}
Value ProgramBuilder::softcap(Value x, float cap) {
  return unary(SoftcapAttrs{.cap = cap}, x, {}, "softcap");
}
Value ProgramBuilder::activation(Value x, kernels::Activation f) {
  return unary(ActivationAttrs{.activation = f}, x, {}, "activation");
}

Value ProgramBuilder::gated_activation(Value gate, Value up, kernels::Activation f) {
  QUIRE_CHECK(info(gate).cols == info(up).cols && info(gate).rows == info(up).rows);
  QUIRE_CHECK(info(gate).n_used == info(up).n_used);
  return emit(GatedActivationAttrs{.activation = f}, {gate, up}, {}, new_value_like(gate), "gated");
}

Value ProgramBuilder::clamped_swiglu(Value gate, Value up, const ClampedSwigluAttrs& attrs) {
  QUIRE_CHECK(info(gate).cols == info(up).cols && info(gate).rows == info(up).rows);
  QUIRE_CHECK(info(gate).n_used == info(up).n_used);
  return emit(attrs, {gate, up}, {}, new_value_like(gate), "gated");
}

Value ProgramBuilder::gate_rows(Value x, Value gate) {
  QUIRE_CHECK(info(gate).cols == 1 && info(gate).rows == info(x).rows && info(x).n_used == 0);
  return emit(GateRowsAttrs{}, {x, gate}, {}, new_value_like(x), "gate_rows");
}

Value ProgramBuilder::quantized(Value x, int64_t n_heads, DataType type) {
  const auto key = std::make_tuple(x.id, n_heads, type);
  if (auto it = quantized_.find(key); it != quantized_.end()) return it->second;
  const ValueInfo in = info(x);
  const Value rows = new_pairs(in.rows, n_heads == 1 ? 0 : n_heads, in.cols, type);
  const Value q = emit(QuantizeAttrs{}, {x}, {}, rows, "quantize");
  quantized_.emplace(key, q);
  return q;
}

// The layer of x with a declared matrix, or with one a head: [rows, cols].
Value ProgramBuilder::append_linear(Value x, WeightId weight, int64_t n_heads, int64_t cols) {
  const ValueInfo in = info(x);
  const WeightDecl& decl = program_.weights[static_cast<size_t>(weight.id)];
  // Labels follow the tensor: "blk.0.attn_q.weight" -> "blk.0.attn_q".
  const std::string label = decl.name.substr(0, decl.name.rfind(".weight"));
  const auto append = [&](OpAttrs attrs, Value input, std::vector<WeightId> weights, DataType type) {
    const std::string saved = std::exchange(label_, "");
    const Value y =
        emit(std::move(attrs), {input}, std::move(weights), new_value(in.rows, cols, type), label);
    label_ = saved;
    return y;
  };
  if (decl.format->activation == kernels::ActivationKind::kF32)
    return append(LinearAttrs{}, x, {weight}, DataType::kF32);
  if (planes_ == kernels::ActivationPlanes::kOne) {
    return append(LinearAttrs{}, quantized(x, n_heads, DataType::kQ8x32), {weight}, DataType::kF32);
  }
  const Value pair =
      append(LinearAttrs{}, quantized(x, n_heads, DataType::kQ8x32Pair), {weight}, DataType::kF32Pair);
  return append(SumPlanesAttrs{}, pair, {}, DataType::kF32);
}

Value ProgramBuilder::linear(Value x, const std::string& weight, int64_t n) {
  const ValueInfo in = info(x);
  QUIRE_CHECK(in.type == DataType::kF32 && in.n_used == 0);
  return append_linear(x, declare(weight, WeightRole::kLinear, in.cols, n), 1, n);
}

Value ProgramBuilder::linear_bias(Value x, const std::string& weight, const std::string& bias, int64_t n) {
  const Value y = linear(x, weight, n);
  return has(bias) ? add_bias(y, bias) : y;
}

Value ProgramBuilder::slice(Value x, int64_t offset, int64_t cols) {
  const ValueInfo in = info(x);
  QUIRE_CHECK(in.type == DataType::kF32 && in.n_used == 0 && offset >= 0 && offset + cols <= in.cols);
  const Value y = new_value(in.rows, cols);
  ValueInfo& view = program_.values[static_cast<size_t>(y.id)];
  view.parent = program_.root(x);
  view.offset = in.offset + offset;
  view.name = in.name;
  return y;
}

Value ProgramBuilder::rope(Value x, const RopeSpec& spec, int64_t n_heads, kernels::RopePairs pairs) {
  const ValueInfo in = info(x);
  QUIRE_CHECK(n_heads > 0 && in.cols % n_heads == 0);
  QUIRE_CHECK(static_cast<int64_t>(spec.inv_freq.size()) * 2 <= in.cols / n_heads);
  auto it = std::find(program_.ropes.begin(), program_.ropes.end(), spec);
  const auto index = static_cast<size_t>(it - program_.ropes.begin());
  if (it == program_.ropes.end()) {
    program_.ropes.push_back(spec);
    const std::string saved = std::exchange(label_, "");
    rope_tables_.push_back(emit(RopeTableAttrs{.spec = static_cast<int32_t>(index)}, {}, {},
                                new_value(Rows::kTokens, static_cast<int64_t>(spec.inv_freq.size()) * 2),
                                "rope_table"));
    label_ = saved;
  }
  const RopeAttrs attrs{.n_heads = n_heads, .d_head = in.cols / n_heads, .pairs = pairs};
  return emit(attrs, {x, rope_tables_[index]}, {}, new_value(in.rows, in.cols), "rope");
}

Value ProgramBuilder::attention(Value q, Value k, Value v, const AttentionParams& params) {
  QUIRE_CHECK(params.n_head_kv > 0 && params.n_head % params.n_head_kv == 0);
  QUIRE_CHECK(info(q).cols == int64_t{params.n_head} * params.d_k);
  QUIRE_CHECK(info(k).cols == int64_t{params.n_head_kv} * params.d_k);
  QUIRE_CHECK(info(v).cols == int64_t{params.n_head_kv} * params.d_v);
  return append_attention(
      {k, v}, q,
      {.n_head_kv = params.n_head_kv, .d_k = params.d_k, .d_v = params.d_v, .window = params.window}, params);
}

Value ProgramBuilder::append_attention(std::vector<Value> stored, Value q, const KvLayer& layer,
                                       const AttentionParams& params) {
  const auto index = static_cast<int32_t>(program_.kv_layers.size());
  program_.kv_layers.push_back(layer);
  emit(StoreKvAttrs{.kv_layer = index}, std::move(stored), {}, {}, "store_kv");
  std::vector<WeightId> weights;
  if (!params.sinks.empty()) weights.push_back(declare(params.sinks, WeightRole::kVector, params.n_head, 1));
  const AttentionAttrs attrs{.kv_layer = index,
                             .n_head = params.n_head,
                             .scale = params.scale,
                             .softcap = params.softcap,
                             .window = params.window};
  return emit(attrs, {q}, std::move(weights), new_value(Rows::kTokens, int64_t{params.n_head} * params.d_v),
              "attention");
}

Value ProgramBuilder::select_outputs(Value x) {
  const ValueInfo in = info(x);
  QUIRE_CHECK(in.rows == Rows::kTokens && in.type == DataType::kF32);
  return emit(SelectOutputsAttrs{}, {x}, {}, new_value(Rows::kOutputs, in.cols), "select_outputs");
}

void ProgramBuilder::tap(Value x, std::string name) {
  ValueInfo& value = program_.values[static_cast<size_t>(program_.root(x).id)];
  value.tap = true;
  program_.values[static_cast<size_t>(x.id)].name = std::move(name);
}

Result<Program> ProgramBuilder::finish(Value logits) && {
  if (error_) return std::move(*error_);
  QUIRE_CHECK(info(logits).rows == Rows::kOutputs);
  tap(logits, "logits");
  program_.logits = logits;
  return std::move(program_);
}

}  // namespace quire::graph
