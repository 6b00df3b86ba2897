// Val: a value while a template runs, and the objects it may point to. Heap: their owner.
//
// A Val is a 16-byte handle, copied freely; the objects live until the Heap of the render goes (no reference
// counts, so cycles through namespaces and macros are harmless; the Budget bounds the total). One render, one
// thread. Semantics are Python's: lists, tuples, views and one-shot iterators are ListObject kinds.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tokenizer/templates/ast.h"
#include "tokenizer/templates/budget.h"
#include "tokenizer/templates/text.h"

namespace quire::jinja {

class Interpreter;
struct Val;

enum class Tag : uint8_t {
  kMissing,  // an argument that was not given; never visible to a template
  kUndefined,
  kNone,
  kBool,
  kInt,
  kBigInt,  // decimal digits; can be printed and compared, not computed with
  kFloat,
  kString,
  kList,
  kDict,
  kNamespace,
  kMacro,
  kFunction,
  kMethod,
  kLoop,
  kCycler,
  kJoiner,
};

struct UndefinedObject;
struct ListObject;
struct DictObject;
struct MacroObject;
struct FunctionObject;
struct MethodObject;
struct LoopObject;
struct CyclerObject;
struct JoinerObject;

struct Val {
  Tag tag = Tag::kMissing;
  Origin origin = Origin::kTemplate;  // of everything but text, which knows the origin of each byte
  union {
    bool boolean;
    int64_t integer;
    double real;
    const Text* text;  // kString, kBigInt
    UndefinedObject* undefined;
    ListObject* list;
    DictObject* dict;  // kDict, kNamespace
    MacroObject* macro;
    const FunctionObject* function;
    MethodObject* method;
    LoopObject* loop;
    CyclerObject* cycler;
    JoinerObject* joiner;
  };

  Val() : integer(0) {}
  static Val none(Origin origin = Origin::kTemplate);
  static Val of(bool value, Origin origin = Origin::kTemplate);
  static Val of(int64_t value, Origin origin = Origin::kTemplate);
  static Val of(double value, Origin origin = Origin::kTemplate);
  static Val of(const Text* value);

  bool is(Tag kind) const { return tag == kind; }
  bool given() const { return tag != Tag::kMissing; }
  std::string_view view() const { return text->view(); }  // kString only
};

// Why a value is undefined; the words are made when an error needs them.
struct UndefinedObject {
  std::string hint;         // whole message when not empty
  std::string name;         // "'name' is undefined", or the attribute looked up on `holder`
  std::string holder;       // type of the object that lacks it, e.g. "dict object"; empty: a variable
  bool is_element = false;  // the key was no string: "list object has no element 5"
  std::string message() const;
};

enum class ListKind : uint8_t { kList, kTuple, kIterator, kRange, kKeys, kValues, kItems };

struct ListObject {
  ListKind kind = ListKind::kList;
  std::vector<Val> items;
  size_t consumed = 0;                    // kIterator: items already handed out
  const char* type_name = "generator";    // kIterator: Python's name of the type
  int64_t start = 0, stop = 0, step = 1;  // kRange: as repr() shows it
  bool is_group = false;  // kTuple: made by groupby, its items are also called grouper and list
};

// Insertion-ordered; keys are hashable values. Filled once, except namespaces.
struct DictObject {
  std::vector<std::pair<Val, Val>> entries;
  std::unordered_map<std::string_view, size_t> index;  // string keys, once there are more than a few
};

// Variables of one scope; macros keep the scope they were defined in.
struct Scope {
  Scope* parent = nullptr;
  bool captured = false;  // a macro refers to it: not reusable for the next iteration
  std::vector<std::pair<SymbolId, Val>> variables;
};

struct MacroObject {
  const MacroNode* node = nullptr;
  Scope* scope = nullptr;
};

struct CallArguments {
  std::vector<Val> positional;
  std::vector<std::pair<std::string_view, Val>> named;
};

// Arguments of a builtin after matching with its parameter names. values[i] may be kMissing.
struct Bound {
  std::vector<Val> values;
  const CallArguments* raw = nullptr;
  Val operator[](size_t i) const { return values[i]; }
};

using Builtin = Val (*)(Interpreter&, const Val& self, const Bound& arguments);

// A filter, test, method or global function. `parameters` is a comma-separated list of names, of which the
// first `required` must be given; "*" means that the builtin reads Bound::raw itself.
struct FunctionObject {
  std::string_view name;
  std::string_view parameters;
  int required;
  Builtin call;
};

struct MethodObject {
  Val self;
  const FunctionObject* function = nullptr;
};

struct LoopObject {
  const ForNode* node = nullptr;
  Scope* scope = nullptr;  // where the loop stands; a recursive call renders there again
  std::vector<Val> items;
  size_t index0 = 0;
  int depth0 = 0;
  std::vector<Val> last_changed;
  bool changed_before = false;
};

struct CyclerObject {
  std::vector<Val> items;
  size_t position = 0;
};

struct JoinerObject {
  Val separator;
  bool used = false;
};

class Heap {
 public:
  explicit Heap(Budget& budget) : budget_(budget) {}
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  Budget& budget() { return budget_; }

  Val string(TextBuilder&& builder);
  Val string(std::string bytes, Origin origin);
  Val view(std::string_view bytes, Origin origin);        // bytes outlive the heap
  Val slice(const Text& text, size_t begin, size_t end);  // bytes
  Val big_integer(std::string_view digits, Origin origin);
  Val undefined(UndefinedObject reason);
  Val list(std::vector<Val> items, ListKind kind = ListKind::kList, Origin origin = Origin::kTemplate);
  Val iterator(std::vector<Val> items, const char* type_name, Origin origin);
  Val dict(Origin origin = Origin::kTemplate);
  Val name_space();
  Val macro(const MacroNode* node, Scope* scope);
  Val function(const FunctionObject* function);
  Val method(Val self, const FunctionObject* function);
  LoopObject* loop();
  Val cycler(std::vector<Val> items);
  Val joiner(Val separator);
  Scope* scope(Scope* parent);

 private:
  template <typename T>
  T* make(std::deque<T>& pool, size_t extra_bytes = 0) {
    budget_.charge_memory(sizeof(T) + extra_bytes);
    return &pool.emplace_back();
  }

  Budget& budget_;
  std::deque<Text> texts_;
  std::deque<UndefinedObject> undefined_;
  std::deque<ListObject> lists_;
  std::deque<DictObject> dicts_;
  std::deque<MacroObject> macros_;
  std::deque<MethodObject> methods_;
  std::deque<LoopObject> loops_;
  std::deque<CyclerObject> cyclers_;
  std::deque<JoinerObject> joiners_;
  std::deque<Scope> scopes_;
};

// Dict access by a key of any hashable kind. insert() replaces in place. Failure for an unhashable key.
const Val* dict_find(Budget& budget, const DictObject& dict, const Val& key);
const Val* dict_find(const DictObject& dict, std::string_view key);
void dict_insert(Budget& budget, DictObject& dict, const Val& key, const Val& value);

}  // namespace quire::jinja
