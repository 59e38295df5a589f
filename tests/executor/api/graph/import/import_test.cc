// TF_GraphImportGraphDef with its options.

#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "google/protobuf/text_format.h"
#include "tensorflow/c/c_api_experimental.h"
#include "tests/executor/api/c_api_util.h"
#include "tests/support/process_memory.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

using OptionsPtr =
    std::unique_ptr<TF_ImportGraphDefOptions, testing::Deleter<TF_DeleteImportGraphDefOptions>>;
using ResultsPtr =
    std::unique_ptr<TF_ImportGraphDefResults, testing::Deleter<TF_DeleteImportGraphDefResults>>;

constexpr char kFloatType[] = "attr { key: 'T' value { type: DT_FLOAT } }";

// A node in text form.
std::string NodeText(std::string_view name, std::string_view op,
                     const std::vector<std::string>& inputs = {},
                     std::string_view rest = kFloatType) {
  std::string text = absl::StrCat("node { name: '", name, "' op: '", op, "' ");
  for (const std::string& input : inputs) absl::StrAppend(&text, "input: '", input, "' ");
  return absl::StrCat(text, rest, " }\n");
}

std::string PlaceholderText(std::string_view name, std::string_view rest = "") {
  return NodeText(name, "Placeholder", {},
                  absl::StrCat("attr { key: 'dtype' value { type: DT_FLOAT } } ", rest));
}

class Import : public testing::GraphFixture {
 protected:
  Import() : options_(TF_NewImportGraphDefOptions()) {}
  TF_ImportGraphDefOptions* options() { return options_.get(); }
  void NewOptions() { options_.reset(TF_NewImportGraphDefOptions()); }

  ResultsPtr ImportText(const std::string& text, TF_Code wanted = TF_OK) {
    pb::GraphDef def;
    EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &def));
    return ImportBytes(def.SerializeAsString(), wanted);
  }
  ResultsPtr ImportBytes(const std::string& bytes, TF_Code wanted = TF_OK) {
    const testing::BufferPtr buffer = testing::BufferOf(bytes);
    ResultsPtr results(TF_GraphImportGraphDefWithResults(g(), buffer.get(), options(), s()));
    EXPECT_EQ(wanted, code()) << message();
    EXPECT_EQ(wanted == TF_OK, results != nullptr);
    return results;
  }
  // Every node as "name(inputs)".
  std::vector<std::string> Edges() {
    std::vector<std::string> edges;
    const pb::GraphDef def = GraphDef();
    for (const pb::NodeDef& node : def.node())
      edges.push_back(absl::StrCat(node.name(), "(", absl::StrJoin(node.input(), " "), ")"));
    return edges;
  }

 private:
  OptionsPtr options_;
};

std::string ChainOfNodes() {
  return PlaceholderText("x") + NodeText("y", "Neg", {"x"}) + NodeText("z", "Neg", {"y", "^x"});
}

TEST_F(Import, KeepsEverything) {
  const std::string text = ChainOfNodes() +
                           "versions { producer: 1882 min_consumer: 12 } "
                           "library { function { signature { name: 'f' } } }";
  ImportText(text);
  EXPECT_THAT(Edges(), ElementsAre("x()", "y(x)", "z(y ^x)"));
  const pb::GraphDef def = GraphDef();
  EXPECT_EQ(1882, def.versions().producer());
  EXPECT_EQ(12, def.versions().min_consumer());
  EXPECT_EQ(1, def.library().function_size());
  EXPECT_EQ(Find("y"), TF_OperationInput({Find("z"), 0}).oper);
  EXPECT_EQ(-1, TF_GraphGetTensorNumDims(g(), {Find("z"), 0}, s()));
  ExpectOk();
}

TEST_F(Import, AddsNodesInTheirOrderOfUse) {
  ImportText(NodeText("n", "Neg", {"p"}) + PlaceholderText("p"));
  EXPECT_THAT(Edges(), ElementsAre("p()", "n(p)"));
}

TEST_F(Import, KeepsOneOfControlEdgesThatAreTheSame) {
  ImportText(ChainOfNodes() + NodeText("n", "Neg", {"y", "^x", "^y", "^x"}));
  EXPECT_THAT(Edges(), ElementsAre("x()", "y(x)", "z(y ^x)", "n(y ^x ^y)"));
}

// Outputs that are asked for are nobody's without results: no error, as in TensorFlow.
TEST_F(Import, WithoutResultsReturnsNoOutputs) {
  TF_ImportGraphDefOptionsAddReturnOutput(options(), "y", 0);
  pb::GraphDef def;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(ChainOfNodes(), &def));
  TF_GraphImportGraphDef(g(), testing::BufferOf(def.SerializeAsString()).get(), options(), s());
  ExpectOk();
  EXPECT_THAT(Names(), ElementsAre("x", "y", "z"));
}

// A buffer that the library has filled, and buffers whose bytes are the program's and go, in one
// way or another, before the graph does.
TEST_F(Import, BytesOutliveTheirBuffer) {
  pb::GraphDef def;
  const std::string text =
      "node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_STRING } } "
      "attr { key: 'value' value { tensor { dtype: DT_STRING tensor_shape {} string_val: '" +
      std::string(100000, 'v') + "' } } } }";
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &def));
  const std::string bytes = def.SerializeAsString();
  const auto overwrite = [](void* data, size_t length) { std::memset(data, 'x', length); };
  for (const bool has_deallocator : {false, true}) {
    for (const bool own : {false, true}) {
      std::string mine = bytes;
      TF_Buffer* const buffer =
          own ? TF_NewBuffer() : TF_NewBufferFromString(bytes.data(), bytes.size());
      if (own) *buffer = {mine.data(), mine.size(), has_deallocator ? +overwrite : nullptr};
      const testing::GraphPtr graph(TF_NewGraph());
      TF_GraphImportGraphDef(graph.get(), buffer, options(), s());
      ExpectOk();
      EXPECT_EQ(bytes, testing::BytesOf(buffer));
      TF_DeleteBuffer(buffer);
      overwrite(mine.data(), mine.size());
      EXPECT_EQ(100000u,
                GraphDefOf(graph.get()).node(0).attr().at("value").tensor().string_val(0).size());
      EXPECT_EQ('v',
                GraphDefOf(graph.get()).node(0).attr().at("value").tensor().string_val(0)[99999]);
    }
  }
}

TEST_F(Import, AddsToAGraphThatGrows) {
  TF_Operation* mine = Placeholder("mine", TF_FLOAT);
  ImportText(ChainOfNodes());
  Unary("Neg", "more", {Find("z"), 0});
  EXPECT_THAT(Names(), ElementsAre("mine", "x", "y", "z", "more"));
  EXPECT_EQ(mine, Find("mine"));
}

TEST_F(Import, InfersShapesOfWhatWasImportedWhole) {
  ImportText(PlaceholderText("x", "attr { key: 'shape' value { shape { dim { size: 2 } } } }") +
             NodeText("y", "Neg", {"x"}) + "versions { producer: 1882 }");
  EXPECT_EQ(1, TF_GraphGetTensorNumDims(g(), {Find("y"), 0}, s()));
  TF_Operation* more = Unary("Neg", "more", {Find("y"), 0});
  int64_t size = 0;
  TF_GraphGetTensorShape(g(), {more, 0}, &size, 1, s());
  ExpectOk();
  EXPECT_EQ(2, size);
}

TEST_F(Import, NotedShapesBecomeKnown) {
  ImportText(PlaceholderText("x",
                             "attr { key: '_output_shapes' value { list { shape { dim { size: 2 } "
                             "dim { size: 3 } } } } }"));
  EXPECT_EQ(2, TF_GraphGetTensorNumDims(g(), {Find("x"), 0}, s()));
  EXPECT_FALSE(NodeDefOf(Find("x")).attr().contains("_output_shapes"));
  ImportText(PlaceholderText("y", "attr { key: '_output_shapes' value { list { } } }"),
             TF_INVALID_ARGUMENT);
  EXPECT_EQ(
      "Node 'y' has 1 outputs but the _output_shapes attribute specifies shapes for 0 outputs",
      message());
}

TEST_F(Import, AWrongNoteOfAShapeIsRefused) {
  const std::string noted = "attr { key: '_output_shapes' value { list { shape { dim { size: ";
  ImportText(PlaceholderText("x", "attr { key: 'shape' value { shape { dim { size: 2 } } } } " +
                                      noted + "3 } } } } }"),
             TF_INVALID_ARGUMENT);
  EXPECT_THAT(message(),
              ::testing::HasSubstr("Node 'x' has an _output_shapes attribute inconsistent with the "
                                   "GraphDef for output #0"));
  EXPECT_EQ(nullptr, Find("x"));
  ImportText(PlaceholderText(
      "x", "attr { key: 'shape' value { shape { dim { size: 2 } } } } " + noted + "2 } } } } }"));
  EXPECT_EQ(1, TF_GraphGetTensorNumDims(g(), {Find("x"), 0}, s()));
}

// Nodes behind a noted one are inferred from the notes.
TEST_F(Import, NotesOfACallStandForItsBody) {
  ImportText(PlaceholderText("x") +
             "node { name: 'call' op: 'PartitionedCall' input: 'x' "
             "attr { key: 'Tin' value { list { type: DT_FLOAT } } } "
             "attr { key: 'Tout' value { list { type: DT_FLOAT } } } "
             "attr { key: 'f' value { func { name: 'f' } } } "
             "attr { key: '_output_shapes' value { list { shape { dim { size: 5 } } } } } } " +
             NodeText("y", "Neg", {"call"}) +
             "library { function { signature { name: 'f' input_arg { name: 'a' type: DT_FLOAT } "
             "output_arg { name: 'b' type: DT_FLOAT } } ret { key: 'b' value: 'a' } } } "
             "versions { producer: 1882 }");
  int64_t size = 0;
  TF_GraphGetTensorShape(g(), {Find("y"), 0}, &size, 1, s());
  ExpectOk();
  EXPECT_EQ(5, size);
  EXPECT_FALSE(NodeDefOf(Find("call")).attr().contains("_output_shapes"));
}

TEST_F(Import, PutsAPrefixBefore) {
  TF_ImportGraphDefOptionsSetPrefix(options(), "p");
  ImportText(
      PlaceholderText("x") +
      NodeText("y", "Neg", {"x", "^x"},
               absl::StrCat(kFloatType, "attr { key: '_class' value { list { s: 'loc:@x' } } }")));
  EXPECT_THAT(Edges(), ElementsAre("p/x()", "p/y(p/x ^p/x)"));
  EXPECT_THAT(NodeDefOf(Find("p/y")).attr().at("_class").list().s(), ElementsAre("loc:@p/x"));
  TF_ImportGraphDefOptionsSetUniquifyPrefix(options(), 1);
  ImportText(PlaceholderText("x"));
  EXPECT_NE(nullptr, Find("p_1/x"));
  TF_ImportGraphDefOptionsSetPrefix(options(), "no name");
  ImportText(PlaceholderText("x"), TF_INVALID_ARGUMENT);
  EXPECT_EQ("Imported node name prefix 'no name/' would lead to invalid node names", message());
}

TEST_F(Import, APrefixThatIsTakenIsRefused) {
  TF_ImportGraphDefOptionsSetPrefix(options(), "p");
  ImportText(ChainOfNodes());
  ImportText(ChainOfNodes(), TF_INVALID_ARGUMENT);
  EXPECT_EQ(3, Names().size());
}

TEST_F(Import, NamesThatAreTakenAreRefusedOrMadeUnique) {
  ImportText(ChainOfNodes());
  ImportText(ChainOfNodes(), TF_INVALID_ARGUMENT);
  EXPECT_EQ("Node name 'x' already exists in the Graph", message());
  ImportText(NodeText("a/b", "NoOp", {}, ""));
  ImportText(NodeText("a", "NoOp", {}, ""), TF_INVALID_ARGUMENT);
  EXPECT_EQ("Node name 'a' already exists in the Graph", message());
  TF_ImportGraphDefOptionsSetUniquifyNames(options(), 1);
  ImportText(ChainOfNodes() + NodeText("x_1", "NoOp", {"^x"}, "") + NodeText("a", "NoOp", {}, ""));
  EXPECT_THAT(Edges(), ElementsAre("x()", "y(x)", "z(y ^x)", "a/b()", "x_2()", "y_1(x_2)",
                                   "z_1(y_1 ^x_2)", "x_1(^x_2)", "a_1()"));
}

TEST_F(Import, MapsInputsAndReturnsWhatIsAskedFor) {
  ImportText(ChainOfNodes());
  TF_Operation *y = Find("y"), *z = Find("z");
  TF_ImportGraphDefOptionsSetPrefix(options(), "i");
  TF_ImportGraphDefOptionsAddInputMapping(options(), "x", 0, {z, 0});
  TF_ImportGraphDefOptionsAddInputMapping(options(), "absent", 0, {z, 0});
  TF_ImportGraphDefOptionsAddInputMapping(options(), "y", 7, {z, 0});
  TF_ImportGraphDefOptionsAddInputMapping(options(), "z", 0, {z, 0});
  TF_ImportGraphDefOptionsRemapControlDependency(options(), "x", y);
  TF_ImportGraphDefOptionsAddReturnOutput(options(), "z", 0);
  TF_ImportGraphDefOptionsAddReturnOutput(options(), "y", 0);
  TF_ImportGraphDefOptionsAddReturnOperation(options(), "z");
  EXPECT_EQ(2, TF_ImportGraphDefOptionsNumReturnOutputs(options()));
  EXPECT_EQ(1, TF_ImportGraphDefOptionsNumReturnOperations(options()));
  const ResultsPtr results = ImportText(ChainOfNodes());
  EXPECT_THAT(Edges(), ElementsAre("x()", "y(x)", "z(y ^x)", "i/x()", "i/y(z)", "i/z(i/y ^y)"));
  int count = 0;
  TF_Output* outputs = nullptr;
  TF_ImportGraphDefResultsReturnOutputs(results.get(), &count, &outputs);
  ASSERT_EQ(2, count);
  EXPECT_EQ(z, outputs[0].oper);
  EXPECT_EQ(Find("i/y"), outputs[1].oper);
  TF_Operation** operations = nullptr;
  TF_ImportGraphDefResultsReturnOperations(results.get(), &count, &operations);
  ASSERT_EQ(1, count);
  EXPECT_EQ(Find("i/z"), operations[0]);
  const char** names = nullptr;
  int* indexes = nullptr;
  TF_ImportGraphDefResultsMissingUnusedInputMappings(results.get(), &count, &names, &indexes);
  ASSERT_EQ(2, count);
  EXPECT_STREQ("absent", names[0]);
  EXPECT_STREQ("y", names[1]);
  EXPECT_EQ(7, indexes[1]);
}

TEST_F(Import, AddsControlDependenciesToNodesWithoutInputs) {
  TF_Operation* first = Placeholder("first", TF_FLOAT);
  TF_ImportGraphDefOptionsAddControlDependency(options(), first);
  TF_ImportGraphDefOptionsSetDefaultDevice(options(), "/device:CPU:0");
  ImportText(PlaceholderText("x") + NodeText("y", "Neg", {"x"}) +
             PlaceholderText("p", "} node { name: 'q' op: 'NoOp' device: '/device:CPU:1'"));
  EXPECT_THAT(Edges(), ElementsAre("first()", "x(^first)", "y(x)", "p(^first)", "q(^first)"));
  EXPECT_STREQ("/device:CPU:0", TF_OperationDevice(Find("y")));
  EXPECT_STREQ("/device:CPU:1", TF_OperationDevice(Find("q")));
}

TEST_F(Import, ReturnOutputsMustBeCounted) {
  const testing::BufferPtr none = testing::BufferOf("");
  TF_Output outputs[2];
  TF_GraphImportGraphDefWithReturnOutputs(g(), none.get(), options(), outputs, 2, s());
  EXPECT_EQ("Expected 'num_return_outputs' to be 0, got 2", message());
}

TEST_F(Import, ReadsLoops) {
  const std::string loop =
      PlaceholderText("x") +
      NodeText("enter", "Enter", {"x"},
               absl::StrCat(kFloatType, "attr { key: 'frame_name' value { s: 'f' } }")) +
      NodeText("merge", "Merge", {"enter", "next"},
               absl::StrCat(kFloatType, "attr { key: 'N' value { i: 2 } }")) +
      NodeText("next", "NextIteration", {"merge"});
  ImportText(loop);
  EXPECT_EQ(Find("next"), TF_OperationInput({Find("merge"), 1}).oper);
  TF_ImportGraphDefOptionsSetPrefix(options(), "p");
  ImportText(loop);
  EXPECT_EQ(Find("p/next"), TF_OperationInput({Find("p/merge"), 1}).oper);
  EXPECT_EQ(1, TF_OperationOutputNumConsumers({Find("p/next"), 0}));
}

struct Refused {
  const char* what;
  std::string text;
  TF_Code code;
  const char* message;
};

TEST_F(Import, RefusesInTensorFlowsWords) {
  const std::string x = PlaceholderText("x");
  const Refused cases[] = {
      {"name", NodeText("a b", "NoOp", {}, ""), TF_INVALID_ARGUMENT,
       "Node 'a b': Node name contains invalid characters"},
      {"internal name", NodeText("_a", "NoOp", {}, ""), TF_INVALID_ARGUMENT,
       "Node '_a': Node name contains invalid characters"},
      {"nothing behind >", NodeText("a>", "NoOp", {}, ""), TF_INVALID_ARGUMENT,
       "Node 'a>': Node name contains invalid characters"},
      {"backslash", NodeText("a\\\\b", "NoOp", {}, ""), TF_INVALID_ARGUMENT,
       "Node 'a\\b': Node name contains invalid characters"},
      {"twice", x + x, TF_INVALID_ARGUMENT, "Node 'x' is not unique"},
      {"no op", NodeText("a", "", {}, ""), TF_INVALID_ARGUMENT,
       "Node 'a' does not specify an operation"},
      {"unknown op", NodeText("a", "NoSuchOp", {}, ""), TF_NOT_FOUND,
       "Op type not registered 'NoSuchOp' in binary running on"},
      {"unknown input", NodeText("n", "Neg", {"q"}), TF_INVALID_ARGUMENT,
       "Node 'n': Unknown input node 'q'"},
      {"port", x + NodeText("n", "Neg", {"x:1"}), TF_INVALID_ARGUMENT,
       "Node 'n': Connecting to invalid output 1 of source node x which has 1 outputs."},
      {"type", x + NodeText("n", "Neg", {"x"}, "attr { key: 'T' value { type: DT_INT32 } }"),
       TF_INVALID_ARGUMENT,
       "Input 0 of node n was passed float from x:0 incompatible with expected int32."},
      {"order", x + NodeText("n", "Neg", {"^x", "x"}), TF_INVALID_ARGUMENT,
       "Node 'n': Control dependencies must come after regular dependencies"},
      {"cycle", NodeText("m", "Neg", {"n"}) + NodeText("n", "Neg", {"m"}), TF_INVALID_ARGUMENT,
       "2 nodes in a cycle"},
      {"inputs", x + NodeText("n", "Neg", {"x", "x"}), TF_INVALID_ARGUMENT,
       "NodeDef expected inputs 'float' do not match 2 inputs specified; Op<name=Neg;"},
      {"attribute", x + NodeText("n", "Neg", {"x"}, ""), TF_INVALID_ARGUMENT,
       "NodeDef missing attr 'T' from Op<name=Neg;"},
      {"colocation",
       x + NodeText(
               "n", "Neg", {"x"},
               absl::StrCat(kFloatType, "attr { key: '_class' value { list { s: 'loc:@no' } } }")),
       TF_INVALID_ARGUMENT, "Node 'n' expects to be colocated with unknown node 'no'"},
      {"reader", x + "versions { producer: 30 min_consumer: 100000 }", TF_INVALID_ARGUMENT,
       "GraphDef min consumer version 100000 above current version"},
  };
  for (const Refused& c : cases) {
    SCOPED_TRACE(c.what);
    ImportText(c.text, c.code);
    EXPECT_THAT(message(), StartsWith(c.message));
    EXPECT_THAT(Names(), IsEmpty());
  }
  ImportBytes("\x0a\x32", TF_INVALID_ARGUMENT);
  EXPECT_EQ("Invalid GraphDef", message());
}

TEST_F(Import, AFailureLeavesTheGraphAsItWas) {
  Placeholder("mine", TF_FLOAT);
  const std::string before = GraphDef().DebugString();
  ImportText("library { function { signature { name: 'f' } } } versions { producer: 20 } " +
                 NodeText("call", "f", {}, "") + PlaceholderText("x") +
                 NodeText("n", "Neg", {"x"}, ""),
             TF_INVALID_ARGUMENT);
  EXPECT_EQ(before, GraphDef().DebugString());
  EXPECT_EQ(0, TF_OperationOutputNumConsumers({Find("mine"), 0}));
  // The names are free, and another function may have the name.
  ImportText(
      "library { function { signature { name: 'f' output_arg { name: 'y' type: DT_FLOAT } } "
      "node_def { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { "
      "key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape {} } } } } "
      "ret { key: 'y' value: 'c:output:0' } } } " +
      NodeText("call", "f", {}, "") + NodeText("n", "Neg", {"call"}));
  EXPECT_THAT(Edges(), ElementsAre("mine()", "call()", "n(call)"));
}

TEST_F(Import, FunctionsOfOneNameMustBeEqual) {
  const std::string f = "library { function { signature { name: 'f' } } }";
  ImportText(f);
  ImportText(f);
  ImportText("library { function { signature { name: 'f' } node_def { name: 'n' op: 'NoOp' } } }",
             TF_INVALID_ARGUMENT);
  EXPECT_EQ(
      "Cannot add function 'f' because a different function with the same name already "
      "exists.",
      message());
  ImportText("library { function { signature { name: 'Neg' } } }", TF_INVALID_ARGUMENT);
  EXPECT_EQ("Cannot add function 'Neg' because an op with the same name already exists.",
            message());
  EXPECT_EQ(1, GraphDef().library().function_size());
}

// A library that comes in pieces is copied once, and not for each piece.
TEST_F(Import, ManyPiecesTakeLittleMemory) {
  std::string wire;
  constexpr int kPieces = 16000;
  for (int i = 0; i < kPieces; ++i) {
    pb::GraphDef piece;
    pb::GradientDef* gradient = piece.mutable_library()->add_gradient();
    gradient->set_function_name(absl::StrCat("f", i));
    gradient->set_gradient_func("g");
    piece.mutable_versions()->set_producer(1);
    wire += piece.SerializeAsString();
  }
  const int64_t before = testing::PeakResidentBytes();
  ImportBytes(wire);
  EXPECT_LE(testing::PeakResidentBytes() - before, 100'000 << 10);
  EXPECT_EQ(kPieces, GraphDef().library().gradient_size());
}

TEST_F(Import, ColocationNeedNotBeChecked) {
  TF_ImportGraphDefOptionsSetValidateColocationConstraints(options(), 0);
  ImportText(NodeText("n", "NoOp", {}, "attr { key: '_class' value { list { s: 'loc:@no' } } }"));
  size_t length = 0;
  char* text = const_cast<char*>(TF_GraphDebugString(g(), &length));
  EXPECT_EQ(length, std::strlen(text));
  EXPECT_THAT(text, HasSubstr("loc:@no"));
  std::free(text);
}

TEST_F(Import, OptionsThatNameNothingAreErrors) {
  ImportText(ChainOfNodes());
  TF_Operation* x = Find("x");
  TF_ImportGraphDefOptionsSetPrefix(options(), "a");
  TF_ImportGraphDefOptionsAddReturnOutput(options(), "no", 0);
  ImportText(ChainOfNodes(), TF_INVALID_ARGUMENT);
  EXPECT_EQ("Requested return tensor 'no:0' not found in graph def", message());
  NewOptions();
  TF_ImportGraphDefOptionsSetPrefix(options(), "a");
  TF_ImportGraphDefOptionsAddReturnOutput(options(), "y", 3);
  ImportText(ChainOfNodes(), TF_INVALID_ARGUMENT);
  EXPECT_EQ("Invalid return output 3 of node 'y', which has 1 output(s)", message());
  NewOptions();
  TF_ImportGraphDefOptionsSetPrefix(options(), "a");
  TF_ImportGraphDefOptionsAddReturnOperation(options(), "no");
  ImportText(ChainOfNodes(), TF_INVALID_ARGUMENT);
  EXPECT_EQ("Requested return node 'no' not found in graph def", message());
  NewOptions();
  TF_ImportGraphDefOptionsSetPrefix(options(), "a");
  TF_ImportGraphDefOptionsAddInputMapping(options(), "x", 0, {x, -1});
  ImportText(ChainOfNodes(), TF_INVALID_ARGUMENT);
  EXPECT_EQ("input_map entry x:0->^x between control edge and non-control edge", message());
  NewOptions();
  TF_ImportGraphDefOptionsSetPrefix(options(), "a");
  TF_ImportGraphDefOptionsAddInputMapping(options(), "x", 0, {x, 5});
  ImportText(ChainOfNodes(), TF_INVALID_ARGUMENT);
  EXPECT_EQ("Node 'y': Connecting to invalid output 5 of source node x which has 1 outputs.",
            message());
  NewOptions();
  TF_ImportGraphDefOptionsSetPrefix(options(), "a");
  TF_ImportGraphDefOptionsAddInputMapping(options(), "x", 0, {nullptr, 0});
  ImportText(ChainOfNodes(), TF_INVALID_ARGUMENT);
  NewOptions();
  TF_ImportGraphDefOptionsAddControlDependency(options(), nullptr);
  ImportText(PlaceholderText("w"), TF_INVALID_ARGUMENT);
  EXPECT_EQ(3, Names().size());
  TF_GraphImportGraphDef(g(), nullptr, options(), s());
  EXPECT_EQ("argument 'graph_def' is NULL", message());
  TF_GraphImportGraphDef(nullptr, nullptr, nullptr, s());
  EXPECT_EQ(TF_INVALID_ARGUMENT, code());
  EXPECT_EQ(0, TF_ImportGraphDefOptionsNumReturnOutputs(nullptr));
  TF_DeleteImportGraphDefResults(nullptr);
}

}  // namespace
}  // namespace tenon
