// A whole text file in memory, as the readers of traces and logs want it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace cohort {

inline constexpr std::size_t kLargestTextBytes = std::size_t{1} << 30;

// A pipe is read to its end; one that nobody writes to is empty. Throws InputError when the file is
// missing, a directory, not readable or larger than `most_bytes`, EnvironmentError when reading
// fails.
[[nodiscard]] std::string read_text(const std::filesystem::path& file,
                                    std::size_t most_bytes = kLargestTextBytes);

// Takes the first line off `text`, without its line end (LF or CRLF).
[[nodiscard]] std::string_view take_line(std::string_view& text);

// `text` cut to a length that fits a message, other than printable characters replaced.
[[nodiscard]] std::string excerpt(std::string_view text);

}  // namespace cohort
