#include "cli/mixing_text.h"

#include <fmt/format.h>

#include "cli/row_table.h"

namespace cohort {
namespace {

// Wider than this no terminal shows a row of a matrix.
constexpr Eigen::Index kWidestShown = 32;

std::string matrix_text(const MixingMatrix& matrix) {
  if (matrix.size() == 0) return "";
  if (matrix.cols() > kWidestShown)
    return fmt::format("  matrix: {0} by {0}, see --json\n", matrix.cols());
  std::vector<std::vector<std::string>> lines;
  for (Eigen::Index row = 0; row < matrix.rows(); ++row) {
    lines.emplace_back(1, " ");
    for (Eigen::Index column = 0; column < matrix.cols(); ++column) {
      lines.back().push_back(fmt::format("{:.4f}", matrix(row, column)));
    }
  }
  return "  matrix: row i says what worker i ends with\n" +
         text_table(lines, std::vector<bool>(lines.front().size(), false));
}

}  // namespace

std::string mixing_text(const MixingReport& report) {
  std::string text;
  for (const auto& rate : report.rates) {
    text += fmt::format("  {} = {:.6g} ({})\n    {}\n", rate.quantity, rate.value,
                        rate.exact ? "exact" : "estimated", rate.meaning);
  }
  if (!report.note.empty()) text += fmt::format("  {}\n", report.note);
  return text + matrix_text(report.matrix);
}

OrderedJson mixing_json(const MixingReport& report) {
  OrderedJson rates = OrderedJson::array();
  for (const auto& rate : report.rates) {
    rates.push_back({{"quantity", rate.quantity},
                     {"value", rate.value},
                     {"exact", rate.exact},
                     {"meaning", rate.meaning}});
  }
  OrderedJson matrix = OrderedJson::array();
  for (Eigen::Index row = 0; row < report.matrix.rows(); ++row) {
    matrix.push_back(OrderedJson::array());
    for (Eigen::Index column = 0; column < report.matrix.cols(); ++column) {
      matrix.back().push_back(report.matrix(row, column));
    }
  }
  return {{"rates", std::move(rates)}, {"note", report.note}, {"matrix", std::move(matrix)}};
}

}  // namespace cohort
