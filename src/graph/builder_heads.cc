// The part of ProgramBuilder that treats the heads of a value one by one, and latent attention.
#include "base/check.h"
#include "graph/builder.h"

namespace quire::graph {

Value ProgramBuilder::slice_heads(Value x, int64_t n_heads, int64_t first, int64_t n) {
  const ValueInfo in = info(x);
  QUIRE_CHECK(in.type == DataType::kF32 && in.n_used == 0 && n_heads > 0 && in.cols % n_heads == 0);
  QUIRE_CHECK(first >= 0 && n > 0 && first + n <= in.cols / n_heads);
  return emit(SliceHeadsAttrs{.n_heads = n_heads, .first = first}, {x}, {}, new_value(in.rows, n_heads * n),
              "slice_heads");
}

Value ProgramBuilder::join_heads(Value a, Value b, int64_t n_heads) {
  const ValueInfo in_a = info(a), in_b = info(b);
  QUIRE_CHECK(in_a.type == DataType::kF32 && in_a.n_used == 0 && in_a.cols % n_heads == 0);
  QUIRE_CHECK(in_b.type == DataType::kF32 && in_b.n_used == 0 && in_b.cols % n_heads == 0);
  QUIRE_CHECK(in_a.rows == in_b.rows);
  return emit(JoinHeadsAttrs{.n_heads = n_heads}, {a, b}, {}, new_value(in_a.rows, in_a.cols + in_b.cols),
              "join_heads");
}

// n_rows rows of each head's part of the tensor, which has `cols` columns.
WeightId ProgramBuilder::declare_heads(const HeadLinearParams& p, int64_t cols, int64_t n_rows,
                                       bool transposed) {
  const int64_t tensor_rows = p.tensor_rows > 0 ? p.tensor_rows : n_rows;
  QUIRE_CHECK(p.n_heads > 0 && n_rows > 0 && p.first_row >= 0 && p.first_row + n_rows <= tensor_rows);
  const WeightId id = declare_matrices(p.weight, cols, tensor_rows, p.n_heads, p.first_row, n_rows);
  WeightDecl& decl = program_.weights[static_cast<size_t>(id.id)];
  decl.transposed = transposed;
  if (transposed) decl.format = kernels::packed_format(ElementType::kF32, activations_);
  return id;
}

Value ProgramBuilder::head_linear(Value x, const HeadLinearParams& p) {
  const ValueInfo in = info(x);
  QUIRE_CHECK(in.type == DataType::kF32 && in.n_used == 0 && in.cols % p.n_heads == 0);
  return append_linear(x, declare_heads(p, in.cols / p.n_heads, p.n, false), p.n_heads, p.n_heads * p.n);
}

Value ProgramBuilder::head_linear_transposed(Value x, const HeadLinearParams& p) {
  const ValueInfo in = info(x);
  QUIRE_CHECK(in.type == DataType::kF32 && in.n_used == 0 && in.cols % p.n_heads == 0);
  return append_linear(x, declare_heads(p, p.n, in.cols / p.n_heads, true), p.n_heads, p.n_heads * p.n);
}

Value ProgramBuilder::latent_attention(Value q, Value rows, const AttentionParams& p) {
  QUIRE_CHECK(p.n_head_kv == 1 && p.d_v <= p.d_k);
  QUIRE_CHECK(info(q).cols == int64_t{p.n_head} * p.d_k && info(rows).cols == p.d_k);
  return append_attention(
      {rows}, q, {.n_head_kv = 1, .d_k = p.d_k, .d_v = p.d_v, .window = p.window, .form = KvForm::kLatent},
      p);
}

}  // namespace quire::graph
