// The queue of a sweep's rows: each is computed, whatever becomes of the ranks that hold some.
#include "experiments/row_queue.h"

#include <doctest/doctest.h>

#include <stdexcept>
#include <thread>

using namespace cohort;

namespace {

constexpr std::chrono::milliseconds kNever = std::chrono::hours(1);

}  // namespace

TEST_CASE("row queue: rows come in order, each once, to threads and other ranks alike") {
  RowQueue queue(3, nullptr, kNever);
  CHECK(queue.take() == 0);
  CHECK(queue.lend() == 1);
  CHECK(queue.take() == 2);
  CHECK(queue.lend() == std::nullopt);
}

TEST_CASE(
    "row queue: a thread waits for a row that a rank still holds, and takes it when that is given "
    "back") {
  RowQueue queue(1, nullptr, kNever);
  const auto row = queue.lend();
  std::optional<std::size_t> taken;
  std::jthread thread([&] { taken = queue.take(); });
  queue.give_back(*row);
  thread.join();
  CHECK(taken == 0);
}

TEST_CASE("row queue: threads end when all rows are finished, also those of others") {
  RowQueue queue(1, nullptr, kNever);
  CHECK(queue.lend() == 0);
  std::optional<std::size_t> taken = 7;
  std::jthread thread([&] { taken = queue.take(); });
  queue.finish(0);
  thread.join();
  CHECK(taken == std::nullopt);
}

TEST_CASE("row queue: a row that a rank holds for too long is handed out here as well, once") {
  RowQueue queue(2, nullptr, std::chrono::milliseconds(0));
  CHECK(queue.lend() == 0);
  CHECK(queue.take() == 1);
  CHECK(queue.take() == 0);
  queue.finish(0);
  queue.finish(0);
  CHECK(queue.finished() == 1);
}

TEST_CASE("row queue: a finished row that is given back is not handed out again") {
  RowQueue queue(2, nullptr, kNever);
  CHECK(queue.lend() == 0);
  queue.finish(0);
  queue.give_back(0);
  CHECK(queue.lend() == 1);
  CHECK(queue.lend() == std::nullopt);
}

TEST_CASE("row queue: once stopped nothing is handed out") {
  const std::atomic<bool> stop = true;
  RowQueue queue(2, &stop, kNever);
  CHECK(queue.take() == std::nullopt);
  CHECK(queue.lend() == std::nullopt);
}

TEST_CASE("row queue: an error reaches every thread") {
  RowQueue queue(2, nullptr, kNever);
  queue.fail(std::make_exception_ptr(std::runtime_error("disk full")));
  CHECK_THROWS_WITH(static_cast<void>(queue.take()), "disk full");
  CHECK_THROWS_WITH(static_cast<void>(queue.take()), "disk full");
  CHECK(queue.lend() == std::nullopt);
}
