#include "tests/support/paths.h"

#include <filesystem>

#include "absl/strings/str_cat.h"

namespace tenon::testing {

std::string Golden(std::string_view name) { return absl::StrCat("tests/golden/", name); }

std::string Built(std::string_view name) {
  // Test programs stand in <build>/tests.
  const auto program = std::filesystem::read_symlink("/proc/self/exe");
  return (program.parent_path().parent_path() / name).string();
}

std::string TestPlugin(std::string_view name) {
  return Built(absl::StrCat("tests/plugins/lib", name, ".so"));
}

}  // namespace tenon::testing
