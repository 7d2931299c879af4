// One changed value of a spec: `--set POINTER=VALUE`, or one value of a swept axis.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/spec_json.h"

namespace cohort {

struct Setting {
  std::string pointer;  // RFC 6901
  Json value;
};

// "POINTER=VALUE": the value is JSON, or else a text. Throws InputError whose `where` is "--set
// ...".
[[nodiscard]] Setting parse_setting(const std::string& argument);

// Sets the value. The last step may be a key that the object lacks (readers refuse unknown keys); a
// missing parent or index is refused: InputError whose `where` is the pointer. A policy that stands
// as a bare name becomes an object when an option of it is set.
void apply(const Setting& setting, Json& document);

// `{"/a": 1, "/b": "x"}` as "/a=1, /b=x".
[[nodiscard]] std::string shown(const std::vector<Setting>& settings);

}  // namespace cohort
