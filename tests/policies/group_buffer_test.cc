#include "policies/group_buffer.h"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

#include "policies/errors.h"

namespace cohort {
namespace {

// Steps a buffer and shows what it answered: "start 0: 1 2; release 3".
class Bench {
 public:
  explicit Bench(std::uint32_t workers) : buffer_(workers) {}

  void create(std::initializer_list<std::uint32_t> workers) {
    std::vector<WorkerId> members;
    for (const auto w : workers) members.push_back(WorkerId{w});
    buffer_.create(members);
  }
  std::string ready(std::uint32_t worker) {
    return answer([&](Actions& out) { buffer_.ready(WorkerId{worker}, out); });
  }
  std::string done(std::uint64_t sync) {
    return answer([&](Actions& out) { buffer_.done(SyncId{sync}, out); });
  }
  std::string failed(std::uint64_t sync) {
    return answer([&](Actions& out) { buffer_.failed(SyncId{sync}, out); });
  }
  std::string remove(std::uint32_t worker) {
    return answer([&](Actions& out) { buffer_.remove(WorkerId{worker}, out); });
  }
  [[nodiscard]] bool empty(std::uint32_t worker) const { return buffer_.empty(WorkerId{worker}); }

 private:
  template <typename Step>
  std::string answer(Step&& step) {
    Actions out;
    step(out);
    std::string text;
    for (const auto& action : out.all()) {
      if (!text.empty()) text += "; ";
      if (action.kind == ActionKind::Start) {
        text.append("start ").append(std::to_string(index(action.sync))).append(":");
        for (const auto& member : out.members(action)) {
          text.append(" ").append(std::to_string(index(member.worker)));
          CHECK(member.weight == 1.0 / action.member_count);
          CHECK(member.role == Role::Blocking);
        }
      } else {
        text.append("release ").append(std::to_string(index(action.worker)));
      }
    }
    return text;
  }

  GroupBuffer buffer_;
};

}  // namespace

TEST_CASE("group buffer: a group starts when its last member is ready") {
  Bench bench(3);
  bench.create({2, 0, 1});
  CHECK(bench.ready(0) == "");
  CHECK(bench.ready(1) == "");
  CHECK(bench.ready(2) == "start 0: 2 0 1");
  CHECK_FALSE(bench.empty(0));
  CHECK(bench.done(0) == "release 2; release 0; release 1");
  CHECK(bench.empty(0));
}

TEST_CASE("group buffer: a group waits until it is the head for all its members") {
  Bench bench(3);
  bench.create({0, 1});
  bench.create({1, 2});
  CHECK(bench.ready(1) == "");
  CHECK(bench.ready(2) == "");
  CHECK(bench.ready(0) == "start 0: 0 1");
  CHECK(bench.done(0) == "release 0; release 1");
  CHECK(bench.ready(1) == "start 1: 1 2");
}

TEST_CASE("group buffer: a group of one releases its owner at its head") {
  Bench bench(2);
  bench.create({0, 1});
  bench.create({0});
  CHECK(bench.ready(0) == "");
  CHECK(bench.ready(1) == "start 0: 0 1");
  CHECK(bench.done(0) == "release 0; release 1");
  CHECK(bench.ready(0) == "release 0");
  CHECK(bench.empty(0));
}

TEST_CASE(
    "group buffer: a removed worker completes the groups that waited for it, in creation order") {
  Bench bench(5);
  bench.create({0, 1, 4});
  bench.create({2, 3, 4});
  for (std::uint32_t w = 0; w < 3; ++w) CHECK(bench.ready(w) == "");
  CHECK(bench.ready(3) == "");
  CHECK(bench.remove(4) == "start 0: 0 1; start 1: 2 3");
}

TEST_CASE("group buffer: a group that shrinks to one ready member releases it") {
  Bench bench(3);
  bench.create({0, 1});
  bench.create({0, 2});
  CHECK(bench.ready(0) == "");
  CHECK(bench.remove(1) == "release 0");
  CHECK(bench.ready(2) == "");
  CHECK(bench.remove(0) == "release 2");
  CHECK(bench.empty(2));
}

TEST_CASE("group buffer: a ready worker that is removed no longer counts") {
  Bench bench(3);
  bench.create({0, 1, 2});
  CHECK(bench.ready(0) == "");
  CHECK(bench.remove(0) == "");
  CHECK(bench.ready(1) == "");
  CHECK(bench.ready(2) == "start 0: 1 2");
}

TEST_CASE("group buffer: a large group keeps the order of its creation when it shrinks") {
  Bench bench(10);
  bench.create({9, 0, 8, 1, 7, 2, 6, 3, 5, 4});
  for (const std::uint32_t gone : {9U, 1U, 7U, 2U, 6U}) CHECK(bench.remove(gone) == "");
  for (const std::uint32_t w : {3U, 5U, 0U, 4U}) CHECK(bench.ready(w) == "");
  CHECK(bench.ready(8) == "start 0: 0 8 3 5 4");
  CHECK(bench.done(0) == "release 0; release 8; release 3; release 5; release 4");
}

TEST_CASE("group buffer: a group without members vanishes") {
  Bench bench(3);
  bench.create({0, 1});
  CHECK(bench.remove(0) == "");
  CHECK(bench.remove(1) == "");
  bench.create({2});
  CHECK(bench.ready(2) == "release 2");
}

TEST_CASE("group buffer: the survivors of a failed synchronisation start again under a new id") {
  Bench bench(3);
  bench.create({0, 1, 2});
  bench.ready(0);
  bench.ready(1);
  bench.ready(2);
  CHECK(bench.remove(1) == "");
  CHECK(bench.failed(0) == "start 1: 0 2");
  CHECK(bench.done(1) == "release 0; release 2");
}

TEST_CASE("group buffer: the only survivor of a failed synchronisation is released") {
  Bench bench(2);
  bench.create({0, 1});
  bench.ready(0);
  bench.ready(1);
  bench.remove(0);
  CHECK(bench.failed(0) == "release 1");
}

TEST_CASE("group buffer: a failed synchronisation without survivors leaves nothing behind") {
  Bench bench(3);
  bench.create({0, 1});
  bench.ready(0);
  bench.ready(1);
  bench.remove(0);
  bench.remove(1);
  CHECK(bench.failed(0) == "");
  bench.create({2});
  CHECK(bench.ready(2) == "release 2");
}

TEST_CASE("group buffer: a broken promise of its owner is named") {
  Bench bench(2);
  CHECK_THROWS_AS(bench.ready(0), ContractError);
  CHECK_THROWS_AS(bench.done(7), ContractError);
  bench.remove(1);
  CHECK_THROWS_AS(bench.create({0, 1}), ContractError);
}

}  // namespace cohort
