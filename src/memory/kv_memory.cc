#include "memory/kv_memory.h"

#include <algorithm>

#include "base/check.h"

namespace quire {
namespace {

size_t page_bytes_of(const LayerNeed& need, int32_t element_bytes) {
  const auto& attention = std::get<AttentionNeed>(need);
  return static_cast<size_t>(attention.n_head_kv) * static_cast<size_t>(attention.d_k + attention.d_v) *
         static_cast<size_t>(kPagePositions) * static_cast<size_t>(element_bytes);
}

}  // namespace

KvMemory::KvMemory(const KvMemoryConfig& config)
    : max_positions_(config.max_positions),
      max_step_tokens_(static_cast<size_t>(config.max_step_tokens)),
      pool_(config.n_pages) {
  table_stride_ = static_cast<size_t>(pages_for(config.max_positions));
  tables_.resize(static_cast<size_t>(config.max_sequences) * table_stride_, -1);
  sequences_.resize(static_cast<size_t>(config.max_sequences));
  positions_.reserve(max_step_tokens_);
  slots_.reserve(max_step_tokens_);
  spans_.reserve(static_cast<size_t>(config.max_sequences));
  size_t base = 0;
  for (const LayerNeed& need : config.needs) {
    bases_.push_back(base);
    strides_.push_back(page_bytes_of(need, config.element_bytes));
    base += strides_.back() * static_cast<size_t>(config.n_pages);
  }
}

Result<KvMemory> KvMemory::create(const KvMemoryConfig& config) {
  QUIRE_CHECK(config.n_pages > 0 && config.max_sequences > 0 && config.max_positions > 0 &&
              config.max_step_tokens > 0);
  KvMemory memory(config);
  const size_t bytes = memory.bases_.empty() ? 0
                                             : memory.bases_.back() + memory.strides_.back() *
                                                                          static_cast<size_t>(config.n_pages);
  QUIRE_ASSIGN_OR_RETURN(memory.region_, MemoryRegion::allocate(bytes, config.allocation));
  return memory;
}

size_t KvMemory::table_bytes() const {
  return tables_.size() * sizeof(int32_t) + sequences_.size() * (sizeof(Sequence) + sizeof(StepSpan)) +
         max_step_tokens_ * (sizeof(int32_t) + sizeof(int64_t));
}

std::byte* KvMemory::layer_pages(size_t layer) const {
  return region_.data() == nullptr ? nullptr : region_.data() + bases_[layer];
}

KvMemory::Sequence& KvMemory::state(SequenceId sequence) {
  QUIRE_CHECK(sequence.index >= 0 && static_cast<size_t>(sequence.index) < sequences_.size());
  Sequence& s = sequences_[static_cast<size_t>(sequence.index)];
  QUIRE_CHECK(s.open);
  return s;
}

const KvMemory::Sequence& KvMemory::state(SequenceId sequence) const {
  return const_cast<KvMemory*>(this)->state(sequence);
}

Result<SequenceId> KvMemory::open() {
  for (size_t i = 0; i < sequences_.size(); ++i) {
    if (sequences_[i].open) continue;
    sequences_[i] = {.open = true};
    return SequenceId{static_cast<int32_t>(i)};
  }
  return make_error(ErrorCode::kResourceExhausted, "all {} sequences are in use", sequences_.size());
}

void KvMemory::close(SequenceId sequence) {
  truncate(sequence, 0);
  state(sequence).open = false;
  // Idle: what comes next gets neighbouring pages again, as after a fresh start.
  if (pool_.n_free() == pool_.n_pages()) pool_.sort_free();
}

void KvMemory::begin_step() {
  positions_.clear();
  slots_.clear();
  spans_.clear();
}

Status KvMemory::append(SequenceId sequence, int64_t n_tokens) {
  Sequence& s = state(sequence);
  QUIRE_CHECK(n_tokens > 0);
  if (s.length + n_tokens > max_positions_) {
    return make_error(ErrorCode::kContextLength, "{} tokens do not fit the context of {}",
                      s.length + n_tokens, max_positions_);
  }
  if (positions_.size() + static_cast<size_t>(n_tokens) > max_step_tokens_ ||
      spans_.size() == sequences_.size()) {
    return make_error(ErrorCode::kResourceExhausted,
                      "the step has {} of {} tokens in {} of {} spans, {} more tokens do not fit",
                      positions_.size(), max_step_tokens_, spans_.size(), sequences_.size(), n_tokens);
  }
  const auto needed = static_cast<int32_t>(pages_for(s.length + n_tokens)) - s.n_pages;
  if (needed > pool_.n_free()) {
    return make_error(ErrorCode::kResourceExhausted, "{} pages are needed and {} of {} are free", needed,
                      pool_.n_free(), pool_.n_pages());
  }
  int32_t* pages = table(sequence);
  for (int32_t i = 0; i < needed; ++i) pages[s.n_pages++] = pool_.take();

  const auto row_begin = static_cast<int32_t>(positions_.size());
  for (int64_t p = s.length; p < s.length + n_tokens; ++p) {
    positions_.push_back(static_cast<int32_t>(p));
    slots_.push_back(int64_t{pages[p / kPagePositions]} * kPagePositions + p % kPagePositions);
  }
  spans_.push_back(
      {.row_begin = row_begin, .row_end = static_cast<int32_t>(positions_.size()), .table = pages});
  s.length += n_tokens;
  return {};
}

StepTables KvMemory::tables() const { return {.positions = positions_, .slots = slots_, .spans = spans_}; }

void KvMemory::truncate(SequenceId sequence, int64_t n_keep) {
  Sequence& s = state(sequence);
  QUIRE_CHECK(n_keep >= 0 && n_keep <= s.length);
  const auto keep = static_cast<int32_t>(pages_for(n_keep));
  int32_t* pages = table(sequence);
  while (s.n_pages > keep) {
    pool_.release(pages[--s.n_pages]);
    pages[s.n_pages] = -1;
  }
  s.length = n_keep;
}

Status KvMemory::check() const {
  QUIRE_RETURN_IF_ERROR(pool_.check());
  std::vector<bool> owned(static_cast<size_t>(pool_.n_pages()), false);
  int32_t n_owned = 0;
  for (size_t i = 0; i < sequences_.size(); ++i) {
    const Sequence& s = sequences_[i];
    if (!s.open) continue;
    if (pages_for(s.length) != s.n_pages) {
      return make_error(ErrorCode::kInternal, "sequence {} of {} positions owns {} pages", i, s.length,
                        s.n_pages);
    }
    const int32_t* pages = table(SequenceId{static_cast<int32_t>(i)});
    for (int32_t p = 0; p < s.n_pages; ++p) {
      const int32_t page = pages[p];
      if (page < 0 || page >= pool_.n_pages() || pool_.is_free(page) || owned[static_cast<size_t>(page)]) {
        return make_error(ErrorCode::kInternal,
                          "sequence {} holds page {}, which is free, foreign or held twice", i, page);
      }
      owned[static_cast<size_t>(page)] = true;
      ++n_owned;
    }
  }
  if (n_owned + pool_.n_free() != pool_.n_pages()) {
    return make_error(ErrorCode::kInternal, "{} pages owned and {} free of {}", n_owned, pool_.n_free(),
                      pool_.n_pages());
  }
  return {};
}

}  // namespace quire
