#!/usr/bin/env bash
# Builds the nccl backend on a GPU machine and checks it there, in under four minutes: one rank per GPU where there are several,
# and four ranks that share GPUs (each with an NCCL_HOSTID of its own); group means verified, 1,000 random overlapping groups,
# bandwidth against ncclAllReduce called bare in the same run; training of each model against the host's, alone and by a job of
# all ranks, and its steps/s. Ends with a table, on stdout and in a file.
# usage: runtime/gpu_check.sh [--out FILE] [--headers DIR] [--stand-in]
#        runtime/gpu_check.sh --carry DIR
#   --out FILE     the table (gpu_check.md)
#   --headers DIR  headers of libraries that this machine lacks, as left by --carry
#   --carry DIR    on a machine that has them: copies the headers that the build reads to DIR, to be taken along
#   --stand-in     tries the script itself, on the test double of CUDA, cuBLAS and NCCL; measures nothing
# ROOT_OF_CUDA and ROOT_OF_NCCL name their folders where they are not at the usual places.
# Exit codes: 0 all as wanted; 1 something missed; 2 wrong use; 3 the machine lacks something, the build or a rank failed.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build-gpu-check
out=gpu_check.md
headers=
carry=
stand_in=false
usage() { sed -n '6,13p' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  case "$1" in
    --stand-in) stand_in=true; shift; continue ;;
    --out | --headers | --carry) [ $# -ge 2 ] || usage ;;
    *) usage ;;
  esac
  case "$1" in
    --out) out=$2 ;;
    --headers) headers=$(realpath "$2") ;;
    --carry) carry=$2 ;;
  esac
  shift 2
done

fail() { printf 'gpu_check: %s\n' "$@" >&2; exit 3; }

# Exactly the headers that the sources read, and a pkg-config file for each library that Meson asks for.
carry_headers() {
  mkdir -p "$1/pkgconfig"
  local cflags
  cflags=$(pkg-config --cflags fmt nlohmann_json eigen3 CLI11)
  git ls-files 'policies/*.cc' 'traces/*.cc' 'training/*.cc' 'runtime/*.cc' 'tests/runtime/nccl/*.cc' tests/main.cc |
    grep -v -e '^runtime/mpi/' -e '^runtime/nccl/' -e /stand_in/ -e bare_mean |
    xargs g++ -std=c++20 -M -MG -I. $cflags | tr ' \\' '\n\n' |
    grep -E '^/usr/include/(boost|fmt|nlohmann|CLI|Random123|doctest|eigen3)/' | xargs realpath -s | sort -u |
    sed 's|^/usr/include/||' | tar -C /usr/include -cf - -T - boost/version.hpp CLI | tar -C "$1" -xf -
  for library in fmt:-DFMT_HEADER_ONLY nlohmann_json: CLI11: eigen3:-I'${pcfiledir}'/../eigen3; do
    printf 'Name: %s\nDescription: headers alone\nVersion: %s\nCflags: -I${pcfiledir}/.. %s\n' "${library%%:*}" \
      "$(pkg-config --modversion "${library%%:*}")" "${library#*:}" >"$1/pkgconfig/${library%%:*}.pc"
  done
  du -sh "$1" | awk '{ print "headers: " $1 " in " $2 "; take it along, then: runtime/gpu_check.sh --headers " $2 }'
}

has_header() { echo "#include <$1>" | g++ -std=c++20 -E -x c++ -I /usr/include/eigen3 - >/dev/null 2>&1; }

find_what_is_missing() {
  local missing=() tool header
  for tool in g++ meson ninja pkg-config; do
    command -v "$tool" >/dev/null || missing+=("the program $tool")
  done
  $stand_in || [ -x "${ROOT_OF_CUDA:-/usr/local/cuda}/bin/nvcc" ] || command -v nvcc >/dev/null ||
    missing+=("the program nvcc, for the kernels of training (it comes with CUDA; ROOT_OF_CUDA names its folder)")
  if [ ${#missing[@]} = 0 ]; then
    for header in fmt/format.h:libfmt-dev nlohmann/json.hpp:nlohmann-json3-dev CLI/CLI.hpp:libcli11-dev \
      zlib.h:zlib1g-dev Random123/philox.h:librandom123-dev doctest/doctest.h:doctest-dev Eigen/Core:libeigen3-dev boost/asio.hpp:libboost-dev; do
      has_header "${header%:*}" || missing+=("the header ${header%:*} (Debian: ${header#*:})")
    done
  fi
  [ ${#missing[@]} = 0 ] || fail "this machine lacks:" "${missing[@]/#/  }" \
    "headers can be brought along: runtime/gpu_check.sh --carry DIR where they are, --headers DIR here"
}

count_gpus() {
  command -v nvidia-smi >/dev/null || fail "no GPU here: nvidia-smi is not there (--stand-in tries the script without one)"
  local found
  found=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>&1) || fail "nvidia-smi: $found"
  [ -n "$found" ] || fail "nvidia-smi lists no GPU"
  echo "$found" | wc -l
}

build_it() {
  local setup=(--buildtype=release -Dtests=enabled -Dbenchmarks=disabled -Dsimgrid=disabled)
  if $stand_in; then setup+=(-Dnccl=auto); else setup+=(-Dnccl=enabled); fi
  [ -z "${ROOT_OF_CUDA:-}" ] || setup+=("-Droot_of_cuda=$ROOT_OF_CUDA")
  [ -z "${ROOT_OF_NCCL:-}" ] || setup+=("-Droot_of_nccl=$ROOT_OF_NCCL")
  [ ! -f $build/build.ninja ] || setup+=(--reconfigure)
  meson setup "${setup[@]}" $build && ninja -C $build "$@"
}

if [ -n "$carry" ]; then
  carry_headers "$carry"
  exit
fi
if $stand_in; then gpus=2; else gpus=$(count_gpus); fi
if [ -n "$headers" ]; then
  export CPLUS_INCLUDE_PATH=$headers:$headers/eigen3 PKG_CONFIG_PATH=$headers/pkgconfig BOOST_INCLUDEDIR=$headers
fi
find_what_is_missing

folder=tests/runtime/nccl
if $stand_in; then
  program=$folder/gpu_check_on_stand_in_test_double module=$folder/cohort_nccl_on_stand_in_test_double.so least_share=0 sizes=(1)
else
  program=$folder/gpu_check module=runtime/nccl/cohort_nccl.so least_share=0.95 sizes=(4 64 256)
fi
begin=$SECONDS
build_it $program $module >$build.log 2>&1 || { tail -n 30 $build.log >&2; fail "the build failed: $build.log"; }
built=$((SECONDS - begin))

code=0
rows=
# Rows of one layout of ranks; the worst exit code.
check() {
  local found=0 table
  table=$(timeout 100 $build/$program $build/$module "$@" $least_share "${sizes[@]}") || found=$?
  rows+=$table$'\n'
  [ $found -le $code ] || code=$found
}
[ "$gpus" -lt 2 ] || check "$gpus" own
check 4 shared

{
  echo "# The nccl backend on $(if $stand_in; then echo "a test double: nothing is measured"; else
    nvidia-smi --query-gpu=count,name,driver_version --format=csv,noheader | head -n 1; fi)"
  echo
  echo "\`runtime/gpu_check.sh\` at $(git rev-parse --short HEAD 2>/dev/null || echo "an unknown revision"): built in $built s," \
    "checked in $((SECONDS - begin - built)) s."
  echo
  echo "| ranks | what | found | wanted | verdict |"
  echo "| --- | --- | --- | --- | --- |"
  printf '%s' "$rows" | grep . || true
  [ $code -le 1 ] || echo "| all | ranks end well | exit code $code | 0 | MISSED |"
  echo
  echo "The rows on training have been met by the test double alone: no table of them from a GPU is on record (docs/running.md)."
} | tee "$out"
[ $code -le 1 ] || exit 3
exit $code
