#include "graph/saved_model/saved_model.h"

#include <google/protobuf/text_format.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "graph/base/file_bytes.h"
#include "graph/saved_model/write_saved_model.h"
#include "gtest/gtest.h"
#include "proto/saved_model.pb.h"
#include "tests/support/folder_test.h"
#include "tests/support/paths.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kAffine[] = "saved_models/affine_state/model";

pb::SavedModel Affine() {
  const auto file = ReadFile(absl::StrCat(testing::Golden(kAffine), "/saved_model.pb"), SIZE_MAX);
  EXPECT_TRUE(file.ok()) << file.status();
  pb::SavedModel model;
  EXPECT_TRUE(model.ParseFromString(std::string(file->bytes)));
  return model;
}

class SavedModelTest : public testing::FolderTest {
 protected:
  // A folder with this saved_model.pb or saved_model.pbtxt, and nothing else.
  std::string FolderOf(const std::string& name, const std::string& bytes) const {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    Write(name, bytes);
    return folder_.string();
  }
  std::string FolderOf(const pb::SavedModel& model) const {
    return FolderOf("saved_model.pb", model.SerializeAsString());
  }
};

std::vector<std::string> Names(const std::vector<SignatureTensor>& tensors) {
  std::vector<std::string> names;
  for (const SignatureTensor& t : tensors) names.push_back(t.name);
  return names;
}

TEST_F(SavedModelTest, HasWhatItsMetaGraphSays) {
  const auto read = ImportSavedModel(testing::Golden(kAffine));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->imported.defects.size(), 0u);
  const MetaGraph& meta = read->model.meta();
  EXPECT_THAT(meta.tags, ElementsAre("serve"));
  EXPECT_EQ(meta.filename_tensor, "saver_filename:0");
  EXPECT_EQ(meta.restore_op, "StatefulPartitionedCall_3");
  EXPECT_EQ(meta.init_op, "NoOp");
  const Signature* count = meta.FindSignature("count");
  ASSERT_NE(count, nullptr);
  EXPECT_EQ(count->method, "tensorflow/serving/predict");
  EXPECT_THAT(Names(count->inputs), ElementsAre("x"));
  EXPECT_THAT(Names(count->outputs), ElementsAre("calls", "mean"));
  EXPECT_EQ(count->inputs[0].tensor, "count_x:0");
  EXPECT_EQ(count->inputs[0].shape.ToString(), "[?,4]");
  EXPECT_EQ(count->outputs[0].dtype, DataType::kInt64);
  const NodeId w = read->imported.graph.FindNode("w");
  EXPECT_THAT(read->imported.graph.Locate(w), HasSubstr("saved_model.pb: byte "));
}

TEST_F(SavedModelTest, MayBeText) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(Affine(), &text);
  const auto read = ImportSavedModel(FolderOf("saved_model.pbtxt", text));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->imported.defects.size(), 0u);
  EXPECT_EQ(read->imported.graph.num_nodes(), Affine().meta_graphs(0).graph_def().node_size());
  const SourcePos pos = read->imported.graph.pos(read->imported.graph.FindNode("w"));
  EXPECT_GT(pos.line, 1u);
  const absl::Status wrong =
      ImportSavedModel(FolderOf("saved_model.pbtxt", "meta_graphs {\n  graph: 1\n}\n")).status();
  EXPECT_EQ(wrong.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(wrong.message()), HasSubstr("saved_model.pbtxt:2:"));
}

// A length that goes beyond the end: of the whole, of a graph with its tags, and of its tags.
TEST_F(SavedModelTest, NamesTheByteOfWhatIsMalformed) {
  const auto message = [&](const std::string& bytes) {
    return std::string(ImportSavedModel(FolderOf("saved_model.pb", bytes)).status().message());
  };
  EXPECT_THAT(message({0x08, 0x01, 0x12, 0x05}),
              HasSubstr("saved_model.pb: byte 2: malformed SavedModel"));
  EXPECT_THAT(message({0x08, 0x01, 0x12, 0x02, 0x0a, 0x05}),
              HasSubstr("saved_model.pb: byte 4: malformed MetaGraphDef"));
  EXPECT_THAT(message({0x08, 0x01, 0x12, 0x04, 0x0a, 0x02, 0x22, 0x05}),
              HasSubstr("saved_model.pb: byte 6: malformed MetaInfoDef"));
}

TEST_F(SavedModelTest, SaysWhatAFolderHoldsInstead) {
  const auto refused = [](const std::string& folder) {
    return std::string(ImportSavedModel(folder).status().message());
  };
  const std::string folder = FolderOf("model.index", "");
  EXPECT_THAT(refused(folder), HasSubstr("a checkpoint (model.index), which has values only: write "
                                         "a SavedModel from the program that made it"));
  Write("model.meta", "");
  EXPECT_THAT(refused(folder), HasSubstr("write a SavedModel from model.meta (tf.compat.v1"));
  fs::create_directories(folder_ / "1");
  Write("1/saved_model.pb", "");
  EXPECT_THAT(refused(folder), HasSubstr("name the folder " + folder + "/1, which holds one"));
  fs::create_directories(folder_ / "2");
  Write("2/saved_model.pbtxt", "");
  EXPECT_THAT(refused(folder), HasSubstr("name the folder " + folder + "/2, which holds one"));
  EXPECT_THAT(refused(FolderOf("other", "")), ::testing::EndsWith("saved_model.pbtxt in it"));
}

TEST_F(SavedModelTest, ServesTheGraphThatIsTaggedSo) {
  pb::SavedModel model = Affine();
  pb::MetaGraphDef other = model.meta_graphs(0);
  other.mutable_meta_info_def()->set_tags(0, "train");
  other.mutable_graph_def()->clear_node();
  other.clear_signature_def();
  model.mutable_meta_graphs()->Add()->CopyFrom(other);
  model.mutable_meta_graphs()->SwapElements(0, 1);
  auto read = ImportSavedModel(FolderOf(model));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->model.chosen, 1u);
  EXPECT_GT(read->imported.graph.num_nodes(), 0);

  model.mutable_meta_graphs(1)->mutable_meta_info_def()->set_tags(0, "tpu");
  read = ImportSavedModel(FolderOf(model));
  EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(read.status().message()),
              AllOf(HasSubstr("{train}"), HasSubstr("{tpu}")));

  model.mutable_meta_graphs()->DeleteSubrange(0, 1);
  EXPECT_TRUE(ImportSavedModel(FolderOf(model)).ok());
  EXPECT_FALSE(ImportSavedModel(FolderOf(pb::SavedModel())).ok());
}

TEST_F(SavedModelTest, NamesWhatIsNotInTheGraph) {
  pb::SavedModel model = Affine();
  pb::MetaGraphDef& meta = *model.mutable_meta_graphs(0);
  (*(*meta.mutable_signature_def())["count"].mutable_inputs())["x"].set_name("nothing:0");
  meta.mutable_saver_def()->set_restore_op_name("nowhere");
  const auto read = ImportSavedModel(FolderOf(model));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->imported.defects.size(), 2u);
  for (const Defect& d : read->imported.defects) EXPECT_EQ(d.code, DefectCode::kSignature);
  EXPECT_THAT(read->imported.defects[0].message,
              AllOf(HasSubstr("argument 'x' of signature 'count'"), HasSubstr("nothing")));
  EXPECT_THAT(read->imported.defects[1].message, HasSubstr("nowhere"));
}

TEST_F(SavedModelTest, KnowsCompositeArgumentsAndDefaults) {
  pb::SavedModel model = Affine();
  pb::SignatureDef& count = (*model.mutable_meta_graphs(0)->mutable_signature_def())["count"];
  pb::TensorInfo& sparse = (*count.mutable_inputs())["s"];
  sparse.set_dtype(pb::DT_FLOAT);
  for (auto* name : {sparse.mutable_coo_sparse()->mutable_values_tensor_name(),
                     sparse.mutable_coo_sparse()->mutable_indices_tensor_name(),
                     sparse.mutable_coo_sparse()->mutable_dense_shape_tensor_name()})
    *name = "count_x:0";
  *(*count.mutable_inputs())["r"].mutable_composite_tensor()->add_components() =
      count.inputs().at("x");
  pb::TensorProto& value = (*count.mutable_defaults())["x"];
  value.set_dtype(pb::DT_FLOAT);
  value.mutable_tensor_shape()->add_dim()->set_size(2);
  value.add_float_val(3);
  const auto read = ImportSavedModel(FolderOf(model));
  ASSERT_TRUE(read.ok()) << read.status();
  const Signature* signature = read->model.meta().FindSignature("count");
  ASSERT_NE(signature, nullptr);
  EXPECT_THAT(Names(signature->inputs),
              ElementsAre("r/0", "s/dense_shape", "s/indices", "s/values", "x"));
  EXPECT_EQ(signature->inputs[2].dtype, DataType::kInt64);
  EXPECT_EQ(signature->inputs[4].default_value.num_elements(), 2);
  EXPECT_EQ(signature->inputs[4].default_value.flat<float>()[1], 3);
}

// A folder that another run left, or that another thread writes just now, is not used.
TEST_F(SavedModelTest, IsWrittenInAFolderOfItsOwn) {
  const auto read = ImportSavedModel(testing::Golden(kAffine));
  ASSERT_TRUE(read.ok()) << read.status();
  fs::create_directories(folder_);
  std::vector<fs::path> others;
  for (const char* const number : {"", "-0", "-1"}) {
    others.push_back(folder_ / absl::StrCat(".model.", getpid(), number, ".unfinished"));
    fs::create_directories(others.back());
    std::ofstream(others.back() / "stray") << "x";
  }
  const fs::path model = folder_ / "model";
  const absl::Status written = WriteSavedModel(read->model, read->imported.graph, model.string());
  ASSERT_TRUE(written.ok()) << written;
  EXPECT_TRUE(fs::exists(model / "saved_model.pb"));
  EXPECT_FALSE(fs::exists(model / "stray"));
  for (const fs::path& other : others) EXPECT_TRUE(fs::exists(other / "stray")) << other;
}

}  // namespace
}  // namespace tenon
