// quire inspect: metadata and tensor directory of a GGUF file.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/format.h"
#include "cli/gguf_summary.h"
#include "cli/metadata_text.h"
#include "cli/model_folder.h"
#include "gguf/gguf_file.h"
#include "gguf/printable.h"

namespace quire::cli {
namespace {

std::vector<int64_t> shape_of(const TensorView& view) {
  size_t n = view.dims.size();
  while (n > 1 && view.dims[n - 1] == 1) --n;
  return {view.dims.begin(), view.dims.begin() + static_cast<std::ptrdiff_t>(n)};
}

std::string types_text(const GgufSummary& summary) {
  std::string text;
  for (const auto& [type, n] : summary.tensor_types)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, type);
  return text;
}

void print_text(Console& console, const GgufFile& file, bool tensors) {
  const GgufSummary summary = summarize(file);
  const std::string parts = file.n_parts() > 1 ? fmt::format(" in {} parts", file.n_parts()) : "";
  console.print("{}: {}{}, GGUF version {}, alignment {}\n", printable(file.path(), 1000),
                format_size(summary.file_bytes), parts, file.version(), file.alignment());
  console.print("{} parameters in {} tensors ({})\n\n", format_count(summary.parameters),
                file.tensors().size(), types_text(summary));

  std::vector<std::vector<std::string>> rows;
  for (const std::string& key : file.metadata().keys()) {
    rows.push_back(
        {printable(key), value_type_text(*file.metadata().find(key)), value_text(file.metadata(), key)});
  }
  console.write(format_table(rows, "lll"));
  if (!tensors) return;

  rows.assign(1, {"tensor", "type", "shape", "size"});
  for (const TensorInfo& tensor : file.tensors()) {
    rows.push_back({printable(tensor.name), element_type_info(tensor.view.type).name,
                    fmt::format("{}", fmt::join(shape_of(tensor.view), " x ")),
                    format_size(tensor.view.bytes())});
  }
  console.write("\n" + format_table(rows, "lllr"));
}

void print_json(Console& console, const GgufFile& file, bool tensors) {
  const GgufSummary summary = summarize(file);
  Json metadata = Json::array();
  for (const std::string& key : file.metadata().keys()) {
    metadata.push_back({{"key", key},
                        {"type", value_type_text(*file.metadata().find(key))},
                        {"value", value_json(file.metadata(), key)}});
  }
  Json out = {{"path", file.path()},
              {"bytes", summary.file_bytes},
              {"parts", file.n_parts()},
              {"version", file.version()},
              {"alignment", file.alignment()},
              {"architecture", summary.architecture},
              {"name", summary.name},
              {"type", summary.type},
              {"parameters", summary.parameters},
              {"tensor_count", file.tensors().size()},
              {"tensor_types", summary.tensor_types},
              {"metadata", std::move(metadata)}};
  if (tensors) {
    Json list = Json::array();
    for (const TensorInfo& tensor : file.tensors()) {
      list.push_back({{"name", tensor.name},
                      {"type", element_type_info(tensor.view.type).name},
                      {"shape", shape_of(tensor.view)},
                      {"bytes", tensor.view.bytes()},
                      {"part", tensor.part},
                      {"offset", tensor.offset}});
    }
    out["tensors"] = std::move(list);
  }
  console.print_json(out);
}

class InspectCommand final : public Command {
 public:
  CommandInfo info() const override {
    return {.name = "inspect",
            .summary = "Show the metadata and tensors of a GGUF file",
            .example = "  quire inspect model.gguf --tensors\n  quire inspect smollm2-135m-q4_1 --json"};
  }

  void add_options(CLI::App& app) override {
    app.add_option("FILE", file_, "GGUF file (of a split one, part 1), or a name from `quire models`")
        ->required()
        ->type_name("");
    app.add_flag("--tensors", tensors_, "List every tensor: type, shape (contiguous first), size");
  }

  Result<ExitCode> run(Console& console) override {
    QUIRE_ASSIGN_OR_RETURN(const std::string path, resolve_model(file_));
    QUIRE_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::open(path));
    if (console.json()) {
      print_json(console, file, tensors_);
    } else {
      print_text(console, file, tensors_);
    }
    return ExitCode::kDone;
  }

 private:
  std::string file_;
  bool tensors_ = false;
};

}  // namespace

std::unique_ptr<Command> make_inspect_command() { return std::make_unique<InspectCommand>(); }

}  // namespace quire::cli
