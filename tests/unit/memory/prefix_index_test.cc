#include "memory/prefix_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace quire {
namespace {

uint64_t always_seven(const void*, size_t) { return 7; }
uint64_t two_bits(const void* bytes, size_t n) {
  uint64_t sum = 0;
  for (size_t i = 0; i < n; ++i) sum = sum * 31 + static_cast<const uint8_t*>(bytes)[i];
  return sum % 4;
}

std::array<int32_t, 16> page(int32_t first) {
  std::array<int32_t, 16> tokens = {};
  for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = first + static_cast<int32_t>(i);
  return tokens;
}

PrefixScope scope(std::string_view domain, std::string_view extra = "") {
  return PrefixScope::create(domain, extra).value();
}

TEST(PrefixScope, EqualOnlyWhenBothPartsAre) {
  EXPECT_EQ(PrefixScope(), scope(""));
  EXPECT_EQ(scope("a", "b"), scope("a", "b"));
  EXPECT_NE(scope("ab", ""), scope("a", "b"));
  EXPECT_NE(scope("a", ""), scope("", "a"));
  EXPECT_NE(scope(std::string_view("\0", 1)), scope(""));
  EXPECT_TRUE(PrefixScope::create(std::string(62, 'x')).ok());
  EXPECT_FALSE(PrefixScope::create(std::string(63, 'x')).ok());
  EXPECT_FALSE(PrefixScope::create(std::string(30, 'x'), std::string(33, 'y')).ok());
}

class EveryHash : public ::testing::TestWithParam<uint64_t (*)(const void*, size_t)> {};
INSTANTIATE_TEST_SUITE_P(Weak, EveryHash, ::testing::Values(nullptr, always_seven, two_bits));

TEST_P(EveryHash, WhatDiffersIsNotFound) {
  PrefixIndex index({.max_nodes = 16, .hash = GetParam()});
  const NodeId root = index.add_root(scope("one"));
  index.retain(root);
  const NodeId first = index.add(root, page(1));
  index.set_page(first, 0, 40);
  const NodeId second = index.add(first, page(100));
  index.set_page(second, 0, 41);
  EXPECT_EQ(index.find_root(scope("one")), root);
  EXPECT_EQ(index.find_root(scope("two")), kNoNode);
  EXPECT_EQ(index.find(root, page(1)), first);
  EXPECT_EQ(index.find(root, page(100)), kNoNode);  // known, but after another page
  EXPECT_EQ(index.find(first, page(100)), second);
  EXPECT_EQ(index.add(first, page(100)), second);
  EXPECT_EQ(index.depth(second), 2);
  EXPECT_EQ(index.page(second, 0), 41);
  EXPECT_EQ(index.page(second, 1), -1);
}

TEST_P(EveryHash, ANodeLivesWhileSomethingNeedsIt) {
  PrefixIndex index({.max_nodes = 3, .hash = GetParam()});
  const NodeId root = index.add_root(scope("one"));
  index.retain(root);
  const NodeId first = index.add(root, page(1));
  index.set_page(first, 1, 3);
  const NodeId second = index.add(first, page(2));
  index.set_page(second, 1, 4);
  EXPECT_EQ(index.add(first, page(3)), kNoNode);  // all three in use
  index.release(root);
  index.clear_page(first, 1);
  EXPECT_EQ(index.n_nodes(), 3);  // its child needs the way to it
  index.clear_page(second, 1);
  EXPECT_EQ(index.n_nodes(), 0);
  EXPECT_EQ(index.find_root(scope("one")), kNoNode);
}

TEST(PrefixIndex, TheHashIsOfContentOnly) {
  PrefixIndex a({.max_nodes = 4, .fingerprint = 5}), b({.max_nodes = 9, .fingerprint = 5}),
      c({.max_nodes = 9, .fingerprint = 6});
  b.retain(b.add_root(scope("other")));
  const auto hash_in = [](PrefixIndex& index) {
    return index.hash(index.add(index.add_root(scope("one")), page(1)));
  };
  EXPECT_EQ(hash_in(a), hash_in(b));
  EXPECT_NE(hash_in(a), hash_in(c));  // another model
}

TEST(PrefixIndex, TheClosestChildHasTheLongestEqualBeginning) {
  PrefixIndex index({.max_nodes = 16});
  const NodeId root = index.add_root({});
  index.retain(root);
  std::array<int32_t, 16> tokens = page(1);
  const NodeId a = index.add(root, tokens);
  index.set_page(a, 0, 1);
  tokens[5] = 77;
  const NodeId b = index.add(root, tokens);
  index.set_page(b, 0, 2);
  tokens[9] = 78;
  const auto best = index.closest(root, tokens);
  EXPECT_EQ(best.node, b);
  EXPECT_EQ(best.n_equal, 9);
  EXPECT_EQ(index.closest(root, std::span(tokens).first(3)).n_equal, 3);
  EXPECT_EQ(index.closest(root, page(500)).node, kNoNode);
}

// Against a map from whole paths, over operations drawn at random, in a table that is often full.
TEST_P(EveryHash, AgreesWithAMapOfPaths) {
  constexpr int32_t kNodes = 40;
  PrefixIndex index({.max_nodes = kNodes, .hash = GetParam()});
  using Path = std::vector<int32_t>;  // first tokens of pages; the first entry names the scope
  std::map<Path, NodeId> held;        // each with a page
  std::mt19937 random(3);
  const auto all_paths = [&] {
    std::set<Path> paths;
    for (const auto& [path, node] : held) {
      for (size_t n = 1; n <= path.size(); ++n)
        paths.emplace(path.begin(), path.begin() + static_cast<ptrdiff_t>(n));
    }
    return paths;
  };
  const auto scope_of = [](int32_t i) { return scope(std::to_string(i)); };
  for (int step = 0; step < 20000; ++step) {
    if (random() % 2 == 0) {
      Path path = {static_cast<int32_t>(random() % 3)};
      for (uint64_t n = 1 + random() % 4; n > 0; --n) path.push_back(static_cast<int32_t>(random() % 3));
      const std::set<Path> before = all_paths();
      size_t missing = 0;
      for (size_t n = 1; n <= path.size(); ++n)
        missing += before.contains({path.begin(), path.begin() + static_cast<ptrdiff_t>(n)}) ? 0 : 1;
      NodeId node = index.add_root(scope_of(path[0]));
      if (node != kNoNode) index.retain(node);
      for (size_t i = 1; i < path.size() && node != kNoNode; ++i) {
        const NodeId next = index.add(node, page(path[i] * 100));
        if (next != kNoNode) index.retain(next);
        index.release(node);
        node = next;
      }
      ASSERT_EQ(node == kNoNode, before.size() + missing > kNodes);
      if (node != kNoNode) {
        if (!held.contains(path)) index.set_page(node, 0, step);
        held[path] = node;
        index.release(node);
      }
    } else if (!held.empty()) {
      const auto at = std::next(held.begin(), static_cast<ptrdiff_t>(random() % held.size()));
      index.clear_page(at->second, 0);
      held.erase(at);
    }
    const std::set<Path> paths = all_paths();
    ASSERT_EQ(index.n_nodes(), static_cast<int32_t>(paths.size()));
    if (step % 20 != 0) continue;
    for (const Path& path : paths) {
      NodeId node = index.find_root(scope_of(path[0]));
      for (size_t i = 1; i < path.size() && node != kNoNode; ++i)
        node = index.find(node, page(path[i] * 100));
      ASSERT_NE(node, kNoNode);
      if (held.contains(path)) {
        ASSERT_EQ(node, held[path]);
      }
    }
    const Status status = index.check(std::vector<int32_t>(kNodes, 0));
    ASSERT_TRUE(status.ok()) << status.error().message;
  }
}

}  // namespace
}  // namespace quire
