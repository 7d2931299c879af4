#include "traces/nccl_table.h"

#include <algorithm>
#include <cmath>

#include "traces/number.h"

namespace cohort {
namespace {

constexpr std::size_t kMostPrefixWords = 3;

std::optional<double> positive(std::string_view word) {
  const auto number = parse_number<double>(word);
  return number && std::isfinite(*number) && *number > 0 ? number : std::nullopt;
}

// The number behind a prefix that ends in ':', '>' or ']'.
std::optional<std::uint64_t> size_behind_prefix(std::string_view word) {
  const std::size_t mark = word.find_last_of(":>]");
  return parse_number<std::uint64_t>(mark == std::string_view::npos ? word : word.substr(mark + 1));
}

bool is_type(std::string_view word) {
  return !word.empty() && word.front() >= 'a' && word.front() <= 'z' &&
         std::ranges::all_of(word, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

// Place of `type` in a row: behind size and count.
std::optional<std::size_t> find_type(const Words& words) {
  for (std::size_t i = 2; i < std::min(words.size(), kMostPrefixWords + 3); ++i) {
    if (is_type(words[i]) && parse_number<std::uint64_t>(words[i - 1]) &&
        size_behind_prefix(words[i - 2])) {
      return i;
    }
  }
  return std::nullopt;
}

std::uint64_t wrong_elements(const Words& words, std::size_t type, const NcclColumns& columns) {
  if (!columns.counts_wrong) return 0;
  std::uint64_t wrong = 0;
  for (std::size_t check = columns.time + 3; check < columns.count; check += 4) {
    wrong += parse_number<std::uint64_t>(words[type + check]).value_or(0);
  }
  return wrong;
}

}  // namespace

std::optional<NcclRank> parse_rank(const Words& words) {
  const auto word = std::ranges::find(words, "Rank");
  const auto on = std::ranges::find(words, "on");
  if (words.end() - word < 2 || words.end() - on < 2 || on < word) return std::nullopt;
  const auto rank = parse_number<std::uint32_t>(word[1]);
  if (!rank) return std::nullopt;
  NcclRank found{*rank, std::string(on[1]), ""};
  if (words.end() - on > 4 && on[2] == "device") {
    found.gpu = std::string(on[3]) + " " + std::string(on[4]);
  }
  return found;
}

std::optional<NcclColumns> parse_columns(const Words& words) {
  const auto size = std::ranges::find(words, "size");
  if (words.end() - size < 6 || size[1] != "count" || size[2] != "type") return std::nullopt;
  NcclColumns columns;
  const auto type = size + 2;
  for (auto word = type; word != words.end(); ++word) {
    const auto place = static_cast<std::size_t>(word - type);
    if (*word == "redop") columns.redop = place;
    if (*word == "root") columns.root = place;
    if (columns.time == 0 && word->ends_with("time")) columns.time = place;
    if (*word == "#wrong") columns.counts_wrong = true;
    if (*word == "busbw") columns.count = place + 2;  // the check stands behind
  }
  const bool whole = columns.time > 0 && columns.count >= columns.time + 4;
  return whole ? std::optional(columns) : std::nullopt;
}

RowKind parse_row(const Words& words, const NcclColumns& columns, NcclCells& cells) {
  const auto type = find_type(words);
  if (!type) return RowKind::None;
  if (words.size() < *type + columns.count) return RowKind::Damaged;
  const auto cell = [&](std::size_t column) { return words[*type + column]; };
  const auto time = positive(cell(columns.time));
  if (!time) return RowKind::Damaged;
  cells.row.bytes = *size_behind_prefix(words[*type - 2]);
  cells.row.time_us = *time;
  cells.row.printed_algorithm_gb_per_s = positive(cell(columns.time + 1));
  cells.row.printed_bus_gb_per_s = positive(cell(columns.time + 2));
  cells.wrong = wrong_elements(words, *type, columns);
  cells.reduces = columns.redop && cell(*columns.redop) != "none";
  cells.rooted = columns.root && cell(*columns.root) != "-1";
  return RowKind::Whole;
}

}  // namespace cohort
