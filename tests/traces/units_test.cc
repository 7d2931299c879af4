#include "traces/units.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "policies/errors.h"

namespace cohort {
namespace {

template <typename Parse>
std::string complaint(Parse parse, std::string_view text) {
  try {
    (void)parse(text);
  } catch (const InputError& error) {
    CHECK(error.where().empty());
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("units: times are exact in decimal, below a nanosecond rounded up") {
  CHECK(parse_time("12.5 ms") == Time{12'500'000});
  CHECK(parse_time("0s") == Time{0});
  CHECK(parse_time("0.1s") == Time{100'000'000});
  CHECK(parse_time("1e-3s") == Time{1'000'000});
  CHECK(parse_time("9007199254740993ns") == Time{9'007'199'254'740'993});
  CHECK(parse_time("9223372036.854775807s").count() >= std::int64_t{9'223'372'036'854'775'800});
  CHECK(parse_time("0.2ns") == Time{1});
  CHECK(parse_time("1.0000000000000000000001s") == Time{1'000'000'001});
}

TEST_CASE("units: bits are an eighth of a byte, powers of ten and of two are told apart") {
  CHECK(parse_bandwidth("56Gbit/s") == 7e9);
  CHECK(parse_bandwidth("8bit/s") == 1);
  CHECK(parse_bandwidth("10GB/s") == 10e9);
  CHECK(parse_bandwidth("1GiB/s") == 1073741824.0);
  CHECK(parse_bytes("60MB") == 60e6);
  CHECK(parse_bytes("1 KiB") == 1024);
  CHECK(parse_bytes("0B") == 0);
}

TEST_CASE("units: a bare number is refused with the units that are allowed") {
  CHECK(contains(complaint(parse_time, "5"), "unit is missing"));
  CHECK(contains(complaint(parse_time, "5"), "ns, us, ms, s"));
  CHECK(contains(complaint(parse_bytes, "5"), "KiB"));
}

TEST_CASE("units: a wrong unit is refused with the nearest one") {
  CHECK(contains(complaint(parse_time, "5GB"), "unknown unit \"GB\""));
  CHECK(contains(complaint(parse_bandwidth, "56Gb/s"), "nearest: \"Gbit/s\";"));
  CHECK(contains(complaint(parse_bandwidth, "56GB"), "nearest: \"GB/s\";"));
  CHECK(contains(complaint(parse_bandwidth, "100Mbps"), "nearest: \"Mbit/s\";"));
  CHECK(contains(complaint(parse_time, "5msec"), "nearest: \"ms\";"));
  CHECK(contains(complaint(parse_time, "5\xc2\xb5s"), "nearest: \"us\";"));
  CHECK(contains(complaint(parse_bytes, "5KB"), "nearest: \"kB\";"));
}

TEST_CASE("units: negative, non-finite, oversized and empty quantities are refused") {
  for (const char* text :
       {"-5ms", "-0ms", "nan ms", "inf s", "1e400s", "1e12s", "9223372037s", "ms", "", " 5ms",
        "5 ms ", "5ms 3us", "0x5ms", "+5ms", "5.ms", ".5ms", "5.e3ms"}) {
    CAPTURE(text);
    CHECK_FALSE(complaint(parse_time, text).empty());
  }
  CHECK_FALSE(complaint(parse_bandwidth, "0GB/s").empty());
  CHECK_FALSE(complaint(parse_bytes, "1e305GB").empty());
  CHECK_FALSE(complaint(parse_bytes, "-1B").empty());
}

TEST_CASE("units: printed times are exact and read back") {
  CHECK(format_time(Time{12'500'000}) == "12.5 ms");
  CHECK(format_time(Time{0}) == "0 ns");
  CHECK(format_time(Time{999}) == "999 ns");
  CHECK(format_time(Time{-1'500}) == "-1.5 us");
  for (const std::int64_t ns : {1L, 1'000L, 1'000'001L, 123'456'789'012'345L}) {
    CHECK(parse_time(format_time(Time{ns})) == Time{ns});
  }
}

TEST_CASE("units: sizes and bandwidths are printed in powers of ten") {
  CHECK(format_bytes(60e6) == "60 MB");
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bandwidth(7e9) == "7 GB/s");
  CHECK(format_bandwidth(1500) == "1.5 kB/s");
}

TEST_CASE("units: seconds become nanoseconds rounded up, whole ones stay whole") {
  CHECK(from_seconds_up(0.0234) == Time{23'400'000});
  CHECK(from_seconds_up(1e-9) == Time{1});
  CHECK(from_seconds_up(1.5e-9) == Time{2});
  CHECK(from_seconds_up(0.3) == Time{300'000'000});
  CHECK_THROWS_AS((void)from_seconds_up(1e10), ContractError);
  CHECK_THROWS_AS((void)from_seconds_up(-1), ContractError);
  CHECK_THROWS_AS((void)from_seconds_up(std::numeric_limits<double>::quiet_NaN()), ContractError);
}

}  // namespace
}  // namespace cohort
