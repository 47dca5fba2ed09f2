#include <map>

#include <nlohmann/json.hpp>

#include "recoil/app/scene/bound_member.hpp"

namespace recoil::app {

extern const char* const polyfem_keys; // of polyfem_keys.json

namespace {

unsigned types_of(const nlohmann::json& names) {
  static const std::map<std::string, unsigned> types = {
      {"boolean", boolean}, {"integer", integer}, {"number", number},           {"text", text},
      {"object", object},   {"list", list},       {"one_or_list", one_or_list}, {"anything", anything}};
  unsigned all = 0;
  for (const std::string name : names) all |= types.at(name);
  return all;
}

const char* text_of(const nlohmann::json& row, const char* name) {
  return row.contains(name) ? keep(row[name].dump()) : nullptr;
}

} // namespace

std::vector<Key> polyfem_rows(const std::string& section) {
  static const auto groups = nlohmann::json::parse(polyfem_keys);
  std::vector<Key> rows;
  for (const auto& group : groups) {
    if (group["section"] != section) continue;
    for (const auto& row : group["keys"])
      rows.push_back({.pattern = keep(row["key"]),
                      .types = types_of(row["types"]),
                      .items = types_of(row.value("items", nlohmann::json::array())),
                      .fallback = text_of(row, "default"),
                      .choices = text_of(row, "tolerated"),
                      .mark = group["mark"] == "ignored" ? Mark::ignored : Mark::refused,
                      .reason = keep(group["reason"]),
                      .doc = keep(row["doc"])});
  }
  return rows;
}

} // namespace recoil::app
