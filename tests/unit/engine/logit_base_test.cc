#include "engine/logit_base.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>

namespace quire {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kVocab = 70000;

class LogitBase : public ::testing::Test {
 protected:
  LogitBase()
      : path_(::testing::TempDir() + "quire-" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name()) {}
  ~LogitBase() override { std::filesystem::remove(path_); }

  // Two predictions: distances of one, two and three bytes.
  void write_good() {
    Result<LogitBaseWriter> writer = LogitBaseWriter::create(path_, text_, kVocab);
    ASSERT_TRUE(writer.ok()) << writer.error().message;
    for (const BaseRow& row : rows_) ASSERT_TRUE(writer->write(row).ok());
    ASSERT_TRUE(writer->finish().ok());
  }
  std::string bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void replace(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  // The error that comes from opening or from reading to the end.
  Error read_error() const {
    Result<LogitBaseReader> reader = LogitBaseReader::open(path_);
    if (!reader.ok()) return reader.error();
    for (int64_t i = 0; i < reader->text().n_scored(); ++i) {
      const Result<const BaseRow*> row = reader->next();
      if (!row.ok()) return row.error();
    }
    const Status end = reader->finish();
    return end.ok() ? Error{ErrorCode::kInternal, "no error"} : end.error();
  }

  std::string path_;
  EvaluationText text_{.window = 3, .tokens = {1, 5, 9}};
  std::vector<BaseRow> rows_ = {
      {.top = 200, .next_logprob = -1.5f, .rest_logprob = -7, .kept = {{0, 3}, {200, 1}, {69999, 65535}}},
      {.top = 0,
       .next_logprob = -std::numeric_limits<float>::infinity(),
       .rest_logprob = -std::numeric_limits<float>::infinity(),
       .kept = {}}};
};

TEST_F(LogitBase, ReadsWhatWasWritten) {
  write_good();
  Result<LogitBaseReader> reader = LogitBaseReader::open(path_);
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  EXPECT_EQ(reader->n_vocab(), kVocab);
  EXPECT_EQ(reader->text().window, text_.window);
  EXPECT_EQ(reader->text().tokens, text_.tokens);
  for (const BaseRow& expected : rows_) {
    const Result<const BaseRow*> row = reader->next();
    ASSERT_TRUE(row.ok()) << row.error().message;
    EXPECT_EQ((*row)->top, expected.top);
    EXPECT_EQ((*row)->next_logprob, expected.next_logprob);
    EXPECT_EQ((*row)->rest_logprob, expected.rest_logprob);
    ASSERT_EQ((*row)->kept.size(), expected.kept.size());
    for (size_t i = 0; i < expected.kept.size(); ++i) {
      EXPECT_EQ((*row)->kept[i].id, expected.kept[i].id);
      EXPECT_EQ((*row)->kept[i].code, expected.kept[i].code);
    }
  }
  EXPECT_TRUE(reader->finish().ok());
}

TEST_F(LogitBase, RefusesEveryTruncation) {
  write_good();
  const std::string whole = bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    replace(whole.substr(0, size));
    const Error error = read_error();
    EXPECT_EQ(error.code, ErrorCode::kCorrupt) << size << ": " << error.message;
    EXPECT_THAT(error.message, HasSubstr(path_));
  }
  replace(whole + "x");
  EXPECT_THAT(read_error().message, HasSubstr("1 bytes follow"));
}

TEST_F(LogitBase, SurvivesEveryByteChanged) {
  write_good();
  const std::string whole = bytes();
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char value : {'\0', '\x7f', '\x80', '\xff'}) {
      std::string changed = whole;
      changed[at] = value;
      replace(changed);
      (void)read_error();  // any answer, but no crash and no large allocation
    }
  }
}

TEST_F(LogitBase, SaysWhatIsWrong) {
  replace("a text, and no predictions");
  EXPECT_THAT(read_error().message, HasSubstr("magic"));
  write_good();
  std::string changed = bytes();
  changed[8] = 2;
  replace(changed);
  EXPECT_EQ(read_error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(read_error().message, HasSubstr("version 2"));
  EXPECT_EQ(LogitBaseReader::open("/no/such/file").error().code, ErrorCode::kNotFound);
}

TEST_F(LogitBase, AFileThatWasNotFinishedIsRemoved) {
  {
    Result<LogitBaseWriter> writer = LogitBaseWriter::create(path_, text_, kVocab);
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->write(rows_[0]).ok());
    EXPECT_TRUE(std::filesystem::exists(path_));
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(LogitBase, TroubleNamesTheFile) {
  EXPECT_THAT(LogitBaseWriter::create("/no/such/folder/base", text_, kVocab).error().message,
              HasSubstr("/no/such/folder/base"));
  Result<LogitBaseWriter> full = LogitBaseWriter::create("/dev/full", text_, kVocab);
  ASSERT_TRUE(full.ok());
  for (const BaseRow& row : rows_) (void)full->write(row);
  EXPECT_FALSE(full->finish().ok());
}

}  // namespace
}  // namespace quire
