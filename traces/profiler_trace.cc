#include "traces/profiler_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "policies/errors.h"
#include "traces/number.h"
#include "traces/units.h"

namespace cohort {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kStep = "ProfilerStep#";

// Takes what counts out of the stream of a JSON text's parts: values of /distributedInfo and of
// /traceEvents/N.
class Events : public nlohmann::json_sax<Json> {
 public:
  explicit Events(const TextFile& file) : file_(file) { trace_.file = file.name; }

  ProfilerTrace take() {
    if (trace_.steps.empty()) {
      throw InputError(file_.name,
                       "has no steps: no event ProfilerStep#N; call step() of the profiler "
                       "after each step of the training");
    }
    std::ranges::sort(trace_.steps, {}, &ProfilerStep::number);
    const auto twice =
        std::ranges::adjacent_find(trace_.steps, std::ranges::equal_to{}, &ProfilerStep::number);
    if (twice != trace_.steps.end()) {
      throw InputError(file_.name,
                       fmt::format("has step {} twice; expected each once", twice->number));
    }
    return std::move(trace_);
  }

  bool null() override { return take_value("null"); }
  bool boolean(bool value) override { return take_value(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return take_value(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    return take_value(std::to_string(value));
  }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    return take_value(text);
  }
  bool string(string_t& text) override {
    if (in_event()) take_word(text);
    return true;
  }
  bool binary(binary_t& /*bytes*/) override { return true; }
  bool key(string_t& key) override {
    if (depth_ == 1) section_ = key;
    if (in_event() || in_job()) key_ = key;
    return true;
  }

  bool start_object(std::size_t /*size*/) override {
    ++depth_;
    if (in_event()) event_ = {};
    return true;
  }
  bool end_object() override {
    if (in_event()) end_event();
    --depth_;
    return true;
  }
  bool start_array(std::size_t /*size*/) override {
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const Json::exception& /*error*/) override {
    const std::string_view read = std::string_view(file_.text).substr(0, position);
    const auto line = static_cast<std::size_t>(std::ranges::count(read, '\n')) + 1;
    const bool cut = position > file_.text.size();
    throw file_.complaint(line, cut ? "the file ends within its JSON: it was cut off"
                                    : fmt::format("is no JSON behind {}", excerpt(tail_of(read))));
  }

 private:
  struct Event {
    std::string phase;
    std::string category;
    std::string name;
    std::string duration;  // as it stands; empty: none
  };

  [[nodiscard]] bool in_event() const { return depth_ == 3 && section_ == "traceEvents"; }
  [[nodiscard]] bool in_job() const { return depth_ == 2 && section_ == "distributedInfo"; }

  static std::string_view tail_of(std::string_view text) {
    return text.substr(text.size() - std::min<std::size_t>(text.size(), 40));
  }

  void take_word(const std::string& text) {
    if (key_ == "ph") event_.phase = text;
    if (key_ == "cat") event_.category = text;
    if (key_ == "name") event_.name = text;
    if (key_ == "dur") event_.duration = fmt::format("\"{}\"", text);
  }

  bool take_value(std::string_view text) {
    if (in_event() && key_ == "dur") event_.duration = text;
    if (in_job() && key_ == "rank") {
      trace_.rank = parse_number<std::uint32_t>(text);
      if (!trace_.rank) {
        throw InputError(file_.name + ": /distributedInfo/rank",
                         fmt::format("found {}; expected a whole number from 0", text));
      }
    }
    return true;
  }

  void end_event() {
    ++events_;
    if (event_.phase != "X" || !event_.name.starts_with(kStep) ||
        event_.category.starts_with("gpu_")) {
      return;
    }
    const auto number =
        parse_number<std::uint64_t>(std::string_view(event_.name).substr(kStep.size()));
    if (!number) {
      throw InputError(place() + "/name",
                       fmt::format("found {}; expected ProfilerStep#N", excerpt(event_.name)));
    }
    trace_.steps.push_back({*number, duration()});
  }

  [[nodiscard]] Time duration() const {
    try {
      return parse_time(event_.duration + "us");
    } catch (const InputError&) {
      throw InputError(place() + "/dur",
                       fmt::format("found {}; expected a time in us, 0 or more",
                                   event_.duration.empty() ? "none" : event_.duration));
    }
  }

  [[nodiscard]] std::string place() const {
    return fmt::format("{}: /traceEvents/{}", file_.name, events_ - 1);
  }

  const TextFile& file_;
  ProfilerTrace trace_;
  std::size_t depth_ = 0;
  std::string section_;  // the last key of the outermost object
  std::string key_;      // the last key of the event, or of distributedInfo
  Event event_;
  std::uint64_t events_ = 0;
};

}  // namespace

bool is_profiler_trace(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && text[start] == '{' &&
         (holds(text, "\"traceEvents\"") || holds(text, "\"distributedInfo\""));
}

ProfilerTrace read_profiler_trace(const TextFile& file) {
  Events events(file);
  (void)Json::sax_parse(file.text, &events);
  return events.take();
}

}  // namespace cohort
