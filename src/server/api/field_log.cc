#include "server/api/field_log.h"

#include <algorithm>

namespace quire::server {
namespace {

// A member that may be left out may be null.
Json or_null(Json schema) {
  if (const auto type = schema.find("type"); type != schema.end() && type->is_string())
    *type = Json::array({*type, "null"});
  if (const auto values = schema.find("enum"); values != schema.end()) values->push_back(nullptr);
  return schema;
}

// The object schema inside of a field's, made when it is not there.
Json& object_in(Json& schema, bool in_items) {
  Json* at = &schema;
  if (in_items) at = &(*at)["items"];
  if (!at->contains("properties")) {
    (*at)["type"] = "object";
    (*at)["properties"] = Json::object();
    (*at)["additionalProperties"] = false;
  }
  return *at;
}

}  // namespace

void FieldLog::note(std::string_view path, Json schema) {
  Json* object = &root_;
  while (true) {
    const size_t end = std::min(path.find('.'), path.size());
    std::string_view name = path.substr(0, end);
    const size_t bracket = std::min(name.find('['), name.size());
    const bool in_items = bracket < name.size();
    Json& field = (*object)["properties"][std::string(name.substr(0, bracket))];
    if (end == path.size()) {
      if (!field.is_object() || field.empty()) field = or_null(std::move(schema));
      return;
    }
    if (!field.is_object()) field = Json::object();
    object = &object_in(field, in_items);
    path.remove_prefix(end + 1);
  }
}

}  // namespace quire::server
