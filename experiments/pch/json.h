// Precompiled header of this folder: what most of its files parse again. Speeds up the build,
// nothing else: each file includes what it uses, and builds with -Db_pch=false (./check --sanitize
// does). Included once by the build, so without `#pragma once`, which the compiler rejects in a file
// that it compiles by itself.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
