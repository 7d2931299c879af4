#include "runtime/gpu_sharing.h"

#include <doctest/doctest.h>

#include <string>

#include "policies/errors.h"

namespace cohort {
namespace {

std::string refusal(const std::vector<RankFacts>& ranks) {
  try {
    refuse_shared_gpus(ranks);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("gpu sharing: two ranks on one GPU are refused and both named") {
  CHECK(refusal({{"a", "0", 1}, {"a", "1", 2}, {"b", "0", 3}, {"a", "1", 4}})
            .starts_with("ranks: ranks 1 and 3 are both on GPU 1 of host a; allowed: "));
}

TEST_CASE("gpu sharing: the same device of different hosts is not shared") {
  CHECK(refusal({{"a", "0", 1}, {"b", "0", 2}}).empty());
}

TEST_CASE("gpu sharing: ranks without a GPU share none") {
  CHECK(refusal({{"a", "", 1}, {"a", "", 2}}).empty());
}

}  // namespace cohort
