// A directory of results: its lock, its journal, its published files. One process at a time.
//
//   journal.jsonl  results.jsonl  results.csv  manifest.json  events.jsonl  timeline*.json
#pragma once

#include <filesystem>
#include <string>

#include "experiments/file_descriptor.h"
#include "experiments/journal.h"

namespace cohort {

class ResultDirectory {
 public:
  // Creates the directory when it is not there. Throws InputError when the place holds something
  // else than results, or is of another version; EnvironmentError when it cannot be written or
  // another process uses it.
  ResultDirectory(std::filesystem::path path, const std::string& version);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] Journal& journal() { return journal_; }

  [[nodiscard]] bool has(const std::string& name, const std::string& content) const;
  // Puts the content into place unless it is there already.
  void publish(const std::string& name, const std::string& content) const;

 private:
  std::filesystem::path path_;
  FileDescriptor lock_;
  Journal journal_;
};

}  // namespace cohort
