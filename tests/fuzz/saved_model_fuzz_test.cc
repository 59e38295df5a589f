// SavedModel folders whose files are damaged: an error that names the file, or the same answers.

#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "executor/session/saved_model.h"
#include "gmock/gmock.h"
#include "graph/base/file_bytes.h"
#include "graph/base/file_writer.h"
#include "graph/tensor/npy.h"
#include "gtest/gtest.h"
#include "tests/fuzz/mutate_util.h"
#include "tests/support/folder_test.h"
#include "tests/support/paths.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr char kGolden[] = "saved_models/vocabulary/";

Tensor Array(const std::string& name) {
  absl::StatusOr<Tensor> array = ReadNpy(testing::Golden(kGolden + name), DataType::kInvalid);
  EXPECT_TRUE(array.ok()) << array.status();
  return *std::move(array);
}

// Everything from the files to an answer.
absl::StatusOr<std::vector<Tensor>> Load(const std::string& folder, const Tensor& words) {
  absl::StatusOr<ImportedSavedModel> model = ImportSavedModel(folder);
  if (!model.ok()) return model.status();
  for (const Defect& defect : model->imported.defects)
    return absl::InvalidArgumentError(defect.ToString());
  SessionOptions options;
  options.threads = 1;
  absl::StatusOr<FileAccess> files = FilesOf(model->model);
  if (!files.ok()) return files.status();
  options.files = *files;
  auto session = Session::Create(std::move(model->imported.graph), {}, options);
  if (!session.ok()) return session.status();
  if (absl::Status status = RestoreState(**session, model->model); !status.ok()) return status;
  const Signature* signature = model->model.meta().FindSignature("serving_default");
  if (signature == nullptr)
    return absl::NotFoundError(absl::StrCat(folder, "/saved_model.pb: no such signature"));
  std::vector<Session::NamedTensor> feeds;
  for (const SignatureTensor& t : signature->inputs) feeds.emplace_back(t.tensor, words);
  std::vector<std::string> fetches;
  for (const SignatureTensor& t : signature->outputs) fetches.push_back(t.tensor);
  return (*session)->Run(feeds, fetches);
}

class DamagedSavedModels : public testing::FolderTest,
                           public ::testing::WithParamInterface<std::string> {
 protected:
  DamagedSavedModels() {
    fs::copy(testing::Golden(absl::StrCat(kGolden, "model")), folder_, fs::copy_options::recursive);
  }
};

TEST_P(DamagedSavedModels, SayWhichFileIsWrong) {
  const fs::path path = folder_ / GetParam();
  const absl::StatusOr<FileBytes> file = ReadFile(path.string(), SIZE_MAX);
  ASSERT_TRUE(file.ok()) << file.status();
  const std::string bytes(file->bytes);
  const Tensor words = Array("0_feeds_words.npy"), rows = Array("0_fetches_rows.npy");
  const bool checked = !GetParam().starts_with("saved_model");  // by checksums
  int errors = 0;
  for (int i = 0; i < testing::FuzzIterations(200); ++i) {
    std::string damaged = bytes;
    testing::Mutator(i).Damage(&damaged);
    ASSERT_TRUE(WriteFile(path.string(), damaged).ok());
    const absl::StatusOr<std::vector<Tensor>> answer = Load(folder_.string(), words);
    errors += !answer.ok();
    if (!answer.ok()) {
      EXPECT_THAT(std::string(answer.status().message()), HasSubstr(path.filename().string()))
          << i << ": " << answer.status();
    } else if (checked) {
      ASSERT_EQ((*answer)[1].bytes(), rows.bytes()) << i;
      EXPECT_EQ(std::memcmp((*answer)[1].data(), rows.data(), rows.bytes()), 0) << i;
    }
  }
  EXPECT_GT(errors, 20);
}

INSTANTIATE_TEST_SUITE_P(All, DamagedSavedModels,
                         ::testing::Values("saved_model.pb", "variables/variables.index",
                                           "variables/variables.data-00000-of-00001"),
                         [](const auto& info) {
                           return info.param == "saved_model.pb"  ? "Graph"
                                  : info.param.ends_with("index") ? "Index"
                                                                  : "Shard";
                         });

}  // namespace
}  // namespace tenon
