// Api: requests to answers: finds the route, the tenant and the model, and lets a worker do the rest.
//
// handle() is called on the edge's thread. Health and metrics are answered there at once, whatever the load;
// everything else goes to the worker pool. Starts without a model (503 until serve() names one). Everything
// it is given must outlive it; it must outlive the pool's last task.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "server/answer/answer_task.h"
#include "server/api/route_table.h"
#include "server/log/access_log.h"
#include "server/log/request_trace.h"
#include "server/metrics/server_metrics.h"
#include "server/tenants/tenants.h"
#include "server/work/worker_pool.h"

namespace quire::server {

class Api {
 public:
  struct Parts {
    WorkerPool& pool;
    Tenants& tenants;
    ServerMetrics& metrics;
    AccessLog& log;
    RequestTrace* trace;                                   // null: none
    std::optional<std::chrono::milliseconds> answer_time;  // from submission to the end; none: any
    std::function<ServerGauges()> gauges;
  };
  explicit Api(Parts parts) : parts_(std::move(parts)) {}

  void handle(HttpRequest request, std::shared_ptr<Reply> reply);

  // Any thread.
  void serve(const ServedModel* model) { model_ = model; }
  void refuse_new() { draining_ = true; }
  // Ends the answers that are under way, and those to come, with an error.
  void cut_all();

 private:
  struct Exchange;
  void dispatch(const std::shared_ptr<Exchange>& exchange);
  void run(const std::shared_ptr<Exchange>& exchange);
  void start(const std::shared_ptr<Exchange>& exchange, ApiResult<AnswerJob> job);
  void send(Exchange& exchange, HttpResponse response);
  void refuse(Exchange& exchange, const ApiError& error);
  void ended(Exchange& exchange, const Accounting* accounting);
  HttpResponse health() const;
  HttpResponse scrape();
  std::optional<ApiError> admit(Exchange& exchange);
  void remember(const std::shared_ptr<AnswerTask>& task);

  Parts parts_;
  std::atomic<const ServedModel*> model_{nullptr};
  std::atomic<bool> draining_{false};
  std::mutex tasks_mutex_;
  std::vector<std::weak_ptr<AnswerTask>> tasks_;  // under way
  bool cut_ = false;
};

}  // namespace quire::server
