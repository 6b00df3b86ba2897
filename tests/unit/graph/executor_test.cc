// The executor against plain loops: a one-layer model written out by hand, in f32 throughout.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/builder.h"
#include "graph/cpu_device.h"
#include "graph/cpu_executor.h"
#include "graph/passes.h"
#include "unit/graph/memory_source.h"

namespace quire::graph {
namespace {

using testing::MemorySource;
using Row = std::vector<double>;

constexpr int64_t kVocab = 24, kWidth = 32, kHidden = 48;
constexpr int32_t kHeads = 4, kHeadsKv = 2, kHead = 8;
constexpr float kEps = 1e-5f, kScale = 0.3f, kCap = 5, kEmbedScale = 1.5f, kResidual = 0.75f;

const RopeSpec& rope_spec() {
  static const RopeSpec spec{.inv_freq = {1, 0.25f, 0.05f}, .magnitude = 1.1f};
  return spec;
}

void add_tensors(MemorySource& source) {
  source.add_random("embd", {kWidth, kVocab});
  for (const char* name : {"norm1", "norm2", "q.bias"}) source.add_random(name, {kWidth});
  source.add_random("q", {kWidth, kWidth});
  source.add_random("k", {kWidth, kHeadsKv * kHead});
  source.add_random("v", {kWidth, kHeadsKv * kHead});
  source.add_random("o", {kWidth, kWidth});
  source.add_random("up", {kWidth, 2 * kHidden});
  source.add_random("down", {kHidden, kWidth});
}

struct Built {
  Program program;
  Value hidden;  // a tap: what enters the head
};

Built build(const MemorySource& source) {
  ProgramBuilder b(source, kernels::ActivationSetting::kInt8);
  Value x = b.embed("embd", kVocab, kWidth, kEmbedScale);
  const Value h = b.rms_norm(x, "norm1", kEps);
  const Value q =
      b.rope(b.linear_bias(h, "q", "q.bias", kWidth), rope_spec(), kHeads, kernels::RopePairs::kHalves);
  const Value k =
      b.rope(b.linear(h, "k", kHeadsKv * kHead), rope_spec(), kHeadsKv, kernels::RopePairs::kHalves);
  const Value v = b.linear(h, "v", kHeadsKv * kHead);
  const Value mixed = b.attention(
      q, k, v, {.n_head = kHeads, .n_head_kv = kHeadsKv, .d_k = kHead, .d_v = kHead, .scale = kScale});
  x = b.add(x, b.linear(mixed, "o", kWidth), kResidual);
  const Value up = b.linear(b.rms_norm(x, "norm2", kEps), "up", 2 * kHidden);
  const Value gated =
      b.gated_activation(b.slice(up, 0, kHidden), b.slice(up, kHidden, kHidden), kernels::Activation::kSilu);
  x = b.add(x, b.linear(gated, "down", kWidth));
  b.tap(x, "hidden");
  const Value logits = b.softcap(b.linear(b.select_outputs(x), "embd", kVocab), kCap);
  return {.program = std::move(b).finish(logits).value(), .hidden = x};
}

// The same model on one sequence, a token at a time, in double.
class PlainModel {
 public:
  explicit PlainModel(const MemorySource& source) : source_(source) {}

  struct Result {
    Row hidden, logits;
  };
  Result feed(int32_t token) {
    Row x(kWidth);
    for (int64_t i = 0; i < kWidth; ++i)
      x[i] = static_cast<double>(source_.values("embd")[token * kWidth + i] * kEmbedScale);
    const Row h = norm(x, "norm1");
    Row q = matrix(h, "q", kWidth);
    for (int64_t i = 0; i < kWidth; ++i) q[i] += static_cast<double>(source_.values("q.bias")[i]);
    Row k = matrix(h, "k", kHeadsKv * kHead);
    rotate(q);
    rotate(k);
    keys_.push_back(k);
    values_.push_back(matrix(h, "v", kHeadsKv * kHead));
    const Row o = matrix(attend(q), "o", kWidth);
    for (int64_t i = 0; i < kWidth; ++i) x[i] += kResidual * o[i];
    const Row up = matrix(norm(x, "norm2"), "up", 2 * kHidden);
    Row gated(kHidden);
    for (int64_t i = 0; i < kHidden; ++i) gated[i] = up[i] / (1 + std::exp(-up[i])) * up[kHidden + i];
    const Row down = matrix(gated, "down", kWidth);
    for (int64_t i = 0; i < kWidth; ++i) x[i] += down[i];
    Row logits = matrix(x, "embd", kVocab);
    for (double& logit : logits) logit = kCap * std::tanh(logit / kCap);
    return {.hidden = x, .logits = logits};
  }

 private:
  Row norm(const Row& x, const std::string& weight) const {
    double sum = 0;
    for (double value : x) sum += value * value;
    const double scale = 1 / std::sqrt(sum / static_cast<double>(x.size()) + static_cast<double>(kEps));
    Row y(x.size());
    for (size_t i = 0; i < x.size(); ++i)
      y[i] = x[i] * scale * static_cast<double>(source_.values(weight)[i]);
    return y;
  }
  Row matrix(const Row& x, const std::string& weight, int64_t n) const {
    Row y(static_cast<size_t>(n), 0);
    for (size_t r = 0; r < y.size(); ++r) {
      for (size_t c = 0; c < x.size(); ++c)
        y[r] += x[c] * static_cast<double>(source_.values(weight)[r * x.size() + c]);
    }
    return y;
  }
  void rotate(Row& x) const {
    const auto position = static_cast<double>(keys_.size());
    const std::vector<float>& freq = rope_spec().inv_freq;
    for (size_t head = 0; head < x.size() / kHead; ++head) {
      for (size_t i = 0; i < freq.size(); ++i) {
        double& a = x[head * kHead + i];
        double& b = x[head * kHead + freq.size() + i];
        const double angle = position * static_cast<double>(freq[i]);
        const double c = std::cos(angle) * static_cast<double>(rope_spec().magnitude);
        const double s = std::sin(angle) * static_cast<double>(rope_spec().magnitude);
        const double rotated = a * c - b * s;
        b = a * s + b * c;
        a = rotated;
      }
    }
  }
  Row attend(const Row& q) const {
    Row out(kWidth, 0);
    for (size_t head = 0; head < kHeads; ++head) {
      const size_t kv = head / (kHeads / kHeadsKv) * kHead;
      Row weights(keys_.size());
      double sum = 0;
      for (size_t p = 0; p < keys_.size(); ++p) {
        double score = 0;
        for (size_t d = 0; d < kHead; ++d) score += q[head * kHead + d] * keys_[p][kv + d];
        weights[p] = std::exp(static_cast<double>(kScale) * score);
        sum += weights[p];
      }
      for (size_t p = 0; p < keys_.size(); ++p) {
        for (size_t d = 0; d < kHead; ++d) out[head * kHead + d] += weights[p] / sum * values_[p][kv + d];
      }
    }
    return out;
  }

  const MemorySource& source_;
  std::vector<Row> keys_, values_;
};

// A program loaded and ready, with memory for some sequences, pages in no order.
class Machine {
 public:
  struct Options {
    int threads = 2;
    RowPhases row_phases = RowPhases::kMerged;
    bool passes = true;
    AttentionSplit attention_split = AttentionSplit::kOn;
    HeadTiles head_tiles = HeadTiles::kOn;
    GatedTiles gated_tiles = GatedTiles::kOn;
    int32_t pages_per_sequence = 3;
    int32_t n_sequences = 2;
  };

  Machine(const MemorySource& source, const Options& options)
      : built_(build(source)), device_(CpuDevice::create("auto", options.threads).value()) {
    if (options.passes) run_passes(built_.program, {});
    weights_ = WeightStore::load(built_.program, source, device_.pool(), [](size_t, size_t) {
                 return true;
               }).value();
    const KvBinding sizes = bind_kv(built_.program.kv_layers[0], KvType::kF32, nullptr, 0);
    const size_t stride = sizes.layout.page_bytes();
    const int32_t n_pages = options.n_sequences * options.pages_per_sequence;
    tables_.resize(static_cast<size_t>(options.n_sequences));
    lengths_.resize(tables_.size());
    for (int32_t i = 0; i < n_pages; ++i) {
      tables_[static_cast<size_t>(i % options.n_sequences)].push_back(n_pages - 1 - i);
    }
    pages_ = MemoryRegion::allocate(stride * static_cast<size_t>(n_pages)).value();
    kv_ = bind_kv(built_.program.kv_layers[0], KvType::kF32, pages_.data(), stride);
    executor_.emplace(CpuExecutor::create({.program = &built_.program,
                                           .weights = &weights_,
                                           .kernels = &device_.kernels(),
                                           .pool = &device_.pool(),
                                           .n_threads = options.threads,
                                           .kv = {&kv_, 1},
                                           .limits = kLimits,
                                           .row_phases = options.row_phases,
                                           .attention_split = options.attention_split,
                                           .head_tiles = options.head_tiles,
                                           .gated_tiles = options.gated_tiles})
                          .value());
  }

  struct Item {
    size_t sequence;
    std::vector<int32_t> tokens;
  };
  // Runs the items as one step, logits for the rows asked for.
  void step(const std::vector<Item>& items, const std::vector<int32_t>& outputs, int32_t argmax_columns = 0) {
    std::vector<int32_t> tokens, positions;
    std::vector<int64_t> slots;
    std::vector<kernels::SequenceSpan> spans;
    for (const Item& item : items) {
      const auto begin = static_cast<int32_t>(tokens.size());
      for (int32_t token : item.tokens) {
        const int32_t position = lengths_[item.sequence]++;
        tokens.push_back(token);
        positions.push_back(position);
        const size_t page = static_cast<size_t>(position) / 16;
        slots.push_back(int64_t{tables_[item.sequence][page]} * 16 + position % 16);
      }
      spans.push_back({.row_begin = begin,
                       .row_end = static_cast<int32_t>(tokens.size()),
                       .table = tables_[item.sequence].data()});
    }
    const KvTables tables{.slots = slots.data(), .spans = spans};
    executor_->run({.tokens = tokens,
                    .positions = positions.data(),
                    .kv = {&tables, 1},
                    .output_rows = outputs,
                    .argmax_columns = argmax_columns});
  }
  std::span<const float> logits(int64_t row) const { return executor_->logits_row(row); }
  std::span<const float> hidden(int64_t row) const { return executor_->tap_row(built_.hidden, row); }
  const CpuExecutor& executor() const { return *executor_; }
  const Program& program() const { return built_.program; }
  const CpuDevice& device() const { return device_; }

  static constexpr StepLimits kLimits = {.max_tokens = 40, .max_outputs = 40};

 private:
  std::vector<std::vector<int32_t>> tables_;
  Built built_;
  CpuDevice device_;
  WeightStore weights_;
  MemoryRegion pages_;
  KvBinding kv_;
  std::optional<CpuExecutor> executor_;
  std::vector<int32_t> lengths_;
};

void expect_near(std::span<const float> got, const Row& want, const char* what) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(static_cast<double>(got[i]), want[i], 2e-5) << what << " " << i;
}

class ExecutorTest : public ::testing::Test {
 protected:
  ExecutorTest() { add_tensors(source); }
  static std::vector<int32_t> tokens(int n, int start) {
    std::vector<int32_t> list;
    for (int i = 0; i < n; ++i) list.push_back((start + i * 7) % static_cast<int>(kVocab));
    return list;
  }
  static std::vector<int32_t> rows(int n) {
    std::vector<int32_t> list(static_cast<size_t>(n));
    for (int i = 0; i < n; ++i) list[static_cast<size_t>(i)] = i;
    return list;
  }
  MemorySource source;
};

TEST_F(ExecutorTest, MatchesPlainLoops) {
  Machine machine(source, {});
  PlainModel plain(source);
  const std::vector<int32_t> prompt = tokens(37, 3);
  machine.step({{0, prompt}}, rows(37));
  for (int i = 0; i < 37; ++i) {
    const PlainModel::Result want = plain.feed(prompt[static_cast<size_t>(i)]);
    expect_near(machine.hidden(i), want.hidden, "hidden");
    expect_near(machine.logits(i), want.logits, "logit");
  }
  for (int32_t token : {5, 5, 0}) {
    machine.step({{0, {token}}}, {0});
    expect_near(machine.logits(0), plain.feed(token).logits, "decoded logit");
  }
}

TEST_F(ExecutorTest, SequencesOfOneStepDoNotMix) {
  Machine machine(source, {});
  PlainModel first(source), second(source);
  const std::vector<int32_t> a = tokens(9, 1);
  const std::vector<int32_t> b = tokens(20, 11);
  for (int32_t token : a) first.feed(token);
  for (int32_t token : b) second.feed(token);
  machine.step({{0, a}}, {});
  machine.step({{1, b}, {0, {4}}}, {20, 3});
  expect_near(machine.logits(0), first.feed(4).logits, "logit");
  PlainModel again(source);
  PlainModel::Result want;
  for (size_t i = 0; i <= 3; ++i) want = again.feed(b[i]);
  expect_near(machine.logits(1), want.logits, "logit");
  machine.step({{0, {2}}, {1, {2}}}, {0, 1});
  expect_near(machine.logits(0), first.feed(2).logits, "logit");
  expect_near(machine.logits(1), second.feed(2).logits, "logit");
}

TEST_F(ExecutorTest, BitsDoNotDependOnHowItRuns) {
  const std::vector<int32_t> prompt = tokens(33, 2);
  Machine reference(
      source,
      {.threads = 1, .row_phases = RowPhases::kSeparate, .passes = false, .gated_tiles = GatedTiles::kOff});
  reference.step({{0, prompt}}, rows(33));
  for (int threads : {1, 3}) {
    for (RowPhases row_phases : {RowPhases::kMerged, RowPhases::kSeparate}) {
      for (bool passes : {true, false}) {
        Machine machine(source, {.threads = threads, .row_phases = row_phases, .passes = passes});
        machine.step({{0, prompt}}, rows(33));
        for (int i = 0; i < 33; ++i) {
          ASSERT_EQ(std::memcmp(machine.logits(i).data(), reference.logits(i).data(), kVocab * sizeof(float)),
                    0)
              << threads << " threads, row " << i;
        }
      }
    }
  }
}

TEST_F(ExecutorTest, DividingALongSequenceBesideAShortOneKeepsTheBits) {
  const Machine::Options whole = {
      .threads = 4, .attention_split = AttentionSplit::kOff, .pages_per_sequence = 80};
  Machine::Options split = whole;
  split.attention_split = AttentionSplit::kOn;
  Machine a(source, whole), b(source, split);
  for (int i = 0; i < 39; ++i) {
    for (Machine* machine : {&a, &b}) machine->step({{0, tokens(32, i)}, {1, tokens(8, i)}}, {31, 39});
    for (int row : {0, 1}) {
      ASSERT_EQ(std::memcmp(a.logits(row).data(), b.logits(row).data(), kVocab * sizeof(float)), 0)
          << "step " << i << ", row " << row;
    }
  }
  EXPECT_EQ(a.executor().n_split_attentions(), 0);
  EXPECT_GT(b.executor().n_split_attentions(), 0);
}

TEST_F(ExecutorTest, ManyStreamsBesideAPromptKeepTheBits) {
  // So many that threads take whole streams (AttentionStep::run_whole), the prompt's units one by one.
  constexpr int32_t kStreams = 29;
  const Machine::Options options = {.n_sequences = kStreams + 1};
  Machine together(source, options);
  Machine::Options one_thread = options;
  one_thread.threads = 1;
  Machine alone(source, one_thread);
  for (size_t i = 0; i < kStreams; ++i) {
    const std::vector<int32_t> prompt = tokens(1 + static_cast<int>(i), static_cast<int>(i));
    for (Machine* machine : {&together, &alone}) machine->step({{i, prompt}}, {});
  }
  std::vector<Machine::Item> items;
  for (size_t i = 0; i < kStreams; ++i) items.push_back({i, {static_cast<int32_t>(i)}});
  items.push_back({kStreams, tokens(11, 5)});
  together.step(items, rows(kStreams + 11));
  int64_t row = 0;
  for (const Machine::Item& item : items) {
    const auto n = static_cast<int>(item.tokens.size());
    alone.step({item}, rows(n));
    for (int i = 0; i < n; ++i, ++row) {
      ASSERT_EQ(std::memcmp(together.logits(row).data(), alone.logits(i).data(), kVocab * sizeof(float)), 0)
          << "row " << row;
    }
  }
}

TEST_F(ExecutorTest, FusionsLeaveFewerBarriers) {
  const Machine fused(source, {});
  const Machine plain(source, {.row_phases = RowPhases::kSeparate,
                               .passes = false,
                               .head_tiles = HeadTiles::kOff,
                               .gated_tiles = GatedTiles::kOff});
  EXPECT_EQ(plain.executor().n_phases(), static_cast<int64_t>(plain.program().ops.size()));
  // norm | qkv | rope, store | attention | o | add, norm | up, gated | down | add | gather | head, cap
  EXPECT_EQ(fused.executor().n_phases(), 11);
}

TEST_F(ExecutorTest, TheHeadFindsTheLargestLogitOfTheLowestId) {
  // Words 16 and on are those from 0 on, so that every logit meets its equal in the other group of 16.
  std::vector<float> words(source.values("embd"), source.values("embd") + kVocab * kWidth);
  std::copy_n(words.begin(), words.size() - 16 * kWidth, words.begin() + 16 * kWidth);
  source.add("embd", {kWidth, kVocab}, words);
  Machine separate(source, {.head_tiles = HeadTiles::kOff});
  separate.step({{0, tokens(40, 1)}}, rows(40), kVocab);
  EXPECT_EQ(separate.executor().argmax(0), std::nullopt);
  int n_ties = 0;
  for (const int threads : {1, 2, 3}) {
    for (const int32_t columns : {int32_t{kVocab}, 21, 5, 0}) {
      Machine machine(source, {.threads = threads});
      machine.step({{0, tokens(40, 1)}}, rows(40), columns);
      for (int row = 0; row < 40; ++row) {
        const std::span<const float> logits = machine.logits(row);
        ASSERT_EQ(std::memcmp(logits.data(), separate.logits(row).data(), logits.size_bytes()), 0);
        const std::optional<int32_t> found = machine.executor().argmax(row);
        ASSERT_EQ(found.has_value(), columns > 0);
        if (columns == 0) continue;
        const auto largest = std::max_element(logits.begin(), logits.begin() + columns);  // the first of them
        EXPECT_EQ(*found, largest - logits.begin()) << threads << " threads, row " << row;
        n_ties += std::count(logits.begin(), logits.begin() + columns, *largest) > 1 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(n_ties, 0);
}

TEST_F(ExecutorTest, ADryExecutorKnowsTheSameBytes) {
  const Machine machine(source, {});
  const CpuDevice dry_device = CpuDevice::create_dry("auto", 2).value();
  const KvBinding kv = bind_kv(machine.program().kv_layers[0], KvType::kF32, nullptr, 0);
  const CpuExecutor dry = CpuExecutor::create({.program = &machine.program(),
                                               .kernels = &dry_device.kernels(),
                                               .n_threads = 2,
                                               .kv = {&kv, 1},
                                               .limits = Machine::kLimits,
                                               .allocation = Allocation::kDry})
                              .value();
  EXPECT_EQ(dry.arena_bytes(), machine.executor().arena_bytes());
  EXPECT_EQ(dry.tap_bytes(), machine.executor().tap_bytes());
  EXPECT_EQ(dry.scratch_bytes(), machine.executor().scratch_bytes());
  EXPECT_GE(dry.tap_bytes(), 40u * (kVocab + kWidth) * sizeof(float));
}

TEST(CpuDevice, ChoicesAreCheckedByName) {
  EXPECT_EQ(CpuDevice::create("pdp11", 1).error().code, ErrorCode::kInvalidArgument);
  EXPECT_FALSE(CpuDevice::create("auto", -1).ok());
  EXPECT_FALSE(CpuDevice::create("auto", 100000).ok());
  EXPECT_GE(CpuDevice::create_dry("auto", 0).value().n_threads(), 1);
  for (const char* name : {"f16", "bf16", "f32"})
    EXPECT_STREQ(kv_type_name(parse_kv_type(name).value()), name);
  EXPECT_THAT(parse_kv_type("q3").error().message, ::testing::HasSubstr("f16, bf16 or f32"));
  for (const char* name : {"int8", "f32"})
    EXPECT_STREQ(activations_name(parse_activations(name).value()), name);
  EXPECT_THAT(parse_activations("f64").error().message, ::testing::HasSubstr("int8 or f32"));
}

}  // namespace
}  // namespace quire::graph
