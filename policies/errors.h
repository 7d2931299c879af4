// The three kinds of error of the whole project.
//
// ContractError: a promise between our own parts was broken (a bug of ours; exit code 4).
// EnvironmentError: the machine failed us: disk, network, MPI, CUDA, NCCL (exit code 3).
// InputError: what the user gave is wrong (exit code 2). Its message says where, what was found,
// what is allowed.
//
// Loss of a worker, time-outs and failed synchronisations are events (policies/policy.h), not
// errors.
#pragma once

#include <stdexcept>
#include <string>

namespace cohort {

class ContractError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

class EnvironmentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class InputError : public std::runtime_error {
 public:
  // `where`: a file with line and column, a file with a JSON pointer, or a command-line option.
  InputError(std::string where, std::string what)
      : std::runtime_error(where.empty() ? what : where + ": " + what),
        where_(std::move(where)),
        what_(std::move(what)) {}

  // The place and the complaint apart, so that an outer reader can put its file name in front of
  // the place.
  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] const std::string& complaint() const { return what_; }

 private:
  std::string where_;
  std::string what_;
};

}  // namespace cohort
