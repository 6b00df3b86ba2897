// One tokenizer, many threads.
#include <gtest/gtest.h>

#include <thread>

#include "test_vocabs.h"

namespace quire::test {
namespace {

TEST(ConcurrencyTest, ThreadsAgree) {
  for (VocabData data : {bpe_vocab("deepseek-llm"), spm_vocab(), wpm_vocab(), ugm_vocab()}) {
    const auto tokenizer = build(std::move(data));
    std::vector<std::string> texts;
    std::vector<std::vector<TokenId>> expected;
    for (uint32_t seed = 0; seed < 40; ++seed) {
      texts.push_back("hello world " + random_text(seed, 60, Garbage::kInvalidBytes));
      expected.push_back(encode(*tokenizer, texts.back(), SpecialTokens::kParse));
    }
    std::vector<size_t> wrong(4, 0);
    std::vector<std::thread> threads;
    for (size_t t = 0; t < wrong.size(); ++t) {
      threads.emplace_back([&, t] {
        TokenizerScratch scratch = tokenizer->make_scratch();
        for (int round = 0; round < 5; ++round) {
          for (size_t i = 0; i < texts.size(); ++i) {
            const TextSegment segment{texts[i], SpecialTokens::kParse};
            const auto ids = tokenizer->encode({&segment, 1}, AddSpecial::kNo, scratch);
            if (!ids.ok() || *ids != expected[i]) ++wrong[t];
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, std::vector<size_t>(4, 0));
  }
}

}  // namespace
}  // namespace quire::test
