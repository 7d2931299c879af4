#include "traces/run_log_reader.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "policies/errors.h"
#include "traces/run_log.h"

namespace cohort {
namespace {

using Json = nlohmann::json;

// One object of a line: every key is taken once and none may be left over.
class Fields {
 public:
  Fields(const Json& object, const std::string& place) : object_(object), place_(place) {
    if (!object.is_object()) refuse(fmt::format("found {}, not an object", shown(object)));
  }

  [[nodiscard]] const Json* find(const char* key) {
    const auto found = object_.find(key);
    if (found == object_.end()) return nullptr;
    ++taken_;
    return &*found;
  }
  [[nodiscard]] const Json& need(const char* key) {
    const Json* found = find(key);
    if (found == nullptr) refuse(fmt::format("{} lacks \"{}\"", shown(object_), key));
    return *found;
  }
  [[nodiscard]] std::uint64_t whole(const char* key,
                                    std::uint64_t most = std::numeric_limits<std::int64_t>::max()) {
    return whole(need(key), key, most);
  }
  [[nodiscard]] std::uint64_t whole(const Json& value, const char* key, std::uint64_t most) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
      refuse(fmt::format("\"{}\" is {}; allowed: a whole number of at most {}", key, shown(value),
                         most));
    return value.get<std::uint64_t>();
  }
  [[nodiscard]] Time time(const char* key) { return Time{static_cast<std::int64_t>(whole(key))}; }
  [[nodiscard]] WorkerId worker(const Json& value) const {
    return WorkerId{static_cast<std::uint32_t>(
        whole(value, "worker", std::numeric_limits<std::uint32_t>::max()))};
  }
  [[nodiscard]] WorkerId worker(const char* key) { return worker(need(key)); }
  // Only ever true where it stands.
  [[nodiscard]] bool flag(const char* key) {
    const Json* found = find(key);
    if (found != nullptr && !(found->is_boolean() && found->get<bool>()))
      refuse(fmt::format("\"{}\" is {}; allowed: true, or not there", key, shown(*found)));
    return found != nullptr;
  }
  [[nodiscard]] double number(const Json& value) const {
    if (!value.is_number()) refuse(fmt::format("found {}; allowed: a number", shown(value)));
    return value.get<double>();
  }
  // The enumerator whose name `value` is; `last`: of the enumeration.
  template <typename Enum>
  [[nodiscard]] Enum named(const Json& value, Enum last) const {
    const auto* name = value.get_ptr<const std::string*>();
    for (int i = 0; name != nullptr && i <= static_cast<int>(last); ++i)
      if (*name == name_of(static_cast<Enum>(i))) return static_cast<Enum>(i);
    refuse(fmt::format("{} is unknown here", shown(value)));
  }
  [[nodiscard]] std::string text(const char* key) {
    const Json& value = need(key);
    if (!value.is_string()) refuse(fmt::format("\"{}\" is {}; allowed: a text", key, shown(value)));
    return value.get<std::string>();
  }
  void end() const {
    if (taken_ != object_.size()) refuse(fmt::format("{} has keys beside", shown(object_)));
  }
  [[noreturn]] void refuse(std::string what) const { throw InputError(place_, std::move(what)); }

 private:
  static std::string shown(const Json& value) {
    return excerpt(value.dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  const Json& object_;
  const std::string& place_;
  std::size_t taken_ = 0;
};

void read_members(Fields& fields, Actions& actions) {
  const Json& members = fields.need("members");
  if (!members.is_array() || members.empty()) fields.refuse("\"members\" is no list of members");
  for (const Json& member : members) {
    if (!member.is_array() || member.size() != 3)
      fields.refuse("a member is not [worker, role, weight]");
    actions.add_member(fields.worker(member[0]), fields.named(member[1], Role::Server),
                       fields.number(member[2]));
  }
}

void read_action(const Json& object, const std::string& place, Actions& actions) {
  Fields fields(object, place);
  if (object.contains("start")) {
    const SyncId id{fields.whole("start")};
    const auto kind = fields.named(fields.need("kind"), SyncKind::ServerPull);
    actions.start(id, kind, kind == SyncKind::NeighbourMix ? fields.whole("step") : 0);
    read_members(fields, actions);
  } else if (object.contains("release")) {
    const WorkerId worker = fields.worker("release");
    fields.flag("snapshot") ? actions.release_with_snapshot(worker) : actions.release(worker);
  } else if (object.contains("set_timer")) {
    const TimerId timer{fields.whole("set_timer")};
    actions.set_timer(timer, fields.time("at"));
  } else {
    actions.cancel_timer(TimerId{fields.whole("cancel_timer")});
  }
  fields.end();
}

std::vector<double> read_distances(Fields& fields) {
  std::vector<double> distances;
  const Json* found = fields.find("squared_distances");
  if (found == nullptr) return distances;
  if (!found->is_array() || found->empty()) fields.refuse("\"squared_distances\" is no list");
  for (const Json& value : *found) distances.push_back(fields.number(value));
  return distances;
}

Event read_event(Fields& fields, std::vector<double>& distances) {
  const Time at = fields.time("at");
  const std::string name = fields.text("event");
  if (name == "ready") {
    const WorkerId worker = fields.worker("worker");
    const auto step = fields.whole("step");
    return Event::ready(at, worker, step, fields.time("compute"), fields.flag("early"));
  }
  if (name == "joined") return Event::joined(at, fields.worker("worker"));
  if (name == "left") return Event::left(at, fields.worker("worker"));
  if (name == "lost") return Event::lost(at, fields.worker("worker"));
  if (name == "failed") return Event::failed(at, SyncId{fields.whole("sync")});
  if (name == "timer") return Event::fired(at, TimerId{fields.whole("timer")});
  if (name != "done") fields.refuse("\"event\" names no event");
  const SyncId sync{fields.whole("sync")};
  distances = read_distances(fields);
  return Event::done(at, sync, fields.time("transfer"), distances);
}

}  // namespace

RunLogReader::RunLogReader(std::filesystem::path file) : path_(std::move(file)), lines_(path_) {}

std::string RunLogReader::place() const {
  return fmt::format("{}:{}", path_.string(), lines_.number());
}

RunLogReader::Line RunLogReader::next() {
  if (!lines_.next(kLongestLine)) return Line::End;
  const Json object = Json::parse(lines_.line(), nullptr, false);
  const std::string where = place();
  if (object.is_discarded()) throw InputError(where, "is no JSON; found " + excerpt(lines_.line()));
  if (object.is_object() && object.contains("run")) {
    head_ = lines_.line();
    return Line::Head;
  }
  Fields fields(object, where);
  event_ = read_event(fields, squared_distances_);
  actions_.clear();
  if (const Json* list = fields.find("actions")) {
    if (!list->is_array() || list->empty()) fields.refuse("\"actions\" is no list of actions");
    for (const Json& action : *list) read_action(action, where, actions_);
  }
  fields.end();
  return Line::Event;
}

}  // namespace cohort
