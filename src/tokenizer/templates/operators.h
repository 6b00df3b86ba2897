// Python's operators on Val: truth, equality, order, arithmetic, length, iteration, subscripts.
//
// Free functions without state; results live in the Heap given. Failures carry Python's wording where
// templates' authors know it ("unsupported operand type(s) for +: 'int' and 'str'").
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tokenizer/templates/object.h"

namespace quire::jinja {

// Python's name of the type ("str", "dict", "NoneType").
std::string type_name(const Val& value);

// Fails with the undefined value's own message when `value` is undefined.
void require_defined(const Val& value);
void require_hashable(const Val& value);

bool truthy(const Val& value);
bool is_number(const Val& value);  // int, bool, float, big integer
bool equal(Budget& budget, const Val& a, const Val& b);
// a < b; fails when the types have no order. `symbol` is for the message only.
bool less(Budget& budget, const Val& a, const Val& b, const char* symbol = "<");
bool contains(Heap& heap, const Val& container, const Val& item);
bool same_object(const Val& a, const Val& b);  // Python's `is`

Val binary(Heap& heap, BinaryOp op, const Val& a, const Val& b);
Val negate(const Val& value);
Val plus(const Val& value);

// len(); fails for values without one.
int64_t length(const Val& value);
// True when len() would not fail.
bool has_length(const Val& value);
bool is_iterable(const Val& value);
// All items that iterating `value` gives now; a one-shot iterator is used up. Fails when not iterable.
std::vector<Val> iterate(Heap& heap, const Val& value);

// object[index] without the fallback to attributes; a kMissing Val when there is no such element.
Val element(Heap& heap, const Val& object, const Val& index);
struct SliceBounds {
  Val start, stop, step;  // kNone or kMissing when left out
};
Val slice(Heap& heap, const Val& object, const SliceBounds& bounds);

// str() of a value: text of strings keeps the origin of each byte.
Val to_text(Heap& heap, const Val& value);
void append_text(TextBuilder& out, const Val& value);
// repr() of a value.
void append_repr(TextBuilder& out, const Val& value);
// repr() as bytes, for messages.
std::string repr(Budget& budget, const Val& value);
// Python's repr of a float: shortest digits that round-trip, "1e+16" from there on, "inf", "nan".
std::string float_repr(double value);

// The index as an int64 (int or bool), else a failure naming `what`.
int64_t to_index(const Val& value, const char* what);

}  // namespace quire::jinja
