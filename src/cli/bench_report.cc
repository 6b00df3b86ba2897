#include "cli/bench_report.h"

#include <fmt/format.h>

#include "cli/format.h"
#include "cli/gguf_summary.h"
#include "gguf/printable.h"
#include "measure/statistics.h"

namespace quire::cli {
namespace {

std::string percent(double fraction) { return fmt::format("{:.0f}%", fraction * 100); }

double giga_per_second(double amount, double seconds) { return seconds > 0 ? amount / seconds / 1e9 : 0; }

}  // namespace

std::string test_name(const SpeedTest& test) {
  return fmt::format("{}{}", test.kind == SpeedTestKind::kPrefill ? "pp" : "tg", test.n_tokens);
}

BenchReport::Reached BenchReport::reached(const graph::OpCost& cost, double seconds) const {
  // The time that each limit alone would allow, as a fraction of the time taken.
  const double compute =
      cost.dot_operations / (limits_->dot_gops * 1e9) + cost.fma_operations / (limits_->fma_gops * 1e9);
  return {.compute = compute / seconds, .memory = cost.memory_bytes / (limits_->read_gbps * 1e9) / seconds};
}

void BenchReport::begin(const Runner& runner) {
  const GgufSummary summary = summarize(runner.model().file());
  const EngineSettings& settings = runner.settings();
  const std::string name = runner.model().name();
  const int threads = runner.device().n_threads();
  const char* kv_type = graph::kv_type_name(settings.kv_type);
  const char* activations = graph::activations_name(settings.activations);
  if (console_.json()) {
    Json out = {{"model", name},
                {"type", summary.type},
                {"bytes", summary.file_bytes},
                {"parameters", summary.parameters},
                {"threads", threads},
                {"isa", runner.device().isa()},
                {"kv_type", kv_type},
                {"activations", activations},
                {"max_batch_tokens", settings.max_batch_tokens},
                {"off", settings.off}};
    if (limits_) {
      out["limits"] = {{"read_gbps", limits_->read_gbps},
                       {"dot_gops", limits_->dot_gops},
                       {"fma_gops", limits_->fma_gops}};
    }
    console_.print_json(out);
    (void)console_.flush();
    return;
  }
  console_.print("{}, {}, {}, {} parameters\n", printable(name, 200), summary.type,
                 format_size(summary.file_bytes), format_count(summary.parameters));
  console_.print("{}, {}, KV {}, activations {}, steps of {} tokens{}\n",
                 threads == 1 ? "1 thread" : fmt::format("{} threads", threads), runner.device().isa(),
                 kv_type, activations, settings.max_batch_tokens,
                 settings.off.empty() ? "" : fmt::format(", without {}", fmt::join(settings.off, ", ")));
  if (limits_) {
    console_.print("limits: {:.1f} GB/s read, {:.0f} GOPS int8 dot products, {:.0f} GOPS f32 multiply-adds\n",
                   limits_->read_gbps, limits_->dot_gops, limits_->fma_gops);
  }
}

void BenchReport::table_header() {
  header_due_ = false;
  console_.print("\n{:<8} {:>6} {:>5} {:>10} {:>10} {:>10} {:>8} {:>8}{}\n", "test", "depth", "batch",
                 "tok/s", "min", "max", "GOPS", "GB/s",
                 limits_ ? fmt::format(" {:>8} {:>8}", "compute", "memory") : "");
}

void BenchReport::row(const SpeedTest& test, const SpeedResult& result) {
  std::vector<double> speeds;
  for (double seconds : result.seconds) speeds.push_back(static_cast<double>(result.tokens) / seconds);
  const Spread tps = spread_of(speeds);
  const double seconds = static_cast<double>(result.tokens) / tps.median;
  const double gops = giga_per_second(result.cost.operations(), seconds);
  const double gbps = giga_per_second(result.cost.memory_bytes, seconds);
  if (console_.json()) {
    Json out = {
        {"test", test_name(test)}, {"depth", test.depth}, {"batch", test.batch}, {"tps_median", tps.median},
        {"tps_min", tps.min},      {"tps_max", tps.max},  {"gops", gops},        {"gbps", gbps}};
    if (limits_) {
      const Reached share = reached(result.cost, seconds);
      out["compute_share"] = share.compute;
      out["memory_share"] = share.memory;
    }
    console_.print_json(out);
  } else {
    if (header_due_) table_header();
    std::string shares;
    if (limits_) {
      const Reached share = reached(result.cost, seconds);
      shares = fmt::format(" {:>8} {:>8}", percent(share.compute), percent(share.memory));
    }
    console_.print("{:<8} {:>6} {:>5} {:>10.1f} {:>10.1f} {:>10.1f} {:>8.1f} {:>8.1f}{}\n", test_name(test),
                   test.depth, test.batch, tps.median, tps.min, tps.max, gops, gbps, shares);
  }
  (void)console_.flush();
}

void BenchReport::served(const ServedTest& test, const ServedResult& result) {
  const char* sharing = test.sharing == PrefixSharing::kOn ? "on" : "off";
  if (console_.json()) {
    console_.print_json({{"test", "served"},
                         {"batch", test.batch},
                         {"prompt", test.n_prompt},
                         {"shared_prefix", test.n_shared},
                         {"gen", test.n_answer},
                         {"sharing", sharing},
                         {"prefill_tps", result.prefill_tps},
                         {"decode_tps", result.decode_tps},
                         {"ttft_p50", result.first_token_p50},
                         {"ttft_last", result.first_token_last},
                         {"seconds", result.total_seconds},
                         {"computed_tokens", result.computed_tokens},
                         {"shared_tokens", result.shared_tokens},
                         {"kv_bytes", result.kv_bytes},
                         {"preemptions", result.preemptions}});
  } else {
    if (header_due_) {
      header_due_ = false;
      console_.print("\n{:>5} {:>7} {:>7} {:>6} {:>8} {:>9} {:>9} {:>9} {:>9} {:>8} {:>9} {:>10}\n", "batch",
                     "prompt", "shared", "gen", "sharing", "prefill/s", "decode/s", "first p50", "last",
                     "total", "computed", "KV held");
    }
    console_.print(
        "{:>5} {:>7} {:>7} {:>6} {:>8} {:>9.1f} {:>9.1f} {:>7.2f} s {:>7.2f} s {:>6.2f} s {:>9} {:>10}\n",
        test.batch, test.n_prompt, test.n_shared, test.n_answer, sharing, result.prefill_tps,
        result.decode_tps, result.first_token_p50, result.first_token_last, result.total_seconds,
        result.computed_tokens, format_size(result.kv_bytes));
  }
  (void)console_.flush();
}

void BenchReport::mixed(const MixedTest& test, const MixedResult& result) {
  if (console_.json()) {
    console_.print_json({{"test", "mixed"},
                         {"streams", test.n_streams},
                         {"prompts", test.n_prompts},
                         {"prompt", test.n_prompt},
                         {"gap_p50_quiet", result.quiet.p50},
                         {"gap_p99_quiet", result.quiet.p99},
                         {"gap_p50", result.among.p50},
                         {"gap_p99", result.among.p99},
                         {"prefill_tps_alone", result.prefill_alone_tps},
                         {"prefill_tps", result.prefill_tps}});
  } else {
    console_.print(
        "\n{} streams, {} prompts of {} tokens among them\n"
        "gap between tokens: {:.1f} ms (99%: {:.1f} ms) before, {:.1f} ms (99%: {:.1f} ms) among prompts\n"
        "prompts: {:.1f} tokens/s alone, {:.1f} tokens/s among streams ({})\n",
        test.n_streams, test.n_prompts, test.n_prompt, 1e3 * result.quiet.p50, 1e3 * result.quiet.p99,
        1e3 * result.among.p50, 1e3 * result.among.p99, result.prefill_alone_tps, result.prefill_tps,
        percent(result.prefill_tps / result.prefill_alone_tps));
  }
  (void)console_.flush();
}

void BenchReport::profile(const SpeedTest& test, const std::vector<ProfileRow>& rows) {
  double total = 0;
  for (const ProfileRow& row : rows) total += row.seconds;
  Json list = Json::array();
  std::vector<std::vector<std::string>> table = {{"op", "name", "calls", "ms", "share", "GOPS", "GB/s"}};
  for (const ProfileRow& row : rows) {
    const double share = total > 0 ? row.seconds / total : 0;
    const double gops = giga_per_second(row.cost.operations(), row.seconds);
    const double gbps = giga_per_second(row.cost.memory_bytes + row.cost.row_bytes, row.seconds);
    list.push_back({{"op", row.op},
                    {"label", row.label},
                    {"calls", row.calls},
                    {"ms", row.seconds * 1e3},
                    {"share", share},
                    {"gops", gops},
                    {"gbps", gbps}});
    table.push_back({row.op, row.label, fmt::format("{}", row.calls),
                     fmt::format("{:.3f}", row.seconds * 1e3), fmt::format("{:.1f}%", share * 100),
                     fmt::format("{:.1f}", gops), fmt::format("{:.1f}", gbps)});
  }
  if (console_.json()) {
    console_.print_json({{"profile", test_name(test)},
                         {"depth", test.depth},
                         {"batch", test.batch},
                         {"ms", total * 1e3},
                         {"ops", std::move(list)}});
    return;
  }
  console_.print("\nprofile of {}, {:.3f} ms\n{}", test_name(test), total * 1e3,
                 format_table(table, "llrrrrr"));
  header_due_ = true;
}

}  // namespace quire::cli
