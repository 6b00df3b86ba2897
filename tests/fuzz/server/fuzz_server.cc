// Fuzzes what the routes make of a request: the input is a line with the path of a route, and a body. Any
// body must end in a plan for the engine or in an error that is the client's, as valid JSON.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "server/api/route_table.h"

namespace {

using namespace quire::server;

const ServedModel& tiny_model() {
  static quire::NullLogSink log;
  static const std::unique_ptr<ServedModel> model = [] {
    auto runner = quire::Runner::load(QUIRE_TEST_DATA "/models/llama/model-f32.gguf",
                                      {.ctx = 256, .prompt_rows = 4, .threads = 1, .isa = "scalar"},
                                      [](size_t, size_t) { return true; });
    if (!runner.ok()) std::abort();
    auto served = ServedModel::create(std::move(*runner), {}, "fuzz", log);
    if (!served.ok()) std::abort();
    return std::move(*served);
  }();
  return *model;
}

void check_error(const ApiError& error, ErrorStyle style) {
  if (http_status(error.kind) >= 500 && error.kind != ApiErrorKind::kNotSupported) std::abort();
  if (Json::parse(error_response(error, style).body, nullptr, false).is_discarded()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t line = input.find('\n');
  if (line == std::string_view::npos) return 0;
  const Route* const found = find_route("POST", input.substr(0, line)).route;
  if (found == nullptr) return 0;
  const Route& route = *found;
  const HttpRequest request{.method = std::string(route.method),
                            .path = std::string(route.path),
                            .body = std::string(input.substr(line + 1))};
  static const Tenant tenant("fuzz", 0);
  const ApiCall call{.model = tiny_model(), .tenant = tenant, .request = request};
  if (const auto* const direct = std::get_if<DirectHandler>(&route.handler)) {
    const ApiResult<Json> json = (*direct)(call);
    if (!json.ok()) check_error(json.error(), route.style);
    if (json.ok() && Json::parse(dump(*json), nullptr, false).is_discarded()) std::abort();
    return 0;
  }
  const ApiResult<AnswerJob> job = std::get<AnswerHandler>(route.handler)(call);
  if (!job.ok()) {
    check_error(job.error(), route.style);
  } else if (job->plan.choices.empty()) {
    std::abort();
  }
  return 0;
}
