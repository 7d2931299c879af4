#include "traces/hostfile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "policies/errors.h"
#include "traces/number.h"

namespace cohort {
namespace {

constexpr std::array<std::string_view, 2> kMaximum = {"max_slots", "max-slots"};

bool is_maximum(std::string_view word) {
  return std::ranges::find(kMaximum, word) != kMaximum.end();
}

std::string_view without_comment(std::string_view line) { return line.substr(0, line.find('#')); }

// The words of a line, each `=` one of its own.
Words words_of(std::string_view line) {
  Words words;
  for (std::string_view word : split_words(without_comment(line))) {
    while (!word.empty()) {
      const std::size_t end = word.front() == '=' ? 1 : std::min(word.find('='), word.size());
      words.push_back(word.substr(0, end));
      word.remove_prefix(end);
    }
  }
  return words;
}

std::string_view without_user(std::string_view word) { return word.substr(word.find('@') + 1); }

// Letters, digits and the signs of names and addresses.
bool is_host(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._-:").find(c) != std::string_view::npos;
  });
}

bool is_lone_host(const Words& words) {
  if (words.size() != 1 || !is_host(without_user(words[0]))) return false;
  const std::string_view name = words[0];
  const bool numbered = name.back() >= '0' && name.back() <= '9';
  return (numbered || name.find('.') != std::string_view::npos) && !parse_number<double>(name);
}

class HostfileReader {
 public:
  explicit HostfileReader(const TextFile& file) : file_(file) { hosts_.file = file.name; }

  Hostfile read() {
    each_line(file_.text, [this](std::string_view line, std::size_t number) {
      line_ = number;
      if (const Words words = words_of(line); !words.empty()) add(read_line(words));
    });
    if (hosts_.hosts.empty()) throw InputError(file_.name, "names no host");
    for (const HostSlots& host : hosts_.hosts) hosts_.slots += host.slots;
    return std::move(hosts_);
  }

 private:
  HostSlots read_line(const Words& words) {
    HostSlots host{std::string(without_user(words[0])), 1, std::nullopt};
    if (!is_host(host.name)) refuse(words[0], "the name of a host");
    std::optional<std::uint64_t> slots;
    for (std::size_t i = 1; i < words.size(); i += 3) {
      const bool maximum = is_maximum(words[i]);
      if (!maximum && words[i] != "slots") refuse(words[i], "slots=N or max_slots=N");
      if (i + 1 == words.size() || words[i + 1] != "=") refuse(words[i], "a = behind it");
      auto& number = maximum ? host.max_slots : slots;
      if (number) refuse(words[i], "it once");
      number = count(i + 2 < words.size() ? words[i + 2] : "");
    }
    if (slots) {
      host.slots = *slots;
    } else {
      hosts_.warnings.push_back(
          fmt::format("line {}: {} has no slots=N, counted as 1", line_, host.name));
    }
    if (host.max_slots && *host.max_slots < host.slots) {
      throw file_.complaint(line_, fmt::format("found max_slots {} below the {} slots of {}",
                                               *host.max_slots, host.slots, host.name));
    }
    return host;
  }

  void add(HostSlots host) {
    const auto known = std::ranges::find(hosts_.hosts, host.name, &HostSlots::name);
    if (known == hosts_.hosts.end()) {
      hosts_.hosts.push_back(std::move(host));
      return;
    }
    known->slots += host.slots;
    if (known->max_slots && host.max_slots) {
      *known->max_slots += *host.max_slots;
    } else {
      known->max_slots.reset();
    }
  }

  [[nodiscard]] std::uint64_t count(std::string_view word) const {
    const auto number = parse_number<std::uint32_t>(word);
    if (!number) refuse(word, "a whole number from 0");
    return *number;
  }

  [[noreturn]] void refuse(std::string_view found, std::string_view expected) const {
    throw file_.complaint(line_, fmt::format("found {}; expected {}", excerpt(found), expected));
  }

  const TextFile& file_;
  Hostfile hosts_;
  std::size_t line_ = 0;
};

}  // namespace

bool is_hostfile(std::string_view text) {
  std::size_t hosts = 0;
  std::size_t lines = 0;
  bool slots = false;
  each_line(text, [&](std::string_view line, std::size_t) {
    const Words words = words_of(line);
    if (words.empty()) return;
    slots = slots ||
            (words.size() > 2 && words[2] == "=" && (words[1] == "slots" || is_maximum(words[1])));
    hosts += is_lone_host(words) ? 1 : 0;
    ++lines;
  });
  return slots || (hosts > 0 && hosts == lines);
}

Hostfile read_hostfile(const TextFile& file) { return HostfileReader(file).read(); }

}  // namespace cohort
