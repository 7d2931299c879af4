#include "experiments/setting.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "experiments/nearest_name.h"
#include "experiments/spec_node.h"
#include "policies/errors.h"

namespace cohort {
namespace {

std::string unescaped(const Setting& setting, std::string_view step) {
  std::string result;
  for (std::size_t i = 0; i < step.size(); ++i) {
    if (step[i] != '~') {
      result += step[i];
      continue;
    }
    const char code = i + 1 < step.size() ? step[++i] : '\0';
    if (code != '0' && code != '1') {
      throw InputError(setting.pointer, "a ~ stands alone; allowed: ~0 for ~ and ~1 for /");
    }
    result += code == '0' ? '~' : '/';
  }
  return result;
}

std::vector<std::string> steps_of(const Setting& setting) {
  const std::string_view pointer = setting.pointer;
  if (pointer.size() < 2 || pointer.front() != '/') {
    throw InputError(shown(Json(setting.pointer)),
                     "is no JSON pointer; allowed: such as /workload/compute");
  }
  std::vector<std::string> steps;
  for (std::size_t from = 1; from <= pointer.size();) {
    const auto to = std::min(pointer.find('/', from), pointer.size());
    steps.push_back(unescaped(setting, pointer.substr(from, to - from)));
    from = to + 1;
  }
  return steps;
}

[[noreturn]] void refuse_step(const Setting& setting, const std::string& at, const Json& parent,
                              const std::string& step) {
  if (parent.is_array()) {
    const auto allowed =
        parent.empty() ? "none: the list is empty" : fmt::format("0 to {}", parent.size() - 1);
    throw InputError(setting.pointer, fmt::format("{} has no index {}; allowed: {}", at,
                                                  shown(Json(step)), allowed));
  }
  if (!parent.is_object()) {
    throw InputError(setting.pointer,
                     fmt::format("{} is {}, which has no keys", at, shown(parent)));
  }
  std::vector<std::string> keys;
  for (auto item = parent.begin(); item != parent.end(); ++item) keys.push_back(item.key());
  const std::vector<std::string_view> names(keys.begin(), keys.end());
  throw InputError(
      setting.pointer,
      fmt::format("{} has no value there: the file has no key {} in which to set one; nearest: "
                  "\"{}\"; the file has: {}",
                  at.empty() ? "/" : at, shown(Json(step)), nearest_name(step, names),
                  listed(names)));
}

std::optional<std::size_t> index_in(const Json& list, const std::string& step) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  const bool whole = error == std::errc{} && end == step.data() + step.size();
  const bool leading_zero = step.size() > 1 && step.front() == '0';
  if (!whole || leading_zero || index >= list.size()) return std::nullopt;
  return index;
}

}  // namespace

Setting parse_setting(const std::string& argument) {
  const auto equals = argument.find('=');
  if (equals == std::string::npos) {
    throw InputError("--set " + argument,
                     "found no \"=\"; allowed: POINTER=VALUE, such as /workload/compute=50ms");
  }
  Setting setting{argument.substr(0, equals), argument.substr(equals + 1)};
  try {
    setting.value = parse_json(argument.substr(equals + 1), "");
  } catch (const InputError&) {
    setting.value = argument.substr(equals + 1);  // a text without quotes, such as 50ms
  }
  return setting;
}

void apply(const Setting& setting, Json& document) {
  const auto steps = steps_of(setting);
  Json* parent = &document;
  std::string at;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool last = i + 1 == steps.size();
    if (parent->is_string() && i == 2 && steps[0] == "policies") *parent = Json{{"kind", *parent}};
    if (parent->is_array()) {
      const auto index = index_in(*parent, steps[i]);
      if (!index) refuse_step(setting, at, *parent, steps[i]);
      parent = &(*parent)[*index];
    } else if (parent->is_object() && (last || parent->contains(steps[i]))) {
      parent = &(*parent)[steps[i]];
    } else {
      refuse_step(setting, at, *parent, steps[i]);
    }
    at = joined(at, steps[i]);
  }
  *parent = setting.value;
}

std::string shown(const std::vector<Setting>& settings) {
  std::string result;
  for (const auto& setting : settings) {
    const auto value =
        setting.value.is_string() ? setting.value.get<std::string>() : shown(setting.value);
    result += fmt::format("{}{}={}", result.empty() ? "" : ", ", setting.pointer, value);
  }
  return result;
}

}  // namespace cohort
