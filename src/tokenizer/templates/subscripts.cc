// object[index] and object[a:b:c], by Python's rules for negative indices and steps.
#include <algorithm>

#include "tokenizer/templates/operators.h"
#include "tokenizer/templates/unicode.h"

namespace quire::jinja {
namespace {

bool is_indexable_list(const Val& value) {
  if (!value.is(Tag::kList)) return false;
  const ListKind kind = value.list->kind;
  return kind == ListKind::kList || kind == ListKind::kTuple || kind == ListKind::kRange;
}

struct Range {
  int64_t start, stop, step;
};

// Python's PySlice_AdjustIndices.
Range clip(const SliceBounds& bounds, int64_t size) {
  const auto given = [](const Val& value) { return value.given() && !value.is(Tag::kNone); };
  Range range{0, 0, given(bounds.step) ? to_index(bounds.step, "slice indices") : 1};
  if (range.step == 0) fail("slice step cannot be zero");
  const auto place = [&](const Val& bound, int64_t absent) {
    if (!given(bound)) return absent;
    int64_t index = to_index(bound, "slice indices");
    const int64_t low = range.step < 0 ? -1 : 0;
    const int64_t high = range.step < 0 ? size - 1 : size;
    if (index < 0) index = index < -size ? low : index + size;
    return std::clamp(index, low, std::max(high, low));
  };
  range.start = place(bounds.start, range.step < 0 ? size - 1 : 0);
  range.stop = place(bounds.stop, range.step < 0 ? -1 : size);
  return range;
}

// Calls fn(i) for every index of the range; steps that would leave int64 cannot happen as the ends are
// clipped.
template <typename Fn>
void for_each_index(const Range& range, Fn fn) {
  if (range.step > 0) {
    for (int64_t i = range.start; i < range.stop;) {
      fn(i);
      if (range.step >= range.stop - i) break;
      i += range.step;
    }
  } else {
    for (int64_t i = range.start; i > range.stop;) {
      fn(i);
      if (range.step <= range.stop - i) break;
      i += range.step;
    }
  }
}

Val slice_text(Heap& heap, const Val& object, const SliceBounds& bounds) {
  const Text& text = *object.text;
  heap.budget().charge_scan(text.size() * 2);
  const Range range = clip(bounds, static_cast<int64_t>(count_characters(text)));
  if (range.step == 1) {
    if (range.start >= range.stop) return heap.slice(text, 0, 0);
    const size_t begin = character_offset(text, static_cast<size_t>(range.start));
    const size_t end = character_offset(text, static_cast<size_t>(range.stop - range.start), begin);
    return heap.slice(text, begin, end);
  }
  std::vector<size_t> offsets;  // of each character, only where characters have several bytes
  if (!text.ascii()) {
    heap.budget().charge_memory(text.size() * sizeof(size_t));
    for (size_t at = 0; at < text.size(); at += character_at(text.view(), at).length) offsets.push_back(at);
    offsets.push_back(text.size());
  }
  TextBuilder builder(heap.budget());
  for_each_index(range, [&](int64_t i) {
    heap.budget().charge_steps(1);
    const auto at = static_cast<size_t>(i);
    if (text.ascii()) {
      builder.append(text, at, at + 1);
    } else {
      builder.append(text, offsets[at], offsets[at + 1]);
    }
  });
  return heap.string(std::move(builder));
}

}  // namespace

Val element(Heap& heap, const Val& object, const Val& index) {
  if (object.is(Tag::kDict)) {
    const Val* found = dict_find(heap.budget(), *object.dict, index);
    return found == nullptr ? Val() : *found;
  }
  if (object.is(Tag::kString) || is_indexable_list(object)) {
    if (!index.is(Tag::kInt) && !index.is(Tag::kBool)) return Val();
    int64_t i = to_index(index, "index");
    if (object.is(Tag::kString)) {
      const Text& text = *object.text;
      heap.budget().charge_scan(text.size() * 2);
      const auto size = static_cast<int64_t>(count_characters(text));
      if (i < 0) i += size;
      if (i < 0 || i >= size) return Val();
      const size_t begin = character_offset(text, static_cast<size_t>(i));
      return heap.slice(text, begin, character_offset(text, 1, begin));
    }
    const auto size = static_cast<int64_t>(object.list->items.size());
    if (i < 0) i += size;
    return i < 0 || i >= size ? Val() : object.list->items[static_cast<size_t>(i)];
  }
  return Val();
}

Val slice(Heap& heap, const Val& object, const SliceBounds& bounds) {
  if (object.is(Tag::kString)) return slice_text(heap, object, bounds);
  if (!is_indexable_list(object)) return Val();
  const ListObject& list = *object.list;
  const Range range = clip(bounds, static_cast<int64_t>(list.items.size()));
  std::vector<Val> items;
  for_each_index(range, [&](int64_t i) {
    heap.budget().charge_steps(1);
    items.push_back(list.items[static_cast<size_t>(i)]);
  });
  Val result = heap.list(std::move(items), list.kind, object.origin);
  if (list.kind == ListKind::kRange) {
    result.list->start = list.start + range.start * list.step;
    result.list->stop = list.start + range.stop * list.step;
    result.list->step = list.step * range.step;
  }
  return result;
}

}  // namespace quire::jinja
