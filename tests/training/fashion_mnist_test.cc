// The published kind of task on the distribution's real data, where the package is installed.
#include <doctest/doctest.h>

#include "tests/skip.h"
#include "tests/training/accuracy.h"

namespace cohort {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

TEST_CASE("fashion-mnist: an MLP 784-256-10 reaches 85 % test accuracy within three epochs") {
  if (!std::filesystem::exists(FashionMnist{}.folder))
    return skip("no Fashion-MNIST; apt-get install dataset-fashion-mnist");
  if (kSanitized) return skip("takes minutes under the sanitizers; ./check runs it");
  const auto set = load_dataset(FashionMnist{});
  REQUIRE(set.training.size() == 60000);
  REQUIRE(set.test.size() == 10000);
  CHECK(test::accuracy_after({.model = MlpOptions{{256}}}, set, 3) >= 0.85);
}

}  // namespace
}  // namespace cohort
