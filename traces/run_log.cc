#include "traces/run_log.h"

#include <fmt/format.h>

#include <iterator>
#include <ostream>

namespace cohort {
namespace {

using Text = fmt::memory_buffer;

void append_event(Text& text, const Event& event) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, R"({{"at":{},"event":)", event.at.count());
  switch (event.kind) {
    case EventKind::WorkerJoined:
      fmt::format_to(out, R"("joined","worker":{})", index(event.worker));
      break;
    case EventKind::WorkerReady:
      fmt::format_to(out, R"("ready","worker":{},"step":{},"compute":{}{})", index(event.worker),
                     event.step, event.compute.count(), event.early ? R"(,"early":true)" : "");
      break;
    case EventKind::WorkerLeft:
      fmt::format_to(out, R"("left","worker":{})", index(event.worker));
      break;
    case EventKind::WorkerLost:
      fmt::format_to(out, R"("lost","worker":{})", index(event.worker));
      break;
    case EventKind::SyncDone:
      fmt::format_to(out, R"("done","sync":{},"transfer":{})", index(event.sync),
                     event.transfer.count());
      if (!event.squared_distances.empty())
        fmt::format_to(out, R"(,"squared_distances":[{}])",
                       fmt::join(event.squared_distances, ","));
      break;
    case EventKind::SyncFailed:
      fmt::format_to(out, R"("failed","sync":{})", index(event.sync));
      break;
    case EventKind::TimerFired:
      fmt::format_to(out, R"("timer","timer":{})", index(event.timer));
      break;
  }
}

void append_start(Text& text, const Action& action, const Actions& actions) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, R"({{"start":{},"kind":"{}")", index(action.sync), name_of(action.sync_kind));
  if (action.sync_kind == SyncKind::NeighbourMix) fmt::format_to(out, R"(,"step":{})", action.step);
  fmt::format_to(out, R"(,"members":)");
  char separator = '[';
  for (const auto& member : actions.members(action)) {
    fmt::format_to(out, R"({}[{},"{}",{}])", separator, index(member.worker), name_of(member.role),
                   member.weight);
    separator = ',';
  }
  fmt::format_to(out, "]}}");
}

void append_action(Text& text, const Action& action, const Actions& actions) {
  auto out = std::back_inserter(text);
  switch (action.kind) {
    case ActionKind::Start:
      return append_start(text, action, actions);
    case ActionKind::Release:
      fmt::format_to(out, R"({{"release":{}{}}})", index(action.worker),
                     action.snapshot ? R"(,"snapshot":true)" : "");
      return;
    case ActionKind::SetTimer:
      fmt::format_to(out, R"({{"set_timer":{},"at":{}}})", index(action.timer), action.at.count());
      return;
    case ActionKind::CancelTimer:
      fmt::format_to(out, R"({{"cancel_timer":{}}})", index(action.timer));
      return;
  }
}

void append_actions(Text& text, const Actions& actions) {
  text.push_back('[');
  for (const auto& action : actions.all()) {
    if (&action != actions.all().data()) text.push_back(',');
    append_action(text, action, actions);
  }
  text.push_back(']');
}

}  // namespace

std::string_view name_of(SyncKind kind) {
  switch (kind) {
    case SyncKind::GroupMean:
      return "group-mean";
    case SyncKind::PairMean:
      return "pair-mean";
    case SyncKind::NeighbourMix:
      return "neighbour-mix";
    case SyncKind::ServerPush:
      return "server-push";
    case SyncKind::ServerPull:
      return "server-pull";
  }
  return "";
}

std::string_view name_of(Role role) {
  switch (role) {
    case Role::Blocking:
      return "blocking";
    case Role::Background:
      return "background";
    case Role::Passive:
      return "passive";
    case Role::Forwarder:
      return "forwarder";
    case Role::Source:
      return "source";
    case Role::Server:
      return "server";
  }
  return "";
}

std::string to_text(const Event& event) {
  Text text;
  append_event(text, event);
  text.push_back('}');
  return fmt::to_string(text);
}

std::string to_text(const Actions& actions) {
  Text text;
  append_actions(text, actions);
  return fmt::to_string(text);
}

void RunLog::record(const Event& event, const Actions& actions) {
  Text text;
  append_event(text, event);
  if (!actions.all().empty()) {
    fmt::format_to(std::back_inserter(text), R"(,"actions":)");
    append_actions(text, actions);
  }
  fmt::format_to(std::back_inserter(text), "}}\n");
  out_.write(text.data(), static_cast<std::streamsize>(text.size()));
}

}  // namespace cohort
