#include "graph/weight_store.h"

#include <algorithm>
#include <atomic>

#include "base/check.h"

namespace quire::graph {
namespace {

size_t round_up(size_t bytes) { return (bytes + 63) / 64 * 64; }

// Bytes one declaration takes in the region; tables stay where they are.
size_t decl_bytes(const WeightDecl& decl) {
  switch (decl.role) {
    case WeightRole::kLinear:
      return static_cast<size_t>(decl.n_matrices) * decl.packed_bytes();
    case WeightRole::kVector:
    case WeightRole::kTransposed:
      return round_up(static_cast<size_t>(decl.view.n_elems()) * sizeof(float));
    case WeightRole::kTable:
      return 0;
  }
  return 0;
}

void transpose(float* values, int64_t n_rows, int64_t n_cols) {
  const std::vector<float> rows(values, values + n_rows * n_cols);
  for (int64_t row = 0; row < n_rows; ++row) {
    for (int64_t col = 0; col < n_cols; ++col)
      values[col * n_rows + row] = rows[static_cast<size_t>(row * n_cols + col)];
  }
}

// A stretch of 16-row groups of one matrix. Its destination spans a few huge pages, so that two threads
// seldom meet in one: the kernel would zero it twice and throw one away.
struct PackTask {
  size_t weight = 0;
  int64_t matrix = 0;
  int64_t group_begin = 0, group_end = 0;
};

std::vector<PackTask> pack_tasks(const Program& program) {
  constexpr size_t kTaskBytes = size_t{4} << 20;
  std::vector<PackTask> tasks;
  for (size_t w = 0; w < program.weights.size(); ++w) {
    const WeightDecl& decl = program.weights[w];
    if (decl.role != WeightRole::kLinear) continue;
    const int64_t n_groups = kernels::n_groups(decl.n());
    const size_t group_bytes = decl.format->group_bytes(decl.k());
    const int64_t step =
        decl.transposed
            ? n_groups  // every task would read the whole matrix
            : std::max<int64_t>(1, static_cast<int64_t>(kTaskBytes / std::max<size_t>(group_bytes, 1)));
    for (int64_t i = 0; i < decl.n_matrices; ++i) {
      for (int64_t g = 0; g < n_groups; g += step) tasks.push_back({w, i, g, std::min(n_groups, g + step)});
    }
  }
  return tasks;
}

// The source rows of a task; of a transposed matrix all are.
TensorView packed_rows(const Program& program, const PackTask& task) {
  const WeightDecl& decl = program.weights[task.weight];
  TensorView rows = decl.matrix(task.matrix);
  if (decl.transposed) return rows;
  const int64_t first = task.group_begin * kernels::kGroupRows;
  const int64_t end = std::min(rows.n_rows(), task.group_end * kernels::kGroupRows);
  rows.data = rows.row(first);
  rows.dims = {rows.n_cols(), end - first, 1, 1};
  return rows;
}

// The columns of a matrix as rows, in `values`.
TensorView transpose(const TensorView& matrix, std::vector<float>& values) {
  const int64_t n_rows = matrix.n_rows(), n_cols = matrix.n_cols();
  std::vector<float> row(static_cast<size_t>(n_cols));
  values.resize(static_cast<size_t>(n_rows * n_cols));
  for (int64_t r = 0; r < n_rows; ++r) {
    element_type_info(matrix.type).decode(matrix.row(r), row.data(), n_cols);
    for (int64_t c = 0; c < n_cols; ++c)
      values[static_cast<size_t>(c * n_rows + r)] = row[static_cast<size_t>(c)];
  }
  return {.type = ElementType::kF32,
          .dims = {n_rows, n_cols, 1, 1},
          .data = reinterpret_cast<const std::byte*>(values.data())};
}

}  // namespace

size_t WeightStore::plan_bytes(const Program& program) {
  size_t bytes = 0;
  for (const WeightDecl& decl : program.weights) bytes += decl_bytes(decl);
  return bytes;
}

Result<WeightStore> WeightStore::load(const Program& program, const WeightSource& source, ThreadPool& pool,
                                      LoadProgress progress) {
  WeightStore store;
  QUIRE_ASSIGN_OR_RETURN(store.region_, MemoryRegion::allocate(plan_bytes(program)));
  size_t offset = 0;
  size_t total = 0;
  for (const WeightDecl& decl : program.weights) {
    store.offsets_.push_back(offset);
    store.tables_.push_back(decl.role == WeightRole::kTable ? decl.view : TensorView{});
    offset += decl_bytes(decl);
    if (decl.role == WeightRole::kLinear)
      total += static_cast<size_t>(decl.n_matrices * decl.n_rows()) * decl.view.row_stride();
  }
  QUIRE_CHECK(offset == store.region_.size());

  for (size_t w = 0; w < program.weights.size(); ++w) {
    const WeightDecl& decl = program.weights[w];
    if (decl.role != WeightRole::kVector && decl.role != WeightRole::kTransposed) continue;
    auto* values = reinterpret_cast<float*>(store.region_.data() + store.offsets_[w]);
    element_type_info(decl.view.type).decode(decl.view.data, values, decl.view.n_elems());
    if (decl.role == WeightRole::kTransposed) transpose(values, decl.view.n_rows(), decl.view.n_cols());
  }

  const std::vector<PackTask> tasks = pack_tasks(program);
  std::atomic<size_t> done = 0;
  std::atomic<bool> cancelled = false;
  pool.run(static_cast<int64_t>(tasks.size()), [&](int64_t tile, int thread) {
    if (cancelled.load(std::memory_order_relaxed)) return;
    const PackTask& task = tasks[static_cast<size_t>(tile)];
    const WeightDecl& decl = program.weights[task.weight];
    const size_t group_bytes = decl.format->group_bytes(decl.k());
    std::vector<float> columns;
    const TensorView in_file = decl.matrix(task.matrix);
    const TensorView matrix = decl.transposed ? transpose(in_file, columns) : in_file;
    std::byte* out = store.region_.data() + store.offsets_[task.weight] +
                     static_cast<size_t>(task.matrix) * decl.packed_bytes();
    for (int64_t g = task.group_begin; g < task.group_end; ++g) {
      decl.format->pack_group(matrix, g, out + static_cast<size_t>(g) * group_bytes);
    }
    const TensorView rows = packed_rows(program, task);
    source.release(rows);
    done += rows.bytes();
    // The caller's thread is number 0 and the only one that may report.
    if (thread == 0 && !progress(done, total)) cancelled = true;
  });
  if (cancelled || !progress(done, total)) {
    return make_error(ErrorCode::kCancelled, "loading was interrupted");
  }
  return store;
}

}  // namespace quire::graph
