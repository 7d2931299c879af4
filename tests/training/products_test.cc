// Matrix products against plain loops.
#include "training/products.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "policies/random.h"

namespace cohort {
namespace {

std::vector<double> drawn(long count, std::uint32_t number) {
  Stream random(3, Purpose::Failure, number, 0);
  std::vector<double> all;
  for (long i = 0; i < count; ++i) all.push_back(random.normal());
  return all;
}

struct Operand {
  long rows;
  std::vector<double> numbers;
  [[nodiscard]] double at(long row, long column) const {
    return numbers[static_cast<std::size_t>(column * rows + row)];
  }
};

// Largest difference from c + A B by plain loops, A and B given by their entries.
double difference(ProductShape shape, auto a, auto b, const std::vector<double>& before,
                  const std::vector<double>& after) {
  double largest = 0;
  for (long i = 0; i < shape.rows; ++i)
    for (long j = 0; j < shape.columns; ++j) {
      double sum = before[static_cast<std::size_t>(j * shape.rows + i)];
      for (long k = 0; k < shape.inner; ++k) sum += a(i, k) * b(k, j);
      largest =
          std::max(largest, std::abs(sum - after[static_cast<std::size_t>(j * shape.rows + i)]));
    }
  return largest;
}

constexpr ProductShape kShapes[] = {{1, 1, 1},    {5, 3, 2},   {1, 7, 40},    {33, 1, 17},
                                    {10, 32, 40}, {70, 9, 25}, {40, 50, 600}, {2100, 3, 4}};

void check_all(const Products<double>& products) {
  for (const auto shape : kShapes) {
    const Operand a{shape.rows, drawn(shape.rows * shape.inner, 1)};
    const Operand b{shape.inner, drawn(shape.inner * shape.columns, 2)};
    const Operand a_transposed{shape.inner, a.numbers};
    const Operand b_transposed{shape.columns, b.numbers};
    const auto start = drawn(shape.rows * shape.columns, 3);
    const std::vector<double> zero(start.size());
    const auto run = [&](auto product, Into into) {
      auto c = start;
      product(shape, a.numbers.data(), b.numbers.data(), c.data(), into);
      return c;
    };
    const auto at = [](const Operand& m) { return [&m](long i, long j) { return m.at(i, j); }; };
    const auto turned = [](const Operand& m) {
      return [&m](long i, long j) { return m.at(j, i); };
    };
    for (const auto into : {Into::Overwrite, Into::Add}) {
      const auto& before = into == Into::Add ? start : zero;
      CHECK(difference(shape, at(a), at(b), before, run(products.plain, into)) < 1e-12);
      CHECK(difference(shape, turned(a_transposed), at(b), before,
                       run(products.left_transposed, into)) < 1e-12);
      CHECK(difference(shape, at(a), turned(b_transposed), before,
                       run(products.right_transposed, into)) < 1e-12);
    }
  }
}

TEST_CASE("products: those of this machine's width are right") { check_all(products<double>()); }

TEST_CASE("products: those of the oldest machine's width are right") {
  check_all(baseline_products<double>());
}

TEST_CASE("products: single precision differs from double by rounding alone") {
  const ProductShape shape{30, 20, 100};
  const auto a = drawn(shape.rows * shape.inner, 1);
  const auto b = drawn(shape.inner * shape.columns, 2);
  std::vector<double> exact(600);
  products<double>().plain(shape, a.data(), b.data(), exact.data(), Into::Overwrite);
  const std::vector<float> a_single(a.begin(), a.end()), b_single(b.begin(), b.end());
  std::vector<float> single(600);
  products<float>().plain(shape, a_single.data(), b_single.data(), single.data(), Into::Overwrite);
  for (std::size_t i = 0; i < exact.size(); ++i)
    CHECK(single[i] == doctest::Approx(exact[i]).epsilon(1e-4));
}

// Largest error of the three products in single precision, in roundings of the sum of absolute
// terms.
double roundings(const Products<float>& products, ProductShape shape, Into into) {
  const auto singles = [](long count, std::uint32_t number) {
    const auto all = drawn(count, number);
    return std::vector<float>(all.begin(), all.end());
  };
  const auto a = singles(shape.rows * shape.inner, 1), b = singles(shape.inner * shape.columns, 2);
  const auto start = singles(shape.rows * shape.columns, 3);
  const auto at = [](const std::vector<float>& numbers, long place) {
    return double{numbers[static_cast<std::size_t>(place)]};
  };
  const auto largest = [&](auto product, bool a_turned, bool b_turned) {
    auto c = start;
    product(shape, a.data(), b.data(), c.data(), into);
    double worst = 0;
    for (long i = 0; i < shape.rows; ++i)
      for (long j = 0; j < shape.columns; ++j) {
        const long place = j * shape.rows + i;
        double sum = into == Into::Add ? at(start, place) : 0;
        double size = std::abs(sum);
        for (long k = 0; k < shape.inner; ++k) {
          const double term = at(a, a_turned ? i * shape.inner + k : k * shape.rows + i) *
                              at(b, b_turned ? k * shape.columns + j : j * shape.inner + k);
          sum += term;
          size += std::abs(term);
        }
        worst = std::max(worst, std::abs(at(c, place) - sum) / (size * 0x1p-24));
      }
    return worst;
  };
  return std::max({largest(products.plain, false, false),
                   largest(products.left_transposed, true, false),
                   largest(products.right_transposed, false, true)});
}

TEST_CASE("products: single precision is exact to a few roundings, added to what was there too") {
  for (const auto shape : {ProductShape{1, 1, 1},
                           {16, 16, 32},
                           {32, 32, 33},
                           {10, 32, 256},
                           {45, 70, 31},
                           {256, 32, 784},
                           {784, 256, 32},
                           {33, 300, 2100}})
    for (const auto into : {Into::Overwrite, Into::Add}) {
      CAPTURE(shape.rows);
      CAPTURE(shape.columns);
      CAPTURE(shape.inner);
      CHECK(roundings(products<float>(), shape, into) < 8);
      CHECK(roundings(baseline_products<float>(), shape, into) < 8);
    }
}

TEST_CASE("products: results do not depend on where the numbers lie") {
  for (const auto shape : kShapes) {
    const auto a = drawn(shape.rows * shape.inner + 8, 1);
    const auto b = drawn(shape.inner * shape.columns + 8, 2);
    const std::vector<float> left(a.begin(), a.end()), right(b.begin(), b.end());
    const auto size = static_cast<std::size_t>(shape.rows * shape.columns);
    std::vector<float> expected(size), moved(size + 8);
    products<float>().plain(shape, left.data(), right.data(), expected.data(), Into::Overwrite);
    for (std::size_t shift = 1; shift < 8; ++shift) {
      std::vector<float> left_moved(shift), right_moved(shift);
      left_moved.insert(left_moved.end(), left.begin(), left.end());
      right_moved.insert(right_moved.end(), right.begin(), right.end());
      products<float>().plain(shape, left_moved.data() + shift, right_moved.data() + shift,
                              moved.data() + shift, Into::Overwrite);
      CHECK(std::equal(expected.begin(), expected.end(), moved.begin() + shift));
    }
  }
}

TEST_CASE("products: what is overwritten may have been NaN") {
  const double one = 1;
  double result = std::numeric_limits<double>::quiet_NaN();
  products<double>().plain({1, 1, 1}, &one, &one, &result, Into::Overwrite);
  CHECK(result == 1);
}

}  // namespace
}  // namespace cohort
