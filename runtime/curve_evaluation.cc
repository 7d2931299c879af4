#include "runtime/curve_evaluation.h"

#include <algorithm>
#include <span>
#include <utility>

#include "training/averages.h"

namespace cohort {

CurveEvaluation::CurveEvaluation(const Context& context, std::vector<std::uint32_t> members,
                                 std::vector<std::uint8_t> rendezvous)
    : context_(context),
      members_(std::move(members)),
      rendezvous_(std::move(rendezvous)),
      evaluator_(context.training.task(), context.training.plan().measure.samples,
                 context.training.threads()) {
  const auto& prepare = context.replica.prepare();
  place_ = static_cast<std::size_t>(std::ranges::find(members_, prepare.member) - members_.begin());
  servers_ = prepare.update != ServerUpdate::None;
  adds_ = servers_ == context.replica.is_server();
  reports_ = Buffer(context.replica.unit(), 2 * members_.size());
  mean_ = Buffer(context.replica.unit(), context.training.parameters());
  if (servers_) given_ = Buffer(context.replica.unit(), context.training.parameters());
  auto& copies = context.training.copies();
  if (!copies.last()) copies.look(context.now, 0, context.replica.parameters);
  learned_.run = prepare.run;
  learned_.gradients = context.training.gradients();
  learned_.changes = context.training.changes();
}

// A transfer that is given up may still write to its buffers.
CurveEvaluation::~CurveEvaluation() {
  if (waiting_ == nullptr) return;
  waiting_.reset();
  for (auto* buffer : {&reports_, &given_, &mean_}) context_.replica.retire(std::move(*buffer));
}

bool CurveEvaluation::poll() {
  if (stage_ == Stage::Over) return true;
  if (waiting_ != nullptr && !waiting_->test()) return false;
  waiting_ = advance();
  return stage_ == Stage::Over;
}

std::unique_ptr<Request> CurveEvaluation::advance() {
  switch (stage_) {
    case Stage::Connect:
      stage_ = Stage::Report;
      return connect();
    case Stage::Report:
      stage_ = Stage::Agree;
      return report();
    case Stage::Agree:
      stage_ = Stage::Add;
      agree();
      return nullptr;
    case Stage::Add:
      stage_ = Stage::Compare;
      return add();
    case Stage::Compare:
      stage_ = at_end() ? Stage::Evaluate : Stage::Add;
      compare();
      return nullptr;
    case Stage::Evaluate:
      if (jobs_.empty()) {
        stage_ = Stage::Over;
      } else {
        evaluate(jobs_.front());
        jobs_.pop_front();
      }
      return nullptr;
    case Stage::Over:
      break;
  }
  return nullptr;
}

std::unique_ptr<Request> CurveEvaluation::connect() {
  std::vector<std::uint32_t> ranks;
  for (const auto member : members_) ranks.push_back(context_.replica.prepare().ranks[member]);
  return context_.transport.create(kAllMembers, ranks, rendezvous_);
}

// Each member's numbers in a place of their own, zeros elsewhere, so that the sum holds them all.
std::unique_ptr<Request> CurveEvaluation::report() {
  std::vector<float> numbers(reports_.count());
  numbers[2 * place_] = static_cast<float>(context_.training.copies().doublings());
  numbers[2 * place_ + 1] = static_cast<float>(*context_.training.copies().last());
  context_.replica.unit().write(numbers, reports_.entries());
  return context_.transport.all_reduce(kAllMembers, reports_.entries(), reports_.entries(),
                                       reports_.count());
}

void CurveEvaluation::agree() {
  std::vector<float> numbers(reports_.count());
  context_.replica.unit().read(reports_.entries(), numbers);
  std::uint32_t doublings = 0;
  for (std::size_t i = 0; i < numbers.size(); i += 2)
    doublings = std::max(doublings, static_cast<std::uint32_t>(numbers[i]));
  std::uint64_t last = CurveCopies::kMostTicks;
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    const auto further = doublings - static_cast<std::uint32_t>(numbers[i]);
    last = std::min(last, static_cast<std::uint64_t>(numbers[i + 1]) >> further);
  }
  ticks_ = last + 1;
  auto& copies = context_.training.copies();
  while (copies.doublings() < doublings) copies.double_ticks();
}

std::unique_ptr<Request> CurveEvaluation::add() {
  return context_.transport.all_reduce(kAllMembers, given(), mean_.entries(), mean_.count());
}

void CurveEvaluation::compare() {
  auto& unit = context_.replica.unit();
  if (!servers_)
    unit.scale(1.0 / static_cast<double>(members_.size()), mean_.entries(), mean_.count());
  const auto point = learned_.curve.size();
  auto& part = learned_.curve.emplace_back(facts());
  if (!context_.replica.is_server()) {
    const auto mean = read(mean_.entries());
    const auto replica = read(own_of(point));
    part.squared_distance =
        squared_distance(std::span<const float>(replica), std::span<const float>(mean));
    if (point == ticks_ || context_.training.plan().measure.replicas)
      jobs_.push_back({.point = point, .entries = own_of(point)});
  }
  if (point % members_.size() != place_) return;
  jobs_.push_back({.point = point, .of_mean = true, .entries = mean_.entries()});
  jobs_.back().kept = std::exchange(mean_, Buffer(unit, mean_.count()));
}

void CurveEvaluation::evaluate(const Job& job) {
  auto& part = learned_.curve[job.point];
  (job.of_mean ? part.mean : part.own) = evaluator_.score(read(job.entries));
}

// At the end a member has done as many steps as at its last copy, or more.
CurvePart CurveEvaluation::facts() const {
  CurvePart part;
  auto& training = context_.training;
  if (at_end()) {
    part.at = context_.now;
    part.steps = training.gradients();
  } else {
    const auto& copy = training.copies().of(learned_.curve.size());
    part.at = copy.at;
    part.steps = copy.steps;
  }
  return part;
}

const float* CurveEvaluation::own_of(std::size_t point) const {
  if (point == ticks_) return context_.replica.parameters.entries();
  return context_.training.copies().of(point).parameters.entries();
}

const float* CurveEvaluation::given() {
  const auto* own = own_of(learned_.curve.size());
  if (!servers_) return own;
  if (adds_) {
    auto& training = context_.training;
    context_.replica.unit().copy(own, given_.entries() + training.first(), training.held());
  }
  return given_.entries();
}

std::vector<float> CurveEvaluation::read(const float* entries) const {
  std::vector<float> host(mean_.count());
  context_.replica.unit().read(entries, host);
  return host;
}

}  // namespace cohort
