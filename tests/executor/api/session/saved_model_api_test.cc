// TF_LoadSessionFromSavedModel.
#include <filesystem>
#include <fstream>

#include "proto/saved_model.pb.h"
#include "tests/executor/api/session/session_util.h"
#include "tests/support/folder_test.h"

namespace tenon {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::OpenSession;
using ::testing::StartsWith;

const char kAffine[] = "tests/golden/saved_models/affine_state/model";
const char kVocabulary[] = "tests/golden/saved_models/v1_vocabulary/model";

class CSavedModel : public testing::GraphFixture {
 protected:
  TF_Session* Load(const char* folder, const std::vector<const char*>& tags,
                   TF_Buffer* meta_graph = nullptr, const TF_Buffer* run_options = nullptr) {
    return TF_LoadSessionFromSavedModel(nullptr, run_options, folder, tags.data(),
                                        static_cast<int>(tags.size()), g(), meta_graph, s());
  }
  // A copy of a model whose graph stands there under each of several tag-sets.
  std::string WithTags(const std::vector<std::vector<std::string>>& sets) {
    const std::string folder = own_.path().string();
    std::ifstream in(std::string(kAffine) + "/saved_model.pb", std::ios::binary);
    pb::SavedModel model;
    EXPECT_TRUE(model.ParseFromIstream(&in));
    const pb::MetaGraphDef meta = model.meta_graphs(0);
    model.clear_meta_graphs();
    for (const std::vector<std::string>& tags : sets) {
      pb::MetaGraphDef& added = *model.add_meta_graphs();
      added = meta;
      added.mutable_meta_info_def()->mutable_tags()->Assign(tags.begin(), tags.end());
    }
    std::ofstream out(folder + "/saved_model.pb", std::ios::binary);
    EXPECT_TRUE(model.SerializeToOstream(&out));
    std::filesystem::copy(std::string(kAffine) + "/variables", folder + "/variables");
    return folder;
  }

 private:
  const testing::OwnFolder own_;
};

TEST_F(CSavedModel, VariablesAreRestored) {
  const testing::BufferPtr bytes(TF_NewBuffer());
  OpenSession session(Load(kAffine, {"serve"}, bytes.get()));
  ExpectOk();
  pb::MetaGraphDef meta;
  ASSERT_TRUE(meta.ParseFromString(testing::BytesOf(bytes.get())));
  EXPECT_THAT(meta.meta_info_def().tags(), ElementsAre("serve"));
  const pb::SignatureDef& signature = meta.signature_def().at("serving_default");
  EXPECT_EQ("serving_default_x:0", signature.inputs().at("x").name());
  TF_Operation* x = Find("serving_default_x");
  TF_Operation* y = Find("StatefulPartitionedCall_1");
  ASSERT_NE(nullptr, x);
  ASSERT_NE(nullptr, y);
  const testing::TensorPtr fed =
      testing::FloatTensor({2, 4}, {-0.80193144f, -1.3243589f, -0.24836162f, 0.42044523f,
                                    1.1360465f, 0.1097064f, -0.5526473f, -0.7847804f});
  const auto out = session.Run({{{{x, 0}, fed.get()}}, {{y, 0}}, {}});
  EXPECT_EQ(TF_OK, session.code()) << session.message();
  const float wanted[] = {1.7057383f, 0, 1.283169f, 0.31555134f, 1.6892613f, 1.7938324f};
  EXPECT_THAT(testing::FloatsOf(out[0].get()),
              ::testing::Pointwise(::testing::FloatNear(1e-5f), wanted));
}

TEST_F(CSavedModel, AssetsAreFedToInitializers) {
  OpenSession session(Load(kVocabulary, {"serve"}));
  ExpectOk();
  TF_Tensor* words =
      TF_AllocateTensor(TF_STRING, std::vector<int64_t>{2}.data(), 1, 2 * sizeof(TF_TString));
  auto* texts = static_cast<TF_TString*>(TF_TensorData(words));
  TF_TString_Copy(&texts[0], "fox", 3);
  TF_TString_Copy(&texts[1], "cat", 3);
  const testing::TensorPtr fed(words);
  const auto out = session.Run({{{{Find("words"), 0}, fed.get()}}, {{Find("gathered"), 0}}, {}});
  EXPECT_EQ(TF_OK, session.code()) << session.message();
  EXPECT_THAT(testing::FloatsOf(out[0].get()), ElementsAre(2, 2.5, 0, 0.5));
}

TEST_F(CSavedModel, TagsChooseAGraphInAnyOrder) {
  const std::string folder = WithTags({{"serve"}, {"serve", "gpu"}, {"train"}});
  const testing::BufferPtr bytes(TF_NewBuffer());
  OpenSession session(Load(folder.c_str(), {"gpu", "serve", "gpu"}, bytes.get()));
  ExpectOk();
  pb::MetaGraphDef meta;
  ASSERT_TRUE(meta.ParseFromString(testing::BytesOf(bytes.get())));
  EXPECT_THAT(meta.meta_info_def().tags(), ElementsAre("serve", "gpu"));
}

TEST_F(CSavedModel, TagsThatNoGraphHasAreNotFound) {
  const std::string folder = WithTags({{"serve"}, {"serve", "gpu"}});
  for (const std::vector<const char*>& tags :
       {std::vector<const char*>{"foo"}, {}, {"gpu"}, {"serve", "tpu"}}) {
    EXPECT_EQ(nullptr, Load(folder.c_str(), tags));
    EXPECT_EQ(TF_NOT_FOUND, code());
    EXPECT_THAT(message(), HasSubstr("Could not find meta graph def matching supplied tags: { "));
    EXPECT_THAT(message(), HasSubstr("has the tag-sets { serve }, { gpu serve }."));
    EXPECT_THAT(Names(), ElementsAre());
  }
  EXPECT_EQ(nullptr, Load(folder.c_str(), {"foo"}));
  EXPECT_THAT(message(), HasSubstr("{ foo }"));
}

TEST_F(CSavedModel, AFolderWithoutAModelIsNotFound) {
  EXPECT_EQ(nullptr, Load("/nonexistent", {"serve"}));
  EXPECT_EQ(TF_NOT_FOUND, code());
  EXPECT_EQ(
      "Could not find SavedModel .pb or .pbtxt at supplied export directory path: /nonexistent. "
      "Check that the directory exists and that you have the right permissions for accessing it.",
      message());
}

TEST_F(CSavedModel, TheGraphMustBeEmpty) {
  Placeholder("x");
  EXPECT_EQ(nullptr, Load(kAffine, {"serve"}));
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  EXPECT_EQ("Graph is non-empty.", message());
  EXPECT_THAT(Names(), ElementsAre("x"));
}

TEST_F(CSavedModel, AFailedLoadLeavesTheGraphEmpty) {
  const std::string folder = WithTags({{"serve"}});
  std::filesystem::resize_file(folder + "/variables/variables.index", 10);
  EXPECT_EQ(nullptr, Load(folder.c_str(), {"serve"}));
  EXPECT_NE(TF_OK, code());
  EXPECT_THAT(message(), HasSubstr("RestoreV2}}]]"));
  EXPECT_THAT(Names(), ElementsAre());
  // The graph can be used for another one.
  OpenSession session(Load(kAffine, {"serve"}));
  ExpectOk();
  EXPECT_NE(nullptr, Find("serving_default_x"));
}

TEST_F(CSavedModel, MistakesGiveAStatus) {
  EXPECT_EQ(nullptr, Load(nullptr, {"serve"}));
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  EXPECT_EQ(nullptr, Load(kAffine, {nullptr}));
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  EXPECT_EQ(nullptr,
            TF_LoadSessionFromSavedModel(nullptr, nullptr, kAffine, nullptr, 1, g(), nullptr, s()));
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  const char* const tags[] = {"serve"};
  EXPECT_EQ(nullptr, TF_LoadSessionFromSavedModel(nullptr, nullptr, kAffine, tags, 1, nullptr,
                                                  nullptr, s()));
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  const testing::BufferPtr bad = testing::BufferOf(std::string("\xff"));
  EXPECT_EQ(nullptr, Load(kAffine, {"serve"}, nullptr, bad.get()));
  EXPECT_EQ("Unparseable RunOptions proto", message());
  EXPECT_EQ(nullptr, Load(kAffine, {"serve"}, bad.get()));
  EXPECT_EQ("Passing non-empty TF_Buffer is invalid.", message());
}

TEST_F(CSavedModel, TheGraphMayGrowAfterwards) {
  OpenSession session(Load(kAffine, {"serve"}));
  TF_Operation* neg = Unary("Neg", "neg", {Find("StatefulPartitionedCall_1"), 0});
  const testing::TensorPtr fed = testing::FloatTensor({1, 4}, {0, 0, 0, 0});
  const auto out = session.Run({{{{Find("serving_default_x"), 0}, fed.get()}}, {{neg, 0}}, {}});
  EXPECT_EQ(TF_OK, session.code()) << session.message();
  EXPECT_EQ(3u, testing::FloatsOf(out[0].get()).size());
}

TEST_F(CSavedModel, AFileThatIsNone) {
  const testing::OwnFolder folder;
  for (const char* bytes : {"\x08\x01\x12\xff\x01", "no model"}) {
    std::ofstream(folder.path() / "saved_model.pb", std::ios::binary) << bytes;
    EXPECT_EQ(nullptr, Load(folder.path().string().c_str(), {"serve"}));
    EXPECT_EQ(TF_OUT_OF_RANGE, code()) << message();
    EXPECT_THAT(message(), HasSubstr("saved_model.pb"));
  }
  std::filesystem::remove(folder.path() / "saved_model.pb");
  std::ofstream(folder.path() / "saved_model.pbtxt") << "no model";
  EXPECT_EQ(nullptr, Load(folder.path().string().c_str(), {"serve"}));
  EXPECT_EQ(TF_DATA_LOSS, code());
  EXPECT_THAT(message(), AllOf(StartsWith("Can't parse "), HasSubstr("saved_model.pbtxt:1:4")));
}

}  // namespace
}  // namespace tenon
