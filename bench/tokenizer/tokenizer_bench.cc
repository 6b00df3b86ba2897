// Encodes and decodes a text over and over on one core and prints megabytes per second of processor time (so
// that other programs on the machine disturb little).
//
//   tokenizer_bench MODEL.gguf TEXT [SECONDS]
//
// The text is read once and encoded whole; encode speed is the best of the rounds that fit in SECONDS
// (default 2).
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>

#include "gguf/gguf_file.h"
#include "tokenizer/tokenizer.h"

namespace {

// Processor time of this thread, seconds.
double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

int fail(const quire::Error& error) {
  fmt::print(stderr, "error: {}\n", error.message);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: tokenizer_bench MODEL.gguf TEXT [SECONDS]\n");
    return 2;
  }
  const double budget = argc > 3 ? std::atof(argv[3]) : 2.0;
  std::ifstream in(argv[2], std::ios::binary);
  std::ostringstream buffer;
  buffer << in.rdbuf();
  const std::string text = std::move(buffer).str();
  auto file = quire::GgufFile::open(argv[1]);
  if (!file.ok()) return fail(file.error());
  quire::StderrLogSink log(quire::LogLevel::kWarning);
  const auto load_start = now();
  auto tokenizer = quire::Tokenizer::load(file->metadata(), log);
  if (!tokenizer.ok()) return fail(tokenizer.error());
  const double load_seconds = now() - load_start;

  quire::TokenizerScratch scratch = (*tokenizer)->make_scratch();
  const quire::TextSegment segment{text, quire::SpecialTokens::kParse};
  std::vector<quire::TokenId> ids;
  double encode_best = 1e9, decode_best = 1e9;
  size_t decoded = 0;
  const auto start = now();
  do {
    auto round = now();
    auto encoded = (*tokenizer)->encode({&segment, 1}, quire::AddSpecial::kNo, scratch);
    if (!encoded.ok()) return fail(encoded.error());
    encode_best = std::min(encode_best, now() - round);
    ids = std::move(*encoded);
    round = now();
    auto back = (*tokenizer)->decode(ids);
    if (!back.ok()) return fail(back.error());
    decode_best = std::min(decode_best, now() - round);
    decoded = back->size();
  } while (now() - start < budget);
  const double megabytes = static_cast<double>(text.size()) / 1e6;
  fmt::print(
      "{} {}: {} tokens, load {:.0f} ms, {:.2f} MB -> {} ids, encode {:.1f} MB/s, decode {:.1f} MB/s\n",
      (*tokenizer)->model(), (*tokenizer)->pre(), (*tokenizer)->n_vocab(), load_seconds * 1e3, megabytes,
      ids.size(), megabytes / encode_best, static_cast<double>(decoded) / 1e6 / decode_best);
  return 0;
}
