#include "experiments/rank_meeting.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <random>

#include "experiments/file_descriptor.h"
#include "experiments/spec_json.h"
#include "experiments/this_host.h"
#include "policies/errors.h"

namespace cohort {
namespace {

std::string random_hex() {
  std::random_device device;
  std::string text;
  for (int i = 0; i < 4; ++i) text += fmt::format("{:08x}", device());
  return text;
}

}  // namespace

Meeting meeting_here(bool one_host) {
  Meeting meeting{
      .host = host_name(), .addresses = {}, .secret = random_hex(), .answer = random_hex()};
  if (!one_host) meeting.addresses = own_addresses();
  meeting.addresses.emplace_back("127.0.0.1");
  return meeting;
}

std::filesystem::path meeting_file(const std::filesystem::path& out) { return out / "ranks.json"; }

void write_meeting(const Meeting& meeting, const std::filesystem::path& file) {
  const Json json = {{"host", meeting.host},
                     {"addresses", meeting.addresses},
                     {"port", meeting.port},
                     {"secret", meeting.secret},
                     {"answer", meeting.answer}};
  const auto part = file.string() + ".part";
  {
    const FileDescriptor descriptor(part, O_WRONLY | O_CREAT | O_TRUNC);
    if (::fchmod(descriptor.get(), S_IRUSR | S_IWUSR) != 0) throw_errno(part, "protect");
    descriptor.write_all(json.dump() + "\n");
  }
  std::error_code error;
  std::filesystem::rename(part, file, error);
  if (error) throw EnvironmentError(file.string() + ": cannot be written: " + error.message());
}

Meeting read_meeting(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw EnvironmentError(file.string() + " is not there, or cannot be read");
  const auto json = Json::parse(std::string(std::istreambuf_iterator<char>(stream), {}), nullptr,
                                /*allow_exceptions=*/false);
  try {
    return {.host = json.at("host"),
            .addresses = json.at("addresses"),
            .port = json.at("port"),
            .secret = json.at("secret"),
            .answer = json.at("answer")};
  } catch (const Json::exception&) {
    throw EnvironmentError(file.string() + " is no meeting point of ranks");
  }
}

std::string hello_line(const Meeting& meeting, std::uint32_t rank, std::uint64_t plan) {
  return fmt::format("cohort-sweep 1 {} {} {:016x}", meeting.secret, rank, plan);
}

}  // namespace cohort
