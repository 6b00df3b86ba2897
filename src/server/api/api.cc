#include "server/api/api.h"

#include <algorithm>
#include <utility>

#include "server/web/page_files.h"

namespace quire::server {
namespace {

using Clock = std::chrono::steady_clock;

std::string_view key_of(const HttpRequest& request) {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view authorization = request.header("authorization");
  if (authorization.size() > kBearer.size() && authorization.starts_with(kBearer))
    return authorization.substr(kBearer.size());
  return request.header("x-api-key");
}

}  // namespace

struct Api::Exchange {
  HttpRequest request = {};
  std::shared_ptr<Reply> reply = {};
  const Route* route = nullptr;
  std::string route_name = "other";     // for metrics
  std::shared_ptr<Tenant> tenant = {};  // once its key was found
  bool admitted = false;                // counted among the tenant's requests
  const ServedModel* model = nullptr;
  Clock::time_point begin = Clock::now();

  ErrorStyle style() const { return route == nullptr ? ErrorStyle::kOpenAi : route->style; }
};

void Api::handle(HttpRequest request, std::shared_ptr<Reply> reply) {
  dispatch(std::make_shared<Exchange>(Exchange{.request = std::move(request), .reply = std::move(reply)}));
}

void Api::dispatch(const std::shared_ptr<Exchange>& exchange) {
  const HttpRequest& request = exchange->request;
  const bool get = request.method == "GET";
  if (get && (request.path == "/health" || request.path == "/v1/health")) {
    exchange->route_name = "/health";
    return send(*exchange, health());
  }
  if (std::optional<HttpResponse> page = get ? page_response(request.path) : std::nullopt) {
    exchange->route_name = "/";
    return send(*exchange, std::move(*page));
  }
  const RouteMatch match = find_route(request.method, request.path);
  const bool metrics = get && request.path == "/metrics";
  if (match.path_known || metrics) exchange->route_name = request.path;
  exchange->route = match.route;
  if (match.route == nullptr && !metrics) {
    return refuse(*exchange, match.path_known ? ApiError{.kind = ApiErrorKind::kMethodNotAllowed,
                                                         .message = "this path does not take this method"}
                                              : ApiError{.kind = ApiErrorKind::kNotFound,
                                                         .message = "there is no such path"});
  }
  exchange->tenant = parts_.tenants.find(key_of(request));
  if (exchange->tenant == nullptr) {
    return refuse(*exchange, {.kind = ApiErrorKind::kAuthentication, .message = "Invalid API Key"});
  }
  if (metrics) return send(*exchange, scrape());
  exchange->model = model_;
  if (exchange->model == nullptr) {
    return refuse(*exchange,
                  {.kind = ApiErrorKind::kUnavailable, .message = "Loading model", .retry_after_seconds = 1});
  }
  if (const std::optional<ApiError> error = admit(*exchange)) return refuse(*exchange, *error);
  parts_.pool.post([this, exchange] { run(exchange); });
}

// Only what makes the model work is limited.
std::optional<ApiError> Api::admit(Exchange& exchange) {
  if (!std::holds_alternative<AnswerHandler>(exchange.route->handler)) return {};
  if (draining_) {
    return ApiError{.kind = ApiErrorKind::kUnavailable,
                    .message = "the server is shutting down",
                    .retry_after_seconds = 5};
  }
  if (const std::optional<int64_t> seconds = exchange.tenant->admit(Clock::now())) {
    return ApiError{.kind = ApiErrorKind::kRateLimit,
                    .message = "this key's limit of requests is reached",
                    .retry_after_seconds = *seconds};
  }
  exchange.admitted = true;
  return {};
}

void Api::run(const std::shared_ptr<Exchange>& exchange) {
  const ApiCall call{.model = *exchange->model, .tenant = *exchange->tenant, .request = exchange->request};
  if (const auto* const direct = std::get_if<DirectHandler>(&exchange->route->handler)) {
    const ApiResult<Json> json = (*direct)(call);
    if (!json.ok()) return refuse(*exchange, json.error());
    return send(*exchange, json_response(*json));
  }
  start(exchange, std::get<AnswerHandler>(exchange->route->handler)(call));
}

void Api::start(const std::shared_ptr<Exchange>& exchange, ApiResult<AnswerJob> job) {
  if (!job.ok()) return refuse(*exchange, job.error());
  for (AnswerPlan::Choice& choice : job->plan.choices) choice.request.deadline = parts_.answer_time;
  const AnswerTask::Context context{exchange->model->engine(), exchange->model->tokenizer(), parts_.pool,
                                    parts_.metrics};
  auto on_end = [this, exchange](const AnswerRecord& record) {
    parts_.metrics.answer_ended(record.accounting);
    ended(*exchange, &record.accounting);
  };
  exchange->request.body = {};  // a long answer need not hold it
  const auto task = std::make_shared<AnswerTask>(context, std::move(job->plan), exchange->reply,
                                                 job->make_writer(exchange->reply), std::move(on_end));
  remember(task);
  parts_.pool.schedule(task);
}

void Api::remember(const std::shared_ptr<AnswerTask>& task) {
  const std::lock_guard lock(tasks_mutex_);
  if (cut_) task->cut();
  std::erase_if(tasks_, [](const auto& weak) { return weak.expired(); });
  tasks_.push_back(task);
}

void Api::cut_all() {
  const std::lock_guard lock(tasks_mutex_);
  cut_ = true;
  for (const std::weak_ptr<AnswerTask>& weak : tasks_) {
    if (const auto task = weak.lock()) task->cut();
  }
}

void Api::send(Exchange& exchange, HttpResponse response) {
  exchange.reply->send(std::move(response));
  ended(exchange, nullptr);
}

void Api::refuse(Exchange& exchange, const ApiError& error) {
  send(exchange, error_response(error, exchange.style()));
}

void Api::ended(Exchange& exchange, const Accounting* accounting) {
  const ReplyRecord record = exchange.reply->record();
  parts_.metrics.request_ended(exchange.route_name, record.status);
  const AccessEntry entry{.id = exchange.request.id,
                          .tenant = exchange.tenant == nullptr ? "" : exchange.tenant->name(),
                          .method = exchange.request.method,
                          .path = exchange.request.path,
                          .route = exchange.route_name,
                          .reply = record,
                          .seconds = std::chrono::duration<double>(Clock::now() - exchange.begin).count(),
                          .accounting = accounting};
  parts_.log.write(entry);
  if (parts_.trace != nullptr) parts_.trace->write(entry);
  if (exchange.admitted) exchange.tenant->release();
}

HttpResponse Api::health() const {
  if (draining_)
    return error_response({.kind = ApiErrorKind::kUnavailable, .message = "the server is shutting down"},
                          ErrorStyle::kOpenAi);
  if (model_ == nullptr)
    return error_response({.kind = ApiErrorKind::kUnavailable, .message = "Loading model"},
                          ErrorStyle::kOpenAi);
  return json_response({{"status", "ok"}});
}

HttpResponse Api::scrape() {
  const ServedModel* const model = model_;
  const EngineGauges engine = model == nullptr ? EngineGauges{} : model->engine().gauges();
  return {.content_type = "text/plain; version=0.0.4; charset=utf-8",
          .body = parts_.metrics.scrape(model == nullptr ? nullptr : &engine, parts_.gauges())};
}

}  // namespace quire::server
