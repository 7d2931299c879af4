// The journal of a sweep: what was appended is there, torn and damaged lines are not.
#include "experiments/journal.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "policies/errors.h"
#include "tests/experiments/base_spec.h"

namespace cohort {
namespace {

using testing::content;
using testing::TemporaryDirectory;

std::filesystem::path two_rows(const TemporaryDirectory& directory) {
  Journal journal(directory.path() / "j", "1");
  journal.append(1, R"({"a":1})");
  journal.append(0xffffffffffffffffU, R"({"b":"two"})");
  return directory.path() / "j";
}

TEST_CASE("journal: rows come back") {
  const TemporaryDirectory directory;
  const Journal journal(two_rows(directory), "1");
  REQUIRE(journal.rows().size() == 2);
  CHECK(journal.rows().at(1) == R"({"a":1})");
  CHECK(journal.rows().at(0xffffffffffffffffU) == R"({"b":"two"})");
  CHECK(journal.damaged_lines() == 0);
}

TEST_CASE("journal: cut anywhere, it keeps the whole lines before the cut and goes on after them") {
  const TemporaryDirectory directory;
  const auto whole = content(two_rows(directory));
  const auto file = directory.path() / "cut";
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
    const auto lines = static_cast<std::size_t>(
        std::count(whole.begin(), whole.begin() + static_cast<long>(size), '\n'));
    {
      Journal journal(file, "1");
      CHECK(journal.rows().size() == (lines == 0 ? 0 : lines - 1));
      journal.append(7, "{}");
    }
    const Journal again(file, "1");
    CHECK(again.rows().contains(7));
    CHECK(again.damaged_lines() == 0);
  }
}

TEST_CASE("journal: a line with one changed byte is left out, the others stay") {
  const TemporaryDirectory directory;
  auto text = content(two_rows(directory));
  text[text.find(R"({"a":1})") + 5] = '2';
  const Journal journal(directory.write("changed", text), "1");
  CHECK(journal.rows().size() == 1);
  CHECK(journal.damaged_lines() == 1);
}

TEST_CASE("journal: with a damaged first line, the rows behind it stay") {
  const TemporaryDirectory directory;
  const auto whole = content(two_rows(directory));
  for (std::size_t at = 0; at < whole.find('\n'); ++at) {
    auto text = whole;
    text[at] = static_cast<char>(text[at] ^ 1);
    const auto file = directory.write("changed", text);
    {
      const Journal journal(file, "1");
      CHECK(journal.rows().size() == 2);
      CHECK(journal.damaged_lines() == 1);
    }
    CHECK(content(file) == whole);
  }
}

TEST_CASE("journal: of another version, or another file, is refused and not touched") {
  const TemporaryDirectory directory;
  const auto file = two_rows(directory);
  const auto before = content(file);
  CHECK_THROWS_AS(Journal(file, "2"), InputError);
  CHECK(content(file) == before);
  const auto other = directory.write("notes.txt", "my notes\n");
  CHECK_THROWS_AS(Journal(other, "1"), InputError);
  CHECK(content(other) == "my notes\n");
}

}  // namespace
}  // namespace cohort
