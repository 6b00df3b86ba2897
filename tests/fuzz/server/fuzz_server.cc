// Fuzzes what the routes make of a request: the input is the number of a route, as a letter from 'A', and a
// body. Any body must end in a plan for the engine or in an error that is the client's, as valid JSON.
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
    auto runner =
        quire::Runner::load(QUIRE_TEST_DATA "/models/llama/model-f32.gguf",
                            {.ctx = 256, .threads = 1, .isa = "scalar"}, [](size_t, size_t) { return true; });
    if (!runner.ok()) std::abort();
    auto served = ServedModel::create(std::move(*runner), {}, "fuzz", log);
    if (!served.ok()) std::abort();
    return std::move(*served);
  }();
  return *model;
}

void check_error(const ApiError& error, ErrorStyle style) {
  if (http_status(error.kind) >= 500) std::abort();
  if (Json::parse(error_response(error, style).body, nullptr, false).is_discarded()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const Route& route = route_table()[(data[0] - size_t{'A'}) % route_table().size()];
  const HttpRequest request{.method = std::string(route.method),
                            .path = std::string(route.path),
                            .body = std::string(reinterpret_cast<const char*>(data) + 1, size - 1)};
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
