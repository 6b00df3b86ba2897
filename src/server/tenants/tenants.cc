#include "server/tenants/tenants.h"

#include <algorithm>
#include <cmath>

#include "base/mapped_file.h"
#include "server/api/fields.h"
#include "server/api/json_text.h"

namespace quire::server {
namespace {

struct TenantEntry {
  std::string name = {};
  std::vector<Digest> keys = {};
  TenantLimits limits = {};
};

std::optional<Priority> priority_of(std::string_view name) {
  if (name == "low") return Priority::kLow;
  if (name == "normal") return Priority::kNormal;
  if (name == "high") return Priority::kHigh;
  return {};
}

TenantEntry read_entry(const Json& json, const std::string& where, Fields& all) {
  Fields fields(json, where);
  TenantEntry entry{.name = fields.text("name").value_or("")};
  if (entry.name.empty()) fields.fail("name", "is missing");
  const Json* const keys = fields.array("keys");
  if (keys == nullptr || keys->empty()) fields.fail("keys", "at least one key is needed");
  for (const Json& key : keys == nullptr ? Json::array() : *keys) {
    if (!key.is_string() || key.get_ref<const std::string&>().empty()) {
      fields.fail("keys", "a key must be a string that is not empty");
    } else {
      entry.keys.push_back(sha256(key.get_ref<const std::string&>()));
    }
  }
  entry.limits.max_active = static_cast<int32_t>(fields.integer("max_active", 0, INT32_MAX).value_or(0));
  entry.limits.requests_per_minute = fields.number("requests_per_minute", 0, 1e9).value_or(0);
  entry.limits.weight = static_cast<int32_t>(fields.integer("weight", 1, kMaxTenantWeight).value_or(1));
  const std::optional<Priority> priority = priority_of(fields.text("priority").value_or("normal"));
  if (!priority) fields.fail("priority", "must be low, normal or high");
  entry.limits.priority = priority.value_or(Priority::kNormal);
  const ApiStatus known = fields.finish();
  if (!known.ok()) all.fail(known.error());
  return entry;
}

ApiResult<std::vector<TenantEntry>> parse(std::string_view text) {
  QUIRE_ASSIGN_OR_RETURN(const Json json, parse_json(text));
  Fields fields(json);
  const Json* const list = fields.array("tenants");
  if (list == nullptr) fields.fail("tenants", "an array is needed");
  std::vector<TenantEntry> entries;
  std::vector<Digest> seen;
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    entries.push_back(read_entry((*list)[i], fmt::format("tenants[{}]", i), fields));
    const auto same_name = [&](const TenantEntry& e) { return e.name == entries.back().name; };
    if (std::ranges::count_if(entries, same_name) > 1)
      fields.fail("tenants", fmt::format("two are named {}", entries.back().name));
    for (const Digest& key : entries.back().keys) {
      if (std::ranges::find(seen, key) != seen.end()) fields.fail("tenants", "one key is given twice");
      seen.push_back(key);
    }
  }
  QUIRE_RETURN_IF_ERROR(fields.finish());
  return entries;
}

}  // namespace

std::string Tenant::domain() const { return "tenant " + sha256_hex(name_, 24); }

TenantLimits Tenant::limits() const {
  const std::lock_guard lock(mutex_);
  return limits_;
}

std::optional<int64_t> Tenant::admit(Time now) {
  const std::lock_guard lock(mutex_);
  if (limits_.max_active > 0 && n_active_ >= limits_.max_active) return 1;
  if (limits_.requests_per_minute > 0) {
    const double per_second = limits_.requests_per_minute / 60;
    const double full = std::max(1.0, limits_.requests_per_minute);
    const double passed = filled_at_ ? std::chrono::duration<double>(now - *filled_at_).count() : 1e9;
    tokens_ = std::min(full, tokens_ + passed * per_second);
    filled_at_ = now;
    if (tokens_ < 1) return static_cast<int64_t>(std::ceil((1 - tokens_) / per_second - 1e-6));
    tokens_ -= 1;
  }
  ++n_active_;
  return {};
}

void Tenant::release() {
  const std::lock_guard lock(mutex_);
  --n_active_;
}

void Tenant::set_limits(const TenantLimits& limits) {
  const std::lock_guard lock(mutex_);
  limits_ = limits;
}

Tenants::Tenants() { known_.push_back(std::make_shared<Tenant>("anonymous", 0)); }

Result<std::unique_ptr<Tenants>> Tenants::load(const std::string& path) {
  auto tenants = std::make_unique<Tenants>();
  tenants->path_ = path;
  QUIRE_RETURN_IF_ERROR(tenants->reload());
  return tenants;
}

Status Tenants::reload() {
  if (!needs_key()) return {};
  QUIRE_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path_, FileAccess::kRead));
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  const ApiResult<std::vector<TenantEntry>> entries = parse(text);
  if (!entries.ok()) return make_error(ErrorCode::kCorrupt, "{}: {}", path_, entries.error().message);

  const std::lock_guard lock(mutex_);
  std::vector<Key> keys;
  for (const TenantEntry& entry : *entries) {
    auto at = std::ranges::find(known_, entry.name, &Tenant::name);
    if (at == known_.end()) {
      if (known_.size() == kMaxTenants)
        return make_error(ErrorCode::kResourceExhausted, "{}: there are more than {} tenants", path_,
                          kMaxTenants);
      known_.push_back(std::make_shared<Tenant>(entry.name, static_cast<int32_t>(known_.size())));
      at = std::prev(known_.end());
    }
    (*at)->set_limits(entry.limits);
    for (const Digest& digest : entry.keys) keys.push_back({digest, *at});
  }
  keys_ = std::move(keys);
  return {};
}

std::shared_ptr<Tenant> Tenants::find(std::string_view key) const {
  const std::lock_guard lock(mutex_);
  if (!needs_key()) return known_[0];
  const Digest asked = sha256(key);
  std::shared_ptr<Tenant> found;
  for (const Key& candidate : keys_) {
    if (equal_in_constant_time(candidate.digest, asked)) found = candidate.tenant;
  }
  return found;
}

size_t Tenants::n_tenants() const {
  const std::lock_guard lock(mutex_);
  return known_.size();
}

}  // namespace quire::server
