#include "tests/support/folder_test.h"

#include <unistd.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace tenon::testing {
namespace fs = std::filesystem;

OwnFolder::OwnFolder()
    : path_(fs::canonical(::testing::TempDir()) /
            absl::StrCat(
                "tenon_", getpid(), "_",
                absl::StrReplaceAll(::testing::UnitTest::GetInstance()->current_test_info()->name(),
                                    {{"/", "_"}}))) {
  fs::remove_all(path_);
  fs::create_directories(path_);
}

OwnFolder::~OwnFolder() { fs::remove_all(path_); }

std::string FolderTest::Write(std::string_view name, std::string_view text) const {
  std::ofstream(folder_ / name, std::ios::binary) << text;
  return Path(name);
}

}  // namespace tenon::testing
