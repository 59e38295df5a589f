#include "plugin/kernels/file_access.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/folder_test.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class FileAccessTest : public testing::FolderTest {
 protected:
  FileAccessTest() {
    fs::create_directories(folder_ / "model/variables");
    fs::create_directories(folder_ / "model/assets");
    for (const char* file : {"secret", "model/saved_model.pb", "model/variables/variables.index",
                             "model/assets/words.txt", "model/assets/unlisted.txt"}) {
      Write(file, "text");
    }
  }

  FileAccess Model(std::vector<std::string> assets = {"words.txt"}) const {
    return *FileAccess::SavedModel(Path("model"), assets);
  }
};

void ExpectRefused(const absl::StatusOr<std::string>& answer, const std::string& path) {
  EXPECT_EQ(answer.status().code(), absl::StatusCode::kPermissionDenied) << path;
  EXPECT_THAT(answer.status().message(), AllOf(HasSubstr(path), HasSubstr("--allow-file-io")));
}

TEST_F(FileAccessTest, NothingIsAllowedByItself) {
  ExpectRefused(FileAccess().ForReading(Path("secret")), Path("secret"));
  ExpectRefused(FileAccess().ForWriting(Path("new")), Path("new"));
}

TEST_F(FileAccessTest, AnythingIsEverything) {
  EXPECT_EQ(*FileAccess::Anything().ForReading(Path("model/../secret")), Path("secret"));
  EXPECT_EQ(*FileAccess::Anything().ForWriting(Path("a/b/../new")), Path("a/new"));
}

TEST_F(FileAccessTest, ASavedModelReadsItsVariablesAndListedAssets) {
  const FileAccess access = Model();
  EXPECT_EQ(*access.ForReading(Path("model/variables/variables.index")),
            Path("model/variables/variables.index"));
  EXPECT_EQ(*access.ForReading(Path("model/assets/../assets/words.txt")),
            Path("model/assets/words.txt"));
  // What is not there yet is told by whoever opens it.
  EXPECT_TRUE(access.ForReading(Path("model/variables/variables.data-00000-of-00001")).ok());
  for (const char* other :
       {"model/saved_model.pb", "model/assets/unlisted.txt", "model/assets", "secret",
        "model/variables/../saved_model.pb", "model/variables/../../secret", "model/variables",
        "model/variables/none/../../../secret", "model/variables2"}) {
    ExpectRefused(access.ForReading(Path(other)), Path(other));
  }
  ExpectRefused(access.ForWriting(Path("model/variables/new")), Path("model/variables/new"));
}

TEST_F(FileAccessTest, ASavedModelMayBeReachedThroughALink) {
  fs::create_symlink(folder_ / "model", folder_ / "latest");
  const FileAccess access = *FileAccess::SavedModel(Path("latest"), {"words.txt"});
  EXPECT_EQ(*access.ForReading(Path("latest/variables/variables.index")),
            Path("model/variables/variables.index"));
  EXPECT_TRUE(access.ForReading(Path("model/assets/words.txt")).ok());
}

TEST_F(FileAccessTest, LinksOutOfASavedModelAreRefused) {
  fs::create_symlink(folder_ / "secret", folder_ / "model/variables/stolen");
  fs::create_symlink(folder_, folder_ / "model/variables/up");
  fs::create_symlink(folder_ / "secret", folder_ / "model/assets/linked.txt");
  const FileAccess access = Model({"linked.txt"});
  for (const char* link :
       {"model/variables/stolen", "model/variables/up/secret", "model/assets/linked.txt"}) {
    ExpectRefused(access.ForReading(Path(link)), Path(link));
  }
}

TEST_F(FileAccessTest, AssetsAndVariablesMayBeLinksWithinTheirSavedModel) {
  Write("model/shared.txt", "text");
  fs::create_symlink("../shared.txt", folder_ / "model/assets/linked.txt");
  fs::create_directories(folder_ / "other/values");
  Write("other/values/variables.index", "text");
  fs::create_symlink("values", folder_ / "other/variables");
  EXPECT_EQ(*Model({"linked.txt"}).ForReading(Path("model/assets/linked.txt")),
            Path("model/shared.txt"));
  ExpectRefused(Model().ForReading(Path("model/assets/linked.txt")),
                Path("model/assets/linked.txt"));
  const FileAccess other = *FileAccess::SavedModel(Path("other"), {});
  EXPECT_EQ(*other.ForReading(Path("other/variables/variables.index")),
            Path("other/values/variables.index"));
}

// A link to the folder itself or above it would open all that lies there.
TEST_F(FileAccessTest, VariablesThatAreALinkOutOfTheSavedModelAreRefused) {
  fs::create_directories(folder_ / "outer/inner");
  Write("outer/secret", "text");
  Write("outer/inner/saved_model.pb", "text");
  for (const char* target : {"..", "."}) {
    fs::remove(folder_ / "outer/inner/variables");
    fs::create_symlink(target, folder_ / "outer/inner/variables");
    const FileAccess access = *FileAccess::SavedModel(Path("outer/inner"), {});
    for (const char* file : {"outer/inner/variables/secret", "outer/secret",
                             "outer/inner/variables/saved_model.pb", "outer/inner/saved_model.pb"})
      ExpectRefused(access.ForReading(Path(file)), Path(file));
  }
}

TEST_F(FileAccessTest, AFileIsNoSavedModel) {
  EXPECT_EQ(FileAccess::SavedModel(Path("secret"), {}).status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(FileAccessTest, AssetsOutsideOfTheirFolderAreNotListed) {
  const FileAccess access = Model({"../../secret", "..", "/etc/passwd", ""});
  ExpectRefused(access.ForReading(Path("secret")), "secret");
  ExpectRefused(access.ForReading("/etc/passwd"), "/etc/passwd");
  ExpectRefused(access.ForReading(Path("model/assets")), "assets");
}

TEST_F(FileAccessTest, StrangePathsAreErrors) {
  for (const FileAccess& access : {FileAccess(), Model(), FileAccess::Anything()}) {
    EXPECT_EQ(access.ForReading("").status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(access.ForReading(std::string_view("a\0b", 3)).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(FileAccess::SavedModel(Path("none"), {}).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace tenon
