// What the shape functions infer for the operators' golden cases agrees with the answers' shapes
// and values.
#include <filesystem>

#include "graph/io/io.h"
#include "graph/shapes/shape_inference.h"

namespace tenon {
namespace {

std::vector<std::string> CaseFiles() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator("tests/golden/ops")) {
    if (entry.path().string().ends_with(".pbtxt.xz")) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The output that `want<port>` of a case belongs to.
std::optional<Output> WantedOutput(const Graph& graph, const std::string& scope, int port) {
  if (const NodeId fetch = graph.FindNode(scope + "/fetch"); fetch != kNoNode) {
    const AttrValue* attr = graph.attr(fetch, "fetch");
    const auto names = attr != nullptr ? attr->AsStringList() : absl::NotFoundError("");
    if (!names.ok() || port >= static_cast<int>(names->size())) return std::nullopt;
    const auto output = graph.ParseOutput((*names)[port]);
    return output.ok() ? std::optional(*output) : std::nullopt;
  }
  const NodeId op = graph.FindNode(scope + "/op");
  if (op == kNoNode || port >= graph.num_outputs(op)) return std::nullopt;
  return Output{op, port};
}

bool IsErrorCase(const Graph& graph, std::string_view node) {
  return graph.FindNode(absl::StrCat(node.substr(0, node.find('/')), "/error")) != kNoNode;
}

void ExpectValue(const TensorInfo& got, const TensorInfo& want, const std::string& name) {
  if (!got.partial_value || !want.value) return;
  const DataType type = want.value->dtype();
  if (type != DataType::kInt32 && type != DataType::kInt64) return;
  ASSERT_EQ(static_cast<int64_t>(got.partial_value->size()), want.value->num_elements()) << name;
  for (int64_t i = 0; i < want.value->num_elements(); ++i) {
    const int64_t known = (*got.partial_value)[i];
    EXPECT_TRUE(known == kUnknownDim || known == want.value->IntAt(i)) << name << " element " << i;
  }
}

// Returns the number of answers compared.
int CheckFile(const std::string& file) {
  const auto imported = ImportFile(file);
  if (!imported.ok()) {
    ADD_FAILURE() << imported.status();
    return 0;
  }
  const Graph& graph = imported->graph;
  std::vector<std::pair<NodeId, absl::Status>> errors;
  ShapeOptions options;
  options.errors = &errors;
  const auto shapes = GraphShapes::Infer(graph, options);
  if (!shapes.ok()) {
    ADD_FAILURE() << file << ": " << shapes.status();
    return 0;
  }
  for (const auto& [node, status] : errors)
    EXPECT_TRUE(IsErrorCase(graph, graph.name(node))) << file << ": " << status;
  int compared = 0;
  for (NodeId n = 0; n < graph.num_node_ids(); ++n) {
    const std::string name(graph.name(n));
    const size_t at = name.find("/want");
    if (at == std::string::npos) continue;
    const auto output = WantedOutput(graph, name.substr(0, at), std::atoi(name.c_str() + at + 5));
    if (!output) continue;
    ++compared;
    const TensorInfo& got = shapes->info(*output);
    const TensorInfo& want = shapes->info({n, 0});
    EXPECT_TRUE(got.shape.CompatibleWith(want.shape))
        << file << " " << name << ": " << got.shape.ToString() << " is not "
        << want.shape.ToString();
    ExpectValue(got, want, absl::StrCat(file, " ", name));
  }
  return compared;
}

TEST(OpCasesShapes, AgreeWithTheAnswers) {
  int compared = 0;
  for (const std::string& file : CaseFiles()) compared += CheckFile(file);
  EXPECT_GT(compared, 1000);
}

}  // namespace
}  // namespace tenon
