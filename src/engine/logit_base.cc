#include "engine/logit_base.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>

#include "base/check.h"

namespace quire {
namespace {

constexpr char kMagic[8] = {'Q', 'U', 'I', 'R', 'E', 'L', 'P', 'B'};
constexpr uint32_t kVersion = 1;
constexpr size_t kHeaderBytes = sizeof kMagic + 4 * sizeof(uint32_t);
// A row begins with four numbers; each kept token takes three bytes at least.
constexpr size_t kRowBytes = 4 * sizeof(uint32_t);
constexpr size_t kLeastKeptBytes = 3;

template <typename T>
void append(std::vector<unsigned char>& bytes, T value) {
  const auto* raw = reinterpret_cast<const unsigned char*>(&value);
  bytes.insert(bytes.end(), raw, raw + sizeof value);
}

void append_varint(std::vector<unsigned char>& bytes, uint32_t value) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<unsigned char>(value | 0x80));
  bytes.push_back(static_cast<unsigned char>(value));
}

// Reads values from bytes that may end too early, in which case there is no value.
class Cursor {
 public:
  Cursor(std::span<const std::byte> bytes, size_t at) : bytes_(bytes), at_(at) {}
  size_t at() const { return at_; }
  size_t left() const { return bytes_.size() - at_; }

  template <typename T>
  std::optional<T> read() {
    if (left() < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::optional<uint32_t> read_varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 32; shift += 7) {
      const std::optional<uint8_t> byte = read<uint8_t>();
      if (!byte) return std::nullopt;
      value |= static_cast<uint64_t>(*byte & 0x7f) << shift;
      if (*byte < 0x80)
        return value <= std::numeric_limits<uint32_t>::max() ? std::optional(static_cast<uint32_t>(value))
                                                             : std::nullopt;
    }
    return std::nullopt;
  }

 private:
  std::span<const std::byte> bytes_;
  size_t at_;
};

bool is_log_probability(float value) { return value <= 1e-3f; }  // not NaN either

// False when the row is cut off or makes no sense.
bool read_row(Cursor& in, int64_t n_vocab, BaseRow& row) {
  const auto top = in.read<uint32_t>();
  const auto next = in.read<float>();
  const auto rest = in.read<float>();
  const auto n_kept = in.read<uint32_t>();
  if (!n_kept || *top >= static_cast<uint64_t>(n_vocab) || !is_log_probability(*next) ||
      !is_log_probability(*rest))
    return false;
  if (*n_kept > in.left() / kLeastKeptBytes) return false;
  row.top = static_cast<TokenId>(*top);
  row.next_logprob = *next;
  row.rest_logprob = *rest;
  row.kept.clear();
  int64_t id = -1;
  for (uint32_t i = 0; i < *n_kept; ++i) {
    const std::optional<uint32_t> distance = in.read_varint();
    const auto code = in.read<uint16_t>();
    if (!distance || !code || *distance == 0) return false;
    id += *distance;
    if (id >= n_vocab) return false;
    row.kept.push_back({.id = static_cast<TokenId>(id), .code = *code});
  }
  return true;
}

}  // namespace

Error LogitBaseWriter::io_error() const {
  return make_error(ErrorCode::kIo, "{}: cannot write: {}", path_, std::strerror(errno));
}

Result<LogitBaseWriter> LogitBaseWriter::create(const std::string& path, const EvaluationText& text,
                                                int64_t n_vocab) {
  if (text.tokens.size() > std::numeric_limits<uint32_t>::max() ||
      text.window > std::numeric_limits<uint32_t>::max()) {
    return make_error(ErrorCode::kInvalidArgument, "{}: a text of {} tokens is too long to be saved", path,
                      text.tokens.size());
  }
  LogitBaseWriter writer(path, std::fopen(path.c_str(), "wb"), text.n_scored());
  if (writer.file_ == nullptr) return writer.io_error();
  std::vector<unsigned char>& bytes = writer.bytes_;
  bytes.insert(bytes.end(), std::begin(kMagic), std::end(kMagic));
  append(bytes, kVersion);
  append(bytes, static_cast<uint32_t>(n_vocab));
  append(bytes, static_cast<uint32_t>(text.window));
  append(bytes, static_cast<uint32_t>(text.tokens.size()));
  for (const TokenId token : text.tokens) append(bytes, token);
  QUIRE_RETURN_IF_ERROR(writer.flush_row());
  return writer;
}

LogitBaseWriter::~LogitBaseWriter() {
  if (file_ == nullptr) return;
  file_.reset();
  std::error_code error;
  if (std::filesystem::is_regular_file(path_, error)) std::filesystem::remove(path_, error);
}

Status LogitBaseWriter::flush_row() {
  const bool written = std::fwrite(bytes_.data(), 1, bytes_.size(), file_.get()) == bytes_.size();
  bytes_.clear();
  return written ? Status() : io_error();
}

Status LogitBaseWriter::write(const BaseRow& row) {
  QUIRE_CHECK(rows_left_ > 0);
  --rows_left_;
  append(bytes_, static_cast<uint32_t>(row.top));
  append(bytes_, row.next_logprob);
  append(bytes_, row.rest_logprob);
  append(bytes_, static_cast<uint32_t>(row.kept.size()));
  TokenId before = -1;
  for (const BaseRow::Kept& token : row.kept) {
    append_varint(bytes_, static_cast<uint32_t>(token.id - before));
    append(bytes_, token.code);
    before = token.id;
  }
  return flush_row();
}

Status LogitBaseWriter::finish() {
  QUIRE_CHECK(rows_left_ == 0);
  if (std::fflush(file_.get()) != 0) return io_error();
  if (std::fclose(file_.release()) != 0) return io_error();
  return {};
}

Result<LogitBaseReader> LogitBaseReader::open(const std::string& path) {
  QUIRE_ASSIGN_OR_RETURN(MappedFile file, MappedFile::open(path));
  const std::span<const std::byte> bytes = file.bytes();
  if (bytes.size() < kHeaderBytes || std::memcmp(bytes.data(), kMagic, sizeof kMagic) != 0) {
    return make_error(ErrorCode::kCorrupt,
                      "{}: not a file of base predictions (wrong magic); --save-logits writes one", path);
  }
  Cursor in(bytes, sizeof kMagic);
  const auto version = in.read<uint32_t>();
  const auto n_vocab = in.read<uint32_t>();
  const auto window = in.read<uint32_t>();
  const auto n_tokens = in.read<uint32_t>();
  if (*version != kVersion) {
    return make_error(ErrorCode::kUnsupported, "{}: base predictions of version {}, expected {}", path,
                      *version, kVersion);
  }
  if (*n_vocab == 0 || *n_vocab > std::numeric_limits<TokenId>::max() || *window < 2) {
    return make_error(ErrorCode::kCorrupt, "{}: a vocabulary of {} and windows of {} tokens", path, *n_vocab,
                      *window);
  }
  EvaluationText text{.window = *window, .tokens = {}};
  if (in.left() / sizeof(TokenId) < *n_tokens) {
    return make_error(ErrorCode::kCorrupt, "{}: ends within its {} tokens", path, *n_tokens);
  }
  text.tokens.resize(*n_tokens);
  std::memcpy(text.tokens.data(), bytes.data() + in.at(), *n_tokens * sizeof(TokenId));
  const size_t rows_at = in.at() + *n_tokens * sizeof(TokenId);
  if ((bytes.size() - rows_at) / kRowBytes < static_cast<size_t>(text.n_scored())) {
    return make_error(ErrorCode::kCorrupt, "{}: too short for {} predictions", path, text.n_scored());
  }
  return LogitBaseReader(std::move(file), *n_vocab, std::move(text), rows_at);
}

Result<const BaseRow*> LogitBaseReader::next() {
  QUIRE_CHECK(rows_left_ > 0);
  Cursor in(file_.bytes(), at_);
  if (!read_row(in, n_vocab_, row_)) {
    return make_error(ErrorCode::kCorrupt, "{}: prediction {} of {} is damaged or cut off", file_.path(),
                      text_.n_scored() - rows_left_ + 1, text_.n_scored());
  }
  --rows_left_;
  at_ = in.at();
  return &row_;
}

Status LogitBaseReader::finish() const {
  QUIRE_CHECK(rows_left_ == 0);
  if (at_ == file_.bytes().size()) return {};
  return make_error(ErrorCode::kCorrupt, "{}: {} bytes follow the last prediction", file_.path(),
                    file_.bytes().size() - at_);
}

}  // namespace quire
