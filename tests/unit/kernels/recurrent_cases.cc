#include "recurrent_cases.h"

#include <cmath>

namespace quire::kernels::test {
namespace {

// Input and weight i of a row or a list, as double.
struct Reader {
  const RecurrentInputs& in;
  double row(int64_t r, int64_t i) const { return in.rows[static_cast<size_t>(r * in.ld + i)]; }
  double weight(int64_t i) const { return in.weights[static_cast<size_t>(i)]; }
};

RecurrentCase conv_case(int64_t n_channels, int64_t n_taps, bool plain) {
  RecurrentCase c{
      .name = "conv_" + std::to_string(n_channels) + "_" + std::to_string(n_taps) + (plain ? "_plain" : ""),
      .n_in = n_channels,
      .n_out = n_channels,
      .n_weights = (n_taps + 1) * n_channels,
      .n_units = conv_units(n_channels),
      .state_floats = conv_state_floats(n_channels, n_taps)};
  c.run = [=](const RecurrentOps& ops, const StateSlots& state, const RecurrentInputs& in, float* y,
              const StateSpan& span, int64_t begin, int64_t end) {
    ops.conv({.state = state,
              .x = in.rows.data(),
              .ld_x = in.ld,
              .y = y,
              .ld_y = n_channels,
              .weight = in.weights.data(),
              .bias = plain ? nullptr : in.weights.data() + n_taps * n_channels,
              .n_channels = n_channels,
              .n_taps = n_taps,
              .activation = plain ? ConvActivation::kNone : ConvActivation::kSilu},
             span, begin, end);
  };
  c.truth = [=](const RecurrentInputs& in) {
    const Reader read{in};
    std::vector<double> y;
    for (int64_t r = 0; r < in.n_rows; ++r) {
      for (int64_t channel = 0; channel < n_channels; ++channel) {
        double sum = plain ? 0 : read.weight(n_taps * n_channels + channel);
        for (int64_t j = 0; j < n_taps; ++j) {
          const int64_t from = r - n_taps + 1 + j;
          if (from >= 0) sum += read.weight(j * n_channels + channel) * read.row(from, channel);
        }
        y.push_back(plain ? sum : sum / (1 + std::exp(-sum)));
      }
    }
    return y;
  };
  return c;
}

// Columns: x [n_head, d_head] | dt [n_head] | b [n_group, d_state] | c. Steps of time are made positive, a
// negative.
RecurrentCase scan_case(int64_t n_head, int64_t d_head, int64_t n_group, int64_t d_state) {
  const int64_t at_dt = n_head * d_head, at_b = at_dt + n_head, at_c = at_b + n_group * d_state;
  RecurrentCase c{
      .name = "scan_" + std::to_string(n_head) + "_" + std::to_string(d_head) + "_" + std::to_string(d_state),
      .n_in = at_c + n_group * d_state,
      .n_out = n_head * d_head,
      .n_weights = 2 * n_head,
      .n_units = scan_units(n_head, d_head),
      .state_floats = scan_state_floats(n_head, d_head, d_state)};
  c.run = [=](const RecurrentOps& ops, const StateSlots& state, const RecurrentInputs& in, float* y,
              const StateSpan& span, int64_t begin, int64_t end) {
    const float* rows = in.rows.data();
    ops.scan({.state = state,
              .x = rows,
              .ld_x = in.ld,
              .dt = rows + at_dt,
              .ld_dt = in.ld,
              .b = rows + at_b,
              .ld_b = in.ld,
              .c = rows + at_c,
              .ld_c = in.ld,
              .a = in.weights.data(),
              .d = in.weights.data() + n_head,
              .y = y,
              .ld_y = n_head * d_head,
              .n_head = n_head,
              .d_head = d_head,
              .n_group = n_group,
              .d_state = d_state},
             span, begin, end);
  };
  c.truth = [=](const RecurrentInputs& in) {
    const Reader read{in};
    std::vector<double> state(static_cast<size_t>(n_head * d_head * d_state)), y;
    for (int64_t r = 0; r < in.n_rows; ++r) {
      for (int64_t i = 0; i < n_head * d_head; ++i) {
        const int64_t head = i / d_head, group = head * n_group / n_head;
        const double dt = read.row(r, at_dt + head), x = read.row(r, i);
        double sum = read.weight(n_head + head) * x;
        for (int64_t n = 0; n < d_state; ++n) {
          double& s = state[static_cast<size_t>(i * d_state + n)];
          s = s * std::exp(dt * read.weight(head)) + read.row(r, at_b + group * d_state + n) * dt * x;
          sum += s * read.row(r, at_c + group * d_state + n);
        }
        y.push_back(sum);
      }
    }
    return y;
  };
  return c;
}

// Columns: x [n_channels] | dt [n_channels] | b [d_state] | c.
RecurrentCase channel_scan_case(int64_t n_channels, int64_t d_state) {
  const int64_t at_dt = n_channels, at_b = 2 * n_channels, at_c = at_b + d_state;
  RecurrentCase c{.name = "channel_scan_" + std::to_string(n_channels) + "_" + std::to_string(d_state),
                  .n_in = at_c + d_state,
                  .n_out = n_channels,
                  .n_weights = n_channels * (d_state + 1),
                  .n_units = channel_scan_units(n_channels),
                  .state_floats = channel_scan_state_floats(n_channels, d_state)};
  c.run = [=](const RecurrentOps& ops, const StateSlots& state, const RecurrentInputs& in, float* y,
              const StateSpan& span, int64_t begin, int64_t end) {
    const float* rows = in.rows.data();
    ops.channel_scan({.state = state,
                      .x = rows,
                      .ld_x = in.ld,
                      .dt = rows + at_dt,
                      .ld_dt = in.ld,
                      .b = rows + at_b,
                      .ld_b = in.ld,
                      .c = rows + at_c,
                      .ld_c = in.ld,
                      .a = in.weights.data(),
                      .d = in.weights.data() + n_channels * d_state,
                      .y = y,
                      .ld_y = n_channels,
                      .n_channels = n_channels,
                      .d_state = d_state},
                     span, begin, end);
  };
  c.truth = [=](const RecurrentInputs& in) {
    const Reader read{in};
    std::vector<double> state(static_cast<size_t>(n_channels * d_state)), y;
    for (int64_t r = 0; r < in.n_rows; ++r) {
      for (int64_t i = 0; i < n_channels; ++i) {
        const double dt = read.row(r, at_dt + i), x = read.row(r, i);
        double sum = read.weight(n_channels * d_state + i) * x;
        for (int64_t n = 0; n < d_state; ++n) {
          double& s = state[static_cast<size_t>(i * d_state + n)];
          s = s * std::exp(dt * read.weight(i * d_state + n)) + read.row(r, at_b + n) * dt * x;
          sum += s * read.row(r, at_c + n);
        }
        y.push_back(sum);
      }
    }
    return y;
  };
  return c;
}

// Columns: q [n_key_head, d_k] | k | v [n_head, d_v] | beta [n_head] | dt [n_head].
RecurrentCase delta_case(int64_t n_head, int64_t n_key_head, int64_t d_k, int64_t d_v, KeyHeads key_heads) {
  const int64_t at_k = n_key_head * d_k, at_v = 2 * at_k, at_beta = at_v + n_head * d_v,
                at_dt = at_beta + n_head;
  const float scale = 0.3f;
  RecurrentCase c{.name = "delta_" + std::to_string(n_head) + "_" + std::to_string(d_k) + "_" +
                          std::to_string(d_v) + (key_heads == KeyHeads::kCyclic ? "_cyclic" : "_blocked"),
                  .n_in = at_dt + n_head,
                  .n_out = n_head * d_v,
                  .n_weights = n_head,
                  .n_units = delta_units(n_head, d_v),
                  .state_floats = delta_state_floats(n_head, d_k, d_v)};
  c.run = [=](const RecurrentOps& ops, const StateSlots& state, const RecurrentInputs& in, float* y,
              const StateSpan& span, int64_t begin, int64_t end) {
    const float* rows = in.rows.data();
    ops.delta({.state = state,
               .q = rows,
               .ld_q = in.ld,
               .k = rows + at_k,
               .ld_k = in.ld,
               .v = rows + at_v,
               .ld_v = in.ld,
               .beta = rows + at_beta,
               .ld_beta = in.ld,
               .dt = rows + at_dt,
               .ld_dt = in.ld,
               .a = in.weights.data(),
               .y = y,
               .ld_y = n_head * d_v,
               .n_head = n_head,
               .n_key_head = n_key_head,
               .d_k = d_k,
               .d_v = d_v,
               .key_heads = key_heads,
               .scale = scale},
              span, begin, end);
  };
  c.truth = [=](const RecurrentInputs& in) {
    const Reader read{in};
    std::vector<double> state(static_cast<size_t>(n_head * d_k * d_v)), y;
    for (int64_t r = 0; r < in.n_rows; ++r) {
      for (int64_t i = 0; i < n_head * d_v; ++i) {
        const int64_t head = i / d_v;
        const int64_t key = key_heads == KeyHeads::kCyclic ? head % n_key_head : head * n_key_head / n_head;
        const double decay = std::exp(read.weight(head) * read.row(r, at_dt + head));
        double* s = state.data() + i * d_k;
        double known = 0, sum = 0;
        for (int64_t n = 0; n < d_k; ++n) known += decay * s[n] * read.row(r, at_k + key * d_k + n);
        const double delta = read.row(r, at_beta + head) * (read.row(r, at_v + i) - known);
        for (int64_t n = 0; n < d_k; ++n) {
          s[n] = decay * s[n] + read.row(r, at_k + key * d_k + n) * delta;
          sum += s[n] * read.row(r, key * d_k + n);
        }
        y.push_back(sum * static_cast<double>(scale));
      }
    }
    return y;
  };
  return c;
}

}  // namespace

std::vector<RecurrentCase> recurrent_cases() {
  return {conv_case(7, 4, false),
          conv_case(48, 4, false),
          conv_case(70, 3, true),
          conv_case(33, 1, false),
          conv_case(16, kMaxConvTaps, true),
          scan_case(4, 16, 2, 16),
          scan_case(6, 20, 3, 7),
          scan_case(2, 64, 1, 128),
          channel_scan_case(20, 16),
          channel_scan_case(32, 8),
          channel_scan_case(5, 35),
          delta_case(4, 2, 16, 16, KeyHeads::kCyclic),
          delta_case(4, 2, 16, 16, KeyHeads::kBlocked),
          delta_case(3, 3, 10, 37, KeyHeads::kBlocked),
          delta_case(2, 1, 128, 128, KeyHeads::kCyclic)};
}

}  // namespace quire::kernels::test
