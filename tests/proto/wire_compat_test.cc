// Our messages against TensorFlow's: field by field (golden/proto/fields.txt), and on messages with
// every field set that TensorFlow wrote (golden/proto/messages).
#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/unknown_field_set.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/graph_def.pb.h"
#include "proto/kernel_def.pb.h"
#include "proto/op_info.pb.h"
#include "proto/rewriter_config.pb.h"
#include "proto/saved_model.pb.h"
#include "proto/tensor_bundle.pb.h"
#include "proto/xspace.pb.h"
#include "tests/support/paths.h"

namespace tenon {
namespace {

namespace gp = google::protobuf;

std::string ReadGolden(const std::string& name) {
  const std::string path = testing::Golden(absl::StrCat("proto/", name));
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << "cannot read " << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string ShortName(const std::string& full_name) {
  return std::string(absl::StripPrefix(full_name, "tenon.pb."));
}

std::string TypeName(const gp::FieldDescriptor& field) {
  const std::string kind = field.type_name();
  if (field.message_type()) {
    return absl::StrCat(kind, ":", ShortName(field.message_type()->full_name()));
  }
  if (field.enum_type()) return absl::StrCat(kind, ":", ShortName(field.enum_type()->full_name()));
  return kind;
}

// The field as a line of fields.txt.
std::string FieldLine(const gp::FieldDescriptor& field) {
  std::string line = absl::StrCat(ShortName(field.containing_type()->full_name()), " ",
                                  field.name(), " ", field.number(), " ");
  if (field.is_map()) {
    const gp::Descriptor& entry = *field.message_type();
    return absl::StrCat(line, "map ", TypeName(*entry.map_key()), " ",
                        TypeName(*entry.map_value()));
  }
  absl::StrAppend(&line, field.is_repeated() ? "repeated " : "single ", TypeName(field));
  if (field.is_packable()) absl::StrAppend(&line, field.is_packed() ? " packed" : " unpacked");
  const gp::OneofDescriptor* oneof = field.real_containing_oneof();
  if (oneof) absl::StrAppend(&line, " oneof=", oneof->name());
  if (field.has_presence() && !oneof && !field.message_type()) absl::StrAppend(&line, " presence");
  return line;
}

void AppendEnum(const gp::EnumDescriptor& type, std::vector<std::string>* lines) {
  for (int i = 0; i < type.value_count(); ++i) {
    lines->push_back(absl::StrCat(ShortName(type.full_name()), " ", type.value(i)->name(), " ",
                                  type.value(i)->number()));
  }
}

void AppendMessage(const gp::Descriptor& type, std::vector<std::string>* lines) {
  if (type.map_key()) return;  // the type behind a map field
  for (int i = 0; i < type.field_count(); ++i) lines->push_back(FieldLine(*type.field(i)));
  for (int i = 0; i < type.enum_type_count(); ++i) AppendEnum(*type.enum_type(i), lines);
  for (int i = 0; i < type.nested_type_count(); ++i) AppendMessage(*type.nested_type(i), lines);
}

void AppendFile(const gp::FileDescriptor& file, std::set<const gp::FileDescriptor*>* seen,
                std::vector<std::string>* lines) {
  if (file.package() != "tenon.pb" || !seen->insert(&file).second) return;
  for (int i = 0; i < file.dependency_count(); ++i) AppendFile(*file.dependency(i), seen, lines);
  for (int i = 0; i < file.enum_type_count(); ++i) AppendEnum(*file.enum_type(i), lines);
  for (int i = 0; i < file.message_type_count(); ++i) AppendMessage(*file.message_type(i), lines);
}

TEST(WireCompat, FieldsAndEnumeratorsAreTensorFlows) {
  std::vector<std::string> ours;
  std::set<const gp::FileDescriptor*> seen;
  for (const gp::Descriptor* root :
       {pb::GraphDef::descriptor(), pb::KernelDef::descriptor(), pb::OpInfo::descriptor(),
        pb::RewriterConfig::descriptor(), pb::SavedModel::descriptor(),
        pb::BundleEntryProto::descriptor(), pb::XSpace::descriptor()}) {
    AppendFile(*root->file(), &seen, &ours);
  }

  std::vector<std::string> theirs;
  std::istringstream table(ReadGolden("fields.txt"));
  for (std::string line; std::getline(table, line);) {
    if (!absl::StartsWith(line, "#")) theirs.push_back(line);
  }
  const std::set<std::string> our_set(ours.begin(), ours.end());
  const std::set<std::string> their_set(theirs.begin(), theirs.end());
  for (const std::string& line : theirs) EXPECT_TRUE(our_set.contains(line)) << "missing: " << line;
  for (const std::string& line : ours) EXPECT_TRUE(their_set.contains(line)) << "extra: " << line;
}

// Unknown fields anywhere in `message` would mean that our messages lack a field.
bool HasUnknownFields(const gp::Message& message) {
  const gp::Reflection& reflection = *message.GetReflection();
  if (!reflection.GetUnknownFields(message).empty()) return true;
  std::vector<const gp::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const gp::FieldDescriptor* field : fields) {
    if (!field->message_type()) continue;
    if (!field->is_repeated()) {
      if (HasUnknownFields(reflection.GetMessage(message, field))) return true;
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      if (HasUnknownFields(reflection.GetRepeatedMessage(message, field, i))) return true;
    }
  }
  return false;
}

// Maps in the order of their keys, as the golden files have them.
std::string SerializeSorted(const gp::Message& message) {
  std::string bytes;
  gp::io::StringOutputStream stream(&bytes);
  gp::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  EXPECT_TRUE(message.SerializeToCodedStream(&coded));
  coded.Trim();
  return bytes;
}

class TensorFlowMessage : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<gp::Message> New() const {
    const gp::Descriptor* type = gp::DescriptorPool::generated_pool()->FindMessageTypeByName(
        absl::StrCat("tenon.pb.", GetParam()));
    if (!type) return nullptr;
    return std::unique_ptr<gp::Message>(
        gp::MessageFactory::generated_factory()->GetPrototype(type)->New());
  }
  std::string Read(const char* suffix) const {
    return ReadGolden(absl::StrCat("messages/", GetParam(), suffix));
  }
};

TEST_P(TensorFlowMessage, BinaryIsReadAndWritten) {
  const std::string bytes = Read(".pb");
  const std::unique_ptr<gp::Message> message = New();
  ASSERT_TRUE(message);
  ASSERT_TRUE(message->ParseFromString(bytes));
  EXPECT_FALSE(HasUnknownFields(*message)) << message->DebugString();
  EXPECT_TRUE(SerializeSorted(*message) == bytes) << message->DebugString();
}

TEST_P(TensorFlowMessage, TextIsReadAndWritten) {
  const std::unique_ptr<gp::Message> binary = New();
  const std::unique_ptr<gp::Message> text = New();
  const std::unique_ptr<gp::Message> again = New();
  ASSERT_TRUE(binary && text && again);
  ASSERT_TRUE(binary->ParseFromString(Read(".pb")));
  ASSERT_TRUE(gp::TextFormat::ParseFromString(Read(".pbtxt"), text.get()));
  EXPECT_TRUE(SerializeSorted(*text) == SerializeSorted(*binary));

  std::string printed;
  ASSERT_TRUE(gp::TextFormat::PrintToString(*binary, &printed));
  ASSERT_TRUE(gp::TextFormat::ParseFromString(printed, again.get()));
  EXPECT_TRUE(SerializeSorted(*again) == SerializeSorted(*binary));
}

INSTANTIATE_TEST_SUITE_P(All, TensorFlowMessage,
                         ::testing::Values("GraphDef", "KernelList", "OpInfo", "RewriterConfig",
                                           "SavedModel", "BundleHeaderProto", "BundleEntryProto",
                                           "TrackableObjectGraph", "XSpace", "DictValue",
                                           "FullTypeDef"),
                         [](const auto& info) { return info.param; });

TEST(TextFormat, ReadsASmallGraph) {
  pb::GraphDef graph;
  ASSERT_TRUE(gp::TextFormat::ParseFromString(
      R"pb(
        node {
          name: "c"
          op: "Const"
          attr {
            key: "dtype"
            value { type: DT_BFLOAT16 }
          }
          attr {
            key: "value"
            value {
              tensor {
                dtype: DT_BFLOAT16
                tensor_shape {
                  dim { size: 2 }
                  dim { size: 3 }
                }
                half_val: 16256
              }
            }
          }
        }
        node {
          name: "sum"
          op: "AddN"
          input: [ "c", "c:0", "^c" ]
          device: "/device:CPU:0"
          attr {
            key: "N"
            value { i: 2 }
          }
          attr {
            key: "_output_shapes"
            value { list { shape { unknown_rank: true } } }
          }
        }
        versions { producer: 2129 min_consumer: 12 }
      )pb",
      &graph));
  ASSERT_EQ(graph.node_size(), 2);
  const pb::TensorProto& value = graph.node(0).attr().at("value").tensor();
  EXPECT_EQ(value.dtype(), pb::DT_BFLOAT16);
  EXPECT_EQ(value.tensor_shape().dim(1).size(), 3);
  EXPECT_EQ(value.half_val(0), 0x3f80);
  EXPECT_THAT(graph.node(1).input(), ::testing::ElementsAre("c", "c:0", "^c"));
  EXPECT_EQ(graph.node(1).attr().at("N").value_case(), pb::AttrValue::kI);
  EXPECT_TRUE(graph.node(1).attr().at("_output_shapes").list().shape(0).unknown_rank());
  EXPECT_EQ(graph.versions().min_consumer(), 12);
}

TEST(GraphDebugInfo, SourceTextNeedNotBeUtf8AndZeroIsKept) {
  const gp::LogSilencer quiet;  // debug builds say on stderr that it is not UTF-8
  pb::GraphDef graph;
  auto& frame = (*graph.mutable_debug_info()->mutable_frames_by_id())[7];
  frame.set_file_index(0);
  frame.set_code("caf\xe9");
  pb::GraphDef read;
  ASSERT_TRUE(read.ParseFromString(graph.SerializeAsString()));
  const auto& got = read.debug_info().frames_by_id().at(7);
  EXPECT_TRUE(got.has_file_index());
  EXPECT_FALSE(got.has_line());
  EXPECT_EQ(got.code(), "caf\xe9");
}

}  // namespace
}  // namespace tenon
