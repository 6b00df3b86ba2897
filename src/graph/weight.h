// Weight declarations: which tensors of the model file a program uses, and in which form.
//
// The builder collects them; the WeightStore plans and loads them. Graph code knows no file format: tensors
// come through WeightSource. Plain data; thread safe once the program is built.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/linear.h"
#include "tensor/tensor_view.h"

namespace quire::graph {

struct WeightId {
  int32_t id = -1;
  bool valid() const { return id >= 0; }
  friend bool operator==(WeightId, WeightId) = default;
};

// The form a program needs a tensor in.
enum class WeightRole : uint8_t {
  kLinear,      // a matrix [n, k] repacked for the linear kernels
  kVector,      // f32 values (norm weights, biases, sinks)
  kTransposed,  // f32 values of a small matrix, column by column (taps of convolutions)
  kTable,       // rows read one at a time from the original layout (token embeddings)
};

struct WeightDecl {
  std::string name;  // tensor name in the file
  WeightRole role = WeightRole::kVector;
  TensorView view;                                // in the file's memory; data may be null in a dry plan
  const kernels::PackedFormat* format = nullptr;  // kLinear only
  // kLinear only: the tensor holds n_matrices of equal size (one an expert, or a head); of each, this
  // declaration means all rows but skipped_rows, from first_row on.
  int64_t n_matrices = 1, first_row = 0, skipped_rows = 0;
  bool transposed = false;  // columns of the file are the rows of the layer, which is then kept in f32

  int64_t n_rows() const { return view.n_rows() / n_matrices - skipped_rows; }  // meant of each matrix
  int64_t n() const { return transposed ? view.n_cols() : n_rows(); }
  int64_t k() const { return transposed ? n_rows() : view.n_cols(); }
  // The rows meant of matrix i, as in the file.
  TensorView matrix(int64_t i) const {
    TensorView rows = view;
    rows.data = view.row(i * (n_rows() + skipped_rows) + first_row);
    rows.dims = {view.n_cols(), n_rows(), 1, 1};
    return rows;
  }
  // Bytes of one packed matrix.
  size_t packed_bytes() const {
    return static_cast<size_t>(kernels::n_groups(n())) * format->group_bytes(k());
  }
};

// Where tensors come from; implemented over a model file by the engine, by hand in tests.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  // The tensor of this name, or null. The pointer and the bytes live as long as the source.
  virtual const TensorView* find(std::string_view name) const = 0;
  // The loader is done with these bytes (a whole tensor or some of its rows); a file-backed source gives the
  // pages back.
  virtual void release(const TensorView&) const {}
};

}  // namespace quire::graph
