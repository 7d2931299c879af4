// Reads a JSON file with comments into a document, strictly: what the JSON library lets pass and a
// spec must not have (a key twice, nesting deeper than kDeepest) is refused, with line and column.
//
// Knows no key of a spec; see read_cell.h and sweep.h.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace cohort {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;  // for what is written: keys keep their order

inline constexpr std::size_t kDeepest = 64;
inline constexpr std::size_t kLargestSpecBytes = std::size_t{64} << 20;

// Throws InputError "FILE:LINE:COLUMN: ..." for text that is not JSON, "FILE: ..." for what cannot
// be read as a file (missing, a directory, empty, larger than kLargestSpecBytes).
[[nodiscard]] Json read_json_file(const std::filesystem::path& file);

// The same for text; `name` stands in for the file in messages.
[[nodiscard]] Json parse_json(std::string_view text, const std::string& name);

// One line, at most about 60 characters, for messages: invalid UTF-8 replaced.
[[nodiscard]] std::string shown(const Json& value);

}  // namespace cohort
