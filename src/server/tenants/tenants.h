// Tenants: who asks, by API key; each with a trust domain of its own and limits.
//
// Without a key file everybody is the one anonymous tenant. Keys are kept and compared as SHA-256 digests,
// all of them every time, so that the time taken says nothing. reload() keeps what is known about tenants
// whose names stay. Thread safe.
//
// The file is JSON:
//   {"tenants": [{"name": "team-a", "keys": ["secret"], "priority": "high", "weight": 2,
//                 "max_active": 8, "requests_per_minute": 120}]}
//
//   std::shared_ptr<Tenant> tenant = tenants.find(key);   // null: no such key
//   if (auto seconds = tenant->refuse_for(now)) ...       // 429, try again in so many seconds
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/scheduler.h"
#include "server/tenants/digest.h"

namespace quire::server {

struct TenantLimits {
  int32_t max_active = 0;          // requests at the same time; 0 = any
  double requests_per_minute = 0;  // 0 = any; a minute's worth may come at once
  Priority priority = Priority::kNormal;
  int32_t weight = 1;  // 1..kMaxTenantWeight: its part when several wait
};

class Tenant {
 public:
  using Time = std::chrono::steady_clock::time_point;

  Tenant(std::string name, int32_t index) : name_(std::move(name)), index_(index) {}

  const std::string& name() const { return name_; }
  int32_t index() const { return index_; }  // the engine's number for it
  std::string domain() const;               // of shared prefixes
  TenantLimits limits() const;

  // Counts a request in, unless a limit is reached: then the seconds after which to try again.
  std::optional<int64_t> admit(Time now);
  void release();  // once for every request that was admitted
  void set_limits(const TenantLimits& limits);

 private:
  const std::string name_;
  const int32_t index_;
  mutable std::mutex mutex_;
  TenantLimits limits_;
  int32_t n_active_ = 0;
  double tokens_ = 0;  // of the bucket that limits the rate
  std::optional<Time> filled_at_;
};

class Tenants {
 public:
  // The number of tenants that may ever be named while the server runs; what the engine is told.
  static constexpr int32_t kMaxTenants = 1024;

  // Everybody is anonymous.
  Tenants();
  // Errors: kIo, kCorrupt with what is wrong in the file (never with a key).
  static Result<std::unique_ptr<Tenants>> load(const std::string& path);

  bool needs_key() const { return !path_.empty(); }
  // Null for an unknown key. `key` is not looked at when none is needed.
  std::shared_ptr<Tenant> find(std::string_view key) const;
  // Reads the file again; on an error everything stays as it was.
  Status reload();
  size_t n_tenants() const;

 private:
  struct Key {
    Digest digest;
    std::shared_ptr<Tenant> tenant;
  };
  std::string path_;
  mutable std::mutex mutex_;
  std::vector<Key> keys_;
  std::vector<std::shared_ptr<Tenant>> known_;  // by index
};

}  // namespace quire::server
