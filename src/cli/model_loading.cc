#include "cli/model_loading.h"

#include <optional>

#include "cli/progress.h"

namespace quire::cli {

Result<std::unique_ptr<Runner>> load_runner(Console& console, const std::string& path,
                                            const EngineSettings& settings, const InterruptGuard& interrupt) {
  std::optional<ProgressBar> bar;  // from the first report on, which knows the total
  return Runner::load(path, settings, [&](size_t done, size_t total) {
    if (!bar) bar.emplace(console.draws_progress(), "Loading", total);
    bar->update(done);
    return !interrupt.interrupted();
  });
}

}  // namespace quire::cli
