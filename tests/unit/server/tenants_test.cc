#include "server/tenants/tenants.h"

#include <gtest/gtest.h>

#include <fstream>

namespace quire::server {
namespace {

using Seconds = std::chrono::seconds;

struct KeyFile {
  std::string path = testing::TempDir() + "/keys.json";
  void write(std::string_view text) const { std::ofstream(path) << text; }
};

TEST(Tenants, WithoutAFileEverybodyIsAnonymous) {
  const Tenants tenants;
  EXPECT_FALSE(tenants.needs_key());
  EXPECT_EQ(tenants.find("anything")->index(), 0);
}

TEST(Tenants, KeysNameTenantsAndReloadKeepsThem) {
  const KeyFile file;
  file.write(
      R"({"tenants": [{"name": "a", "keys": ["k1", "k2"]}, {"name": "b", "keys": ["k3"], "priority": "high"}]})");
  const auto tenants = Tenants::load(file.path);
  ASSERT_TRUE(tenants.ok()) << tenants.error().message;
  const std::shared_ptr<Tenant> a = (*tenants)->find("k1");
  EXPECT_EQ(a, (*tenants)->find("k2"));
  EXPECT_NE(a->domain(), (*tenants)->find("k3")->domain());
  EXPECT_EQ((*tenants)->find("k3")->limits().priority, Priority::kHigh);
  EXPECT_EQ(a->limits().weight, 1);
  EXPECT_EQ((*tenants)->find("k"), nullptr);
  EXPECT_EQ((*tenants)->find(""), nullptr);

  file.write(R"({"tenants": [{"name": "a", "keys": ["new"], "weight": 3}]})");
  ASSERT_TRUE((*tenants)->reload().ok());
  EXPECT_EQ(a->limits().weight, 3);
  EXPECT_EQ((*tenants)->find("new"), a);
  EXPECT_EQ((*tenants)->find("k1"), nullptr);
  file.write("{");
  EXPECT_FALSE((*tenants)->reload().ok());
  EXPECT_EQ((*tenants)->find("new"), a);
}

TEST(Tenants, BadFilesAreRefusedWithoutRepeatingKeys) {
  const KeyFile file;
  for (const char* text :
       {"", "{}", R"({"tenants": [{"keys": ["hush"]}]})", R"({"tenants": [{"name": "a", "keys": []}]})",
        R"({"tenants": [{"name": "a", "keys": ["hush"]}, {"name": "b", "keys": ["hush"]}]})",
        R"({"tenants": [{"name": "a", "keys": ["hush"]}, {"name": "a", "keys": ["x"]}]})",
        R"({"tenants": [{"name": "a", "keys": ["hush"], "weight": 0}]})",
        R"({"tenants": [{"name": "a", "keys": ["hush"], "weight": 1001}]})",
        R"({"tenants": [{"name": "a", "keys": ["hush"], "priority": "urgent"}]})"}) {
    file.write(text);
    const auto tenants = Tenants::load(file.path);
    ASSERT_FALSE(tenants.ok()) << text;
    EXPECT_EQ(tenants.error().message.find("hush"), std::string::npos);
  }
}

TEST(Tenant, LimitsItsRate) {
  Tenant tenant("a", 1);
  tenant.set_limits({.requests_per_minute = 2});
  const Tenant::Time begin{};
  EXPECT_FALSE(tenant.admit(begin));
  EXPECT_FALSE(tenant.admit(begin));
  EXPECT_EQ(tenant.admit(begin), 30);
  EXPECT_EQ(tenant.admit(begin + Seconds(20)), 10);
  EXPECT_FALSE(tenant.admit(begin + Seconds(31)));
}

TEST(Tenant, LimitsWhatRunsAtOnce) {
  Tenant tenant("a", 1);
  tenant.set_limits({.max_active = 1});
  EXPECT_FALSE(tenant.admit({}));
  EXPECT_TRUE(tenant.admit({}));
  tenant.release();
  EXPECT_FALSE(tenant.admit({}));
}

}  // namespace
}  // namespace quire::server
