// Shape inference over whole graphs: values on their way through shape arithmetic, feeds, loops,
// size.
#include <random>

#include "graph/io/io.h"
#include "graph/ir/new_attrs.h"
#include "graph/shapes/shape_inference.h"
#include "graph/tensor/tensor_proto.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// Text of one node: `name = Op(input, input) attr=value-in-proto-text attr=…`.
std::string Node(std::string_view name, std::string_view op,
                 std::initializer_list<std::string_view> inputs,
                 std::initializer_list<std::pair<std::string_view, std::string_view>> attrs) {
  std::string text = absl::StrCat("node { name: '", name, "' op: '", op, "'");
  for (std::string_view i : inputs) absl::StrAppend(&text, " input: '", i, "'");
  for (const auto& [key, value] : attrs)
    absl::StrAppend(&text, " attr { key: '", key, "' value { ", value, " } }");
  return text + " }\n";
}

std::string Placeholder(std::string_view name, std::string_view dims,
                        std::string_view type = "DT_FLOAT") {
  std::string shape = "shape { ";
  for (char c : dims)
    absl::StrAppend(&shape, "dim { size: ", c == '?' ? "-1" : std::string(1, c), " } ");
  if (dims == "*") shape = "shape { unknown_rank: true ";
  return Node(name, "Placeholder", {},
              {{"dtype", absl::StrCat("type: ", type)}, {"shape", shape + "}"}});
}

// An int32 scalar ("5") or vector ("1,2").
std::string Ints(std::string_view name, std::string_view values, bool vector = true) {
  const auto count = 1 + std::count(values.begin(), values.end(), ',');
  const std::string dims = vector ? absl::StrCat("dim { size: ", count, " }") : "";
  return Node(name, "Const", {},
              {{"dtype", "type: DT_INT32"},
               {"value", absl::StrCat("tensor { dtype: DT_INT32 tensor_shape { ", dims,
                                      " } int_val: [", values, "] }")}});
}

constexpr std::pair<std::string_view, std::string_view> kFloatT = {"T", "type: DT_FLOAT"};
constexpr std::pair<std::string_view, std::string_view> kIntT = {"T", "type: DT_INT32"};

Graph Import(std::string text) {
  auto imported = ImportBytes("versions { producer: 2000 }\n" + std::move(text), "test");
  EXPECT_TRUE(imported.ok()) << imported.status();
  if (!imported.ok()) return Graph();
  // Shape errors are what some tests are about.
  for (const Defect& d : imported->defects) EXPECT_EQ(d.code, DefectCode::kShape) << d.ToString();
  return std::move(imported->graph);
}

std::string ShapeOf(const Graph& graph, std::string_view name, const ShapeOptions& options = {}) {
  const auto shapes = GraphShapes::Infer(graph, options);
  EXPECT_TRUE(shapes.ok()) << shapes.status();
  return shapes.ok() ? shapes->shape(*graph.ParseOutput(name)).ToString() : "";
}

// batch = Shape(x)[0] of a tensor of shape [?,4,6].
std::string Batch() {
  return Placeholder("x", "?46") + Node("shape", "Shape", {"x"}, {kFloatT}) + Ints("zero", "0") +
         Ints("one", "1") +
         Node("batch", "StridedSlice", {"shape", "zero", "one", "one"},
              {kIntT, {"Index", "type: DT_INT32"}, {"shrink_axis_mask", "i: 1"}});
}

std::string ReshapeTo(std::string_view shape) {
  return Node("y", "Reshape", {"x", shape}, {kFloatT});
}

TEST(GraphShapes, FlattenThroughPack) {
  const Graph g =
      Import(Batch() + Ints("rest", "24", false) +
             Node("to", "Pack", {"batch", "rest"}, {kIntT, {"N", "i: 2"}}) + ReshapeTo("to"));
  EXPECT_EQ(ShapeOf(g, "batch"), "[]");
  EXPECT_EQ(ShapeOf(g, "y"), "[?,24]");
}

TEST(GraphShapes, ArithmeticOfKnownDimensions) {
  const Graph g = Import(Placeholder("x", "?46") + Node("shape", "Shape", {"x"}, {kFloatT}) +
                         Node("dims", "Unpack", {"shape"}, {kIntT, {"num", "i: 3"}}) +
                         Ints("two", "2", false) + Node("wide", "Mul", {"dims:1", "two"}, {kIntT}) +
                         Node("half", "FloorDiv", {"dims:2", "two"}, {kIntT}) +
                         Node("sum", "AddV2", {"half", "dims"}, {kIntT}) +
                         Node("to", "Pack", {"dims", "wide", "half"}, {kIntT, {"N", "i: 3"}}) +
                         ReshapeTo("to"));
  EXPECT_EQ(ShapeOf(g, "y"), "[?,8,3]");
  const auto shapes = GraphShapes::Infer(g);
  EXPECT_FALSE(shapes->info(*g.ParseOutput("sum")).partial_value.has_value())
      << "a sum with the unknown batch";
}

TEST(GraphShapes, ConcatOfSlicesAndConstants) {
  const Graph g =
      Import(Batch() + Ints("two", "2") + Ints("minus", "-1") +
             Node("tail", "Slice", {"shape", "one", "two"}, {kIntT, {"Index", "type: DT_INT32"}}) +
             Node("axis", "Identity", {"axis0"}, {kIntT}) + Ints("axis0", "0", false) +
             Node("to", "ConcatV2", {"tail", "minus", "axis"},
                  {kIntT, {"N", "i: 2"}, {"Tidx", "type: DT_INT32"}}) +
             ReshapeTo("to"));
  EXPECT_EQ(ShapeOf(g, "tail"), "[2]");
  EXPECT_EQ(ShapeOf(g, "y"), "[4,6,?]");
}

TEST(GraphShapes, GatherProdCastExpandDims) {
  const Graph g = Import(
      Batch() + Ints("last", "1,2") + Ints("axis", "0", false) +
      Node("dims", "GatherV2", {"shape", "last", "axis"},
           {{"Tparams", "type: DT_INT32"},
            {"Tindices", "type: DT_INT32"},
            {"Taxis", "type: DT_INT32"}}) +
      Node("prod", "Prod", {"dims", "zero"}, {kIntT, {"Tidx", "type: DT_INT32"}}) +
      Node("wide", "Cast", {"prod"}, {{"SrcT", "type: DT_INT32"}, {"DstT", "type: DT_INT64"}}) +
      Node("vector", "ExpandDims", {"wide", "axis"},
           {{"T", "type: DT_INT64"}, {"Tdim", "type: DT_INT32"}}) +
      Node("y", "Fill", {"vector", "v"}, {kFloatT, {"index_type", "type: DT_INT64"}}) +
      Placeholder("v", ""));
  EXPECT_EQ(ShapeOf(g, "y"), "[24]");
}

TEST(GraphShapes, ValuesThatOverflowAreUnknown) {
  const Graph g = Import(
      Placeholder("x", "") + Ints("big", "65536,3") + Node("mul", "Mul", {"big", "big"}, {kIntT}) +
      Node("y", "BroadcastTo", {"x", "mul"}, {kFloatT, {"Tidx", "type: DT_INT32"}}) +
      Node("byte", "Cast", {"big"}, {{"SrcT", "type: DT_INT32"}, {"DstT", "type: DT_UINT8"}}));
  EXPECT_EQ(ShapeOf(g, "y"), "[?,9]");
  EXPECT_FALSE(GraphShapes::Infer(g)->info(*g.ParseOutput("byte")).partial_value.has_value());
}

TEST(GraphShapes, RangeToTheRank) {
  const Graph g =
      Import(Placeholder("x", "?4") + Node("rank", "Rank", {"x"}, {kFloatT}) +
             Ints("zero", "0", false) + Ints("one", "1", false) +
             Node("axes", "Range", {"zero", "rank", "one"}, {{"Tidx", "type: DT_INT32"}}) +
             Node("y", "Sum", {"x", "axes"}, {kFloatT, {"Tidx", "type: DT_INT32"}}));
  EXPECT_EQ(ShapeOf(g, "y"), "[]");
}

TEST(GraphShapes, FeedsReplaceWhatIsInferred) {
  const Graph g = Import(Placeholder("x", "?4") + Node("y", "Relu", {"x"}, {kFloatT}) +
                         Node("z", "Relu", {"y"}, {kFloatT}));
  EXPECT_EQ(ShapeOf(g, "z"), "[?,4]");
  ShapeOptions options;
  options.feeds[*g.ParseOutput("x")].shape = {3, 4};
  EXPECT_EQ(ShapeOf(g, "z", options), "[3,4]");
  options.feeds[*g.ParseOutput("y")].shape = {7};
  EXPECT_EQ(ShapeOf(g, "z", options), "[7]");
  ShapeOptions doubt;
  doubt.assume_valid_feeds = false;
  EXPECT_EQ(ShapeOf(g, "z", doubt), "<unknown>");
}

TEST(GraphShapes, FedValuesReachShapes) {
  const Graph g =
      Import(Placeholder("x", "46") + Placeholder("to", "2", "DT_INT32") + ReshapeTo("to"));
  EXPECT_EQ(ShapeOf(g, "y"), "[?,?]");
  ShapeOptions options;
  const int32_t value[] = {8, 3};
  TensorInfo& fed = options.feeds[*g.ParseOutput("to")];
  fed.shape = {2};
  fed.value =
      std::make_shared<const Tensor>(Tensor::Of<int32_t>(DataType::kInt32, value, Shape({2})));
  EXPECT_EQ(ShapeOf(g, "y", options), "[8,3]");
}

TEST(GraphShapes, VariablesKnowTheirShape) {
  const std::pair<std::string_view, std::string_view> type = {"dtype", "type: DT_FLOAT"};
  const Graph g = Import(
      Node("v", "VarHandleOp", {}, {type, {"shape", "shape { dim { size: 9 } dim { size: 4 } }"}}) +
      Node("h", "Identity", {"v"}, {{"T", "type: DT_RESOURCE"}}) +
      Node("r", "ReadVariableOp", {"h"}, {type}) + Placeholder("i", "?", "DT_INT32") +
      Node("rows", "ResourceGather", {"h", "i"}, {type, {"Tindices", "type: DT_INT32"}}));
  EXPECT_EQ(ShapeOf(g, "r"), "[9,4]");
  EXPECT_EQ(ShapeOf(g, "rows"), "[?,4]");
}

TEST(GraphShapes, VariablesKeepTheirTypeAndShape) {
  const std::string variable =
      Node("v", "VarHandleOp", {},
           {{"dtype", "type: DT_FLOAT"}, {"shape", "shape { dim { size: 2 } dim { size: 3 } }"}});
  const auto error = [&](const std::string& more) {
    return std::string(GraphShapes::Infer(Import(variable + more)).status().message());
  };
  const std::pair<std::string_view, std::string_view> ints = {"dtype", "type: DT_INT32"};
  EXPECT_THAT(error(Node("r", "ReadVariableOp", {"v"}, {ints})),
              StartsWith("Trying to read variable with wrong dtype. Expected float got int32"));
  EXPECT_THAT(
      error(Placeholder("i", "23", "DT_INT32") + Node("a", "AssignVariableOp", {"v", "i"}, {ints})),
      StartsWith("Trying to read variable with wrong dtype. Expected float got int32"));
  for (const char* op : {"AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp"}) {
    const std::string assign = Node("a", op, {"v", "x"}, {{"dtype", "type: DT_FLOAT"}});
    EXPECT_EQ(error(Placeholder("x", "23") + assign), "");
    EXPECT_EQ(error(Placeholder("x", "?3") + assign), "");
    EXPECT_THAT(error(Placeholder("x", "45") + assign), HasSubstr("must be equal"));
  }
}

TEST(GraphShapes, ErrorsNameNodeAndShapes) {
  const Graph g = Import(Placeholder("x", "23") + Placeholder("w", "45") +
                         Node("product", "MatMul", {"x", "w"}, {kFloatT}));
  const auto shapes = GraphShapes::Infer(g);
  EXPECT_EQ(shapes.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(shapes.status().message(),
            "Dimensions must be equal, but are 3 and 4, in op MatMul of node 'product' with input "
            "shapes: [2,3], [4,5]");
}

TEST(GraphShapes, LoopsStartUnknown) {
  const std::pair<std::string_view, std::string_view> frame = {"frame_name", "s: 'f'"};
  const Graph g = Import(
      Placeholder("x", "4") + Placeholder("p", "", "DT_BOOL") +
      Node("enter", "Enter", {"x"}, {kFloatT, frame}) +
      Node("same", "Enter", {"x"}, {kFloatT, frame, {"is_constant", "b: true"}}) +
      Node("go", "Enter", {"p"}, {{"T", "type: DT_BOOL"}, frame, {"is_constant", "b: true"}}) +
      Node("merge", "Merge", {"enter", "next"}, {kFloatT, {"N", "i: 2"}}) +
      Node("cond", "LoopCond", {"go"}, {}) +
      Node("switch", "Switch", {"merge", "cond"}, {kFloatT}) +
      Node("next", "NextIteration", {"switch:1"}, {kFloatT}) +
      Node("exit", "Exit", {"switch"}, {kFloatT}));
  EXPECT_EQ(ShapeOf(g, "exit"), "<unknown>");
  EXPECT_EQ(ShapeOf(g, "same"), "[4]");
  EXPECT_EQ(ShapeOf(g, "merge:1"), "[]");
}

TEST(GraphShapes, OldPlaceholdersOfRankZeroMayBeAnything) {
  const std::string node = Placeholder("x", "");
  auto old = ImportBytes("versions { producer: 20 }\n" + node, "test");
  ASSERT_TRUE(old.ok());
  EXPECT_EQ(ShapeOf(old->graph, "x"), "<unknown>");
  EXPECT_EQ(ShapeOf(Import(node), "x"), "[]");
}

TEST(GraphShapes, LongChain) {
  Graph g;
  std::vector<Graph::NewAttr> attrs;
  attrs.push_back({"dtype", attr::Type(DataType::kFloat)});
  attrs.push_back({"shape", attr::Shape(PartialShape{kUnknownDim, 3})});
  NodeId last = *g.AddNode("x", "Placeholder", {}, attrs);
  for (int i = 0; i < 100'000; ++i) {
    const Output in{last, 0};
    last =
        *g.AddNode(absl::StrCat("n", i), "Relu", {&in, 1}, {{"T", attr::Type(DataType::kFloat)}});
  }
  const auto shapes = GraphShapes::Infer(g);
  ASSERT_TRUE(shapes.ok());
  EXPECT_EQ(shapes->shape({last, 0}).ToString(), "[?,3]");
}

// What a refresh knows is what a new inference finds.
void ExpectFresh(const Graph& g, const GraphShapes& shapes) {
  const auto fresh = GraphShapes::Infer(g);
  ASSERT_TRUE(fresh.ok()) << fresh.status();
  for (NodeId n = 0; n < g.num_node_ids(); ++n) {
    if (!g.alive(n)) continue;
    for (int i = 0; i < g.num_outputs(n); ++i) {
      const Output o = {n, i};
      EXPECT_EQ(shapes.shape(o).ToString(), fresh->shape(o).ToString()) << g.OutputName(o);
      EXPECT_EQ(shapes.info(o).partial_value, fresh->info(o).partial_value) << g.OutputName(o);
    }
  }
}

TEST(GraphShapes, ARefreshFollowsEdits) {
  Graph g = Import(Placeholder("x", "23") + Placeholder("w", "34") + Placeholder("z", "?5") +
                   Ints("to", "3,2") + Node("m", "MatMul", {"x", "w"}, {kFloatT}) +
                   Node("r", "Reshape", {"x", "to"}, {kFloatT, {"Tshape", "type: DT_INT32"}}) +
                   Node("s", "Shape", {"r"}, {kFloatT, {"out_type", "type: DT_INT32"}}) +
                   Node("a", "Neg", {"r"}, {kFloatT}) + Node("b", "Exp", {"a"}, {kFloatT}));
  GraphShapes shapes = *GraphShapes::Infer(g);
  ASSERT_TRUE(shapes.Refresh(g, {}).ok());  // nothing changed
  ExpectFresh(g, shapes);
  const auto id = [&](std::string_view name) { return g.FindNode(name); };

  g.SetInput(id("a"), 0, {id("z"), 0});
  ASSERT_TRUE(shapes.Refresh(g, {}).ok());
  EXPECT_EQ(shapes.shape({id("b"), 0}).ToString(), "[?,5]");
  ExpectFresh(g, shapes);

  Tensor to = *Tensor::Allocate(DataType::kInt32, Shape({1}));
  to.flat<int32_t>()[0] = 6;
  ASSERT_TRUE(g.MakeConst(id("to"), to).ok());
  ASSERT_TRUE(shapes.Refresh(g, {}).ok());
  EXPECT_EQ(shapes.shape({id("r"), 0}).ToString(), "[6]");
  ExpectFresh(g, shapes);

  g.RemoveNode(id("s"));
  const Output reshaped[] = {{id("r"), 0}};
  ASSERT_TRUE(
      g.AddNode("size", "Size", reshaped,
                {{"T", attr::Type(DataType::kFloat)}, {"out_type", attr::Type(DataType::kInt32)}})
          .ok());
  ASSERT_TRUE(shapes.Refresh(g, {}).ok());
  ExpectFresh(g, shapes);
}

// After an error nothing is known, and the next refresh begins anew.
TEST(GraphShapes, ARefreshRecoversFromErrors) {
  Graph g = Import(Placeholder("x", "23") + Placeholder("w", "34") +
                   Node("m", "MatMul", {"x", "w"}, {kFloatT}) + Node("a", "Neg", {"m"}, {kFloatT}));
  GraphShapes shapes = *GraphShapes::Infer(g);
  g.SetInput(g.FindNode("m"), 1, {g.FindNode("x"), 0});
  EXPECT_FALSE(shapes.Refresh(g, {}).ok());
  g.SetInput(g.FindNode("m"), 1, {g.FindNode("w"), 0});
  ASSERT_TRUE(shapes.Refresh(g, {}).ok());
  ExpectFresh(g, shapes);
}

TEST(GraphShapes, ARefreshRecoversFromCycles) {
  Graph g =
      Import(Placeholder("x", "23") + Placeholder("z", "45") + Node("a", "Neg", {"x"}, {kFloatT}) +
             Node("b", "Exp", {"a"}, {kFloatT}) + Node("c", "Neg", {"b"}, {kFloatT}));
  GraphShapes shapes = *GraphShapes::Infer(g);
  g.SetInput(g.FindNode("a"), 0, {g.FindNode("b"), 0});
  EXPECT_FALSE(shapes.Refresh(g, {}).ok());
  g.SetInput(g.FindNode("a"), 0, {g.FindNode("z"), 0});
  ASSERT_TRUE(shapes.Refresh(g, {}).ok());
  EXPECT_EQ(shapes.shape({g.FindNode("c"), 0}).ToString(), "[4,5]");
  ExpectFresh(g, shapes);
}

// The first output is unknown from then on; its reader must not keep what it was.
TEST(GraphShapes, ARefreshFollowsNodesThatGetMoreOutputs) {
  Graph g = Import(Placeholder("x", "23") + Node("a", "Neg", {"x"}, {kFloatT}) +
                   Node("b", "Exp", {"a"}, {kFloatT}));
  GraphShapes shapes = *GraphShapes::Infer(g);
  g.SetKind(g.FindNode("a"), "PartitionedCall",
            {{"Tin", attr::TypeList({DataType::kFloat})},
             {"Tout", attr::TypeList({DataType::kFloat, DataType::kFloat})},
             {"f", attr::Func("f")}});
  ASSERT_TRUE(shapes.Refresh(g, {}).ok());
  ExpectFresh(g, shapes);
}

// A reader of the second output must not keep what it was, though the first stays the same.
TEST(GraphShapes, ARefreshFollowsNodesThatGetFewerOutputs) {
  Graph g =
      Import(Placeholder("x", "23") + Node("a", "Merge", {"x", "x"}, {kFloatT, {"N", "i: 2"}}) +
             Node("b", "Neg", {"a:1"}, {kIntT}));
  GraphShapes shapes = *GraphShapes::Infer(g);
  EXPECT_EQ(shapes.shape({g.FindNode("b"), 0}).ToString(), "[]");
  g.SetKind(g.FindNode("a"), "AddV2", {{"T", attr::Type(DataType::kFloat)}});
  ASSERT_TRUE(shapes.Refresh(g, {}).ok());
  ExpectFresh(g, shapes);
}

// A loop of version 1 whose merge reads x[4] and, by a NextIteration, p[4].
std::string LoopOfPlaceholders() {
  return Placeholder("x", "4") + Placeholder("p", "4") + Placeholder("q", "7") +
         Node("enter", "Enter", {"x"}, {kFloatT, {"frame_name", "s: 'f'"}}) +
         Node("merge", "Merge", {"enter", "next"}, {kFloatT, {"N", "i: 2"}}) +
         Node("next", "NextIteration", {"p"}, {kFloatT});
}

// What a sweep finds out about a NextIteration must not reach the merge in the next one.
TEST(GraphShapes, ARefreshFollowsLoops) {
  Graph g = Import(LoopOfPlaceholders());
  const NodeId merge = g.FindNode("merge");
  GraphShapes shapes = *GraphShapes::Infer(g);
  g.SetAttr(merge, "_a", attr::Int(1));
  ASSERT_TRUE(shapes.Refresh(g, {}).ok());
  ExpectFresh(g, shapes);
  g.SetInput(g.FindNode("next"), 0, {g.FindNode("q"), 0});
  ASSERT_TRUE(shapes.Refresh(g, {}).ok());
  EXPECT_EQ(shapes.shape({merge, 0}).ToString(), "<unknown>");
  ExpectFresh(g, shapes);
}

// The order in which nodes are visited does not matter.
TEST(GraphShapes, LoopsAreUnknownThoughTheirEndComesFirst) {
  const std::string first = Node("next", "NextIteration", {"p"}, {kFloatT});
  std::string text = LoopOfPlaceholders();
  text.erase(text.find(first), first.size());
  EXPECT_EQ(ShapeOf(Import(first + text), "merge"), "<unknown>");
}

// Loops of version 1 whose parts are wired at random, without illegal cycles: what merges give goes
// through `negs` and `exps`, to `nexts` and so back into merges.
class RandomLoops {
 public:
  explicit RandomLoops(uint32_t seed) : random_(seed) {
    const std::vector<PartialShape> shapes = {{4}, {7}, {kUnknownDim, 3}, PartialShape()};
    for (const PartialShape& shape : shapes) {
      sources_.push_back(
          Add("Placeholder", {},
              {{"dtype", attr::Type(DataType::kFloat)}, {"shape", attr::Shape(shape)}}));
    }
    for (int i = 0; i < 4; ++i) {
      const Output source = Any(sources_);
      nexts_.push_back(Add("NextIteration", {source}, Float()));
      const Output enter =
          Add("Enter", {source},
              {{"T", attr::Type(DataType::kFloat)}, {"frame_name", attr::String("f")}});
      enters_.push_back(enter);
      merges_.push_back(Add("Merge", {enter, nexts_.back()},
                            {{"T", attr::Type(DataType::kFloat)}, {"N", attr::Int(2)}}));
      negs_.push_back(Add("Neg", {merges_.back()}, Float()));
      exps_.push_back(Add("Exp", {negs_.back()}, Float()));
      Add("Shape", {exps_.back()},
          {{"T", attr::Type(DataType::kFloat)}, {"out_type", attr::Type(DataType::kInt32)}});
    }
  }

  const Graph& graph() const { return graph_; }

  void Edit() {
    switch (random_() % 6) {
      case 0:
        return Wire(enters_, {sources_});
      case 1:
        return Wire(nexts_, {sources_, negs_, exps_, enters_});
      case 2:
        return Wire(negs_, {sources_, merges_, enters_});
      case 3:
        return Wire(exps_, {sources_, merges_, negs_});
      case 4:
        return graph_.SetAttr(Any(merges_).node, "_a", attr::Int(random_() % 3));
      default:
        return graph_.SetAttr(Any(nexts_).node, "_a", attr::Int(random_() % 3));
    }
  }

 private:
  using Outputs = std::vector<Output>;

  static std::vector<Graph::NewAttr> Float() { return {{"T", attr::Type(DataType::kFloat)}}; }
  Output Add(std::string_view op, const Outputs& inputs, std::vector<Graph::NewAttr> attrs) {
    return {*graph_.AddNode(graph_.UniqueName("n"), op, inputs, std::move(attrs)), 0};
  }
  const Output& Any(const Outputs& outputs) { return outputs[random_() % outputs.size()]; }
  void Wire(const Outputs& readers, const std::vector<Outputs>& groups) {
    graph_.SetInput(Any(readers).node, 0, Any(groups[random_() % groups.size()]));
  }

  std::mt19937 random_;
  Graph graph_;
  Outputs sources_, enters_, nexts_, merges_, negs_, exps_;
};

TEST(GraphShapes, ARefreshIsANewInferenceInAnyLoops) {
  for (uint32_t seed = 0; seed < 20 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomLoops loops(seed);
    GraphShapes shapes = *GraphShapes::Infer(loops.graph());
    for (int i = 0; i < 100 && !::testing::Test::HasFailure(); ++i) {
      for (int edits = i % 3; edits >= 0; --edits) loops.Edit();
      ASSERT_TRUE(shapes.Refresh(loops.graph(), {}).ok());
      ExpectFresh(loops.graph(), shapes);
    }
  }
}

// A product that cannot be, whose result is fed.
Graph WrongProduct() {
  return Import(Placeholder("x", "23") + Placeholder("w", "45") +
                Node("product", "MatMul", {"x", "w"}, {kFloatT}) +
                Node("y", "Neg", {"product"}, {kFloatT}));
}

TEST(GraphShapes, WhatIsFedIsNotComputed) {
  const Graph g = WrongProduct();
  EXPECT_FALSE(GraphShapes::Infer(g).ok());
  ShapeOptions options;
  options.feeds[*g.ParseOutput("product")].shape = {2, 5};
  EXPECT_EQ(ShapeOf(g, "y", options), "[2,5]");
  std::vector<std::pair<NodeId, absl::Status>> errors;
  options.errors = &errors;
  EXPECT_EQ(ShapeOf(g, "y", options), "[2,5]");
  EXPECT_TRUE(errors.empty());
  const absl::flat_hash_set<NodeId> skip = {g.FindNode("product")};
  options.skip = &skip;
  EXPECT_EQ(ShapeOf(g, "y", options), "[2,5]");
}

// The shape function runs for the output that is not fed, and fails.
TEST(GraphShapes, FeedsOutlastErrors) {
  const Graph g =
      Import(Placeholder("x", "23") + Ints("k", "9", false) +
             Node("a", "TopKV2", {"x", "k"}, {kFloatT}) + Node("y", "Neg", {"a"}, {kFloatT}));
  ShapeOptions options;
  options.feeds[*g.ParseOutput("a")].shape = {2, 5};
  EXPECT_FALSE(GraphShapes::Infer(g, options).ok());
  std::vector<std::pair<NodeId, absl::Status>> errors;
  options.errors = &errors;
  EXPECT_EQ(ShapeOf(g, "y", options), "[2,5]");
  EXPECT_EQ(errors.size(), 1u);
  EXPECT_EQ(ShapeOf(g, "a:1", options), "<unknown>");
}

TEST(GraphShapes, AppendFindsWhatInferFinds) {
  Graph g = Import(Placeholder("x", "2?") + Ints("axis", "1"));
  absl::StatusOr<GraphShapes> shapes = GraphShapes::Infer(g);
  ASSERT_TRUE(shapes.ok());
  const Output x = {g.FindNode("x"), 0}, axis = {g.FindNode("axis"), 0};
  const Graph::NewAttr t = {"T", attr::Type(DataType::kFloat)};
  const NodeId product = *g.AddNode("product", "Mul", std::array{x, x}, {t});
  const NodeId sum = *g.AddNode("sum", "Sum", std::array{Output{product, 0}, axis}, {t});
  ASSERT_TRUE(shapes->Append(g, {}).ok());
  ASSERT_TRUE(shapes->Append(g, {}).ok());
  EXPECT_EQ(shapes->num_nodes(), g.num_node_ids());
  EXPECT_EQ(shapes->shape({product, 0}).ToString(), "[2,?]");
  EXPECT_EQ(shapes->shape({sum, 0}).ToString(), "[2]");
  const NodeId same = *g.AddNode("same", "Neg", std::array{Output{sum, 0}}, {t});
  ASSERT_TRUE(shapes->Append(g, {}).ok());
  EXPECT_EQ(shapes->shape({same, 0}).ToString(), "[2]");
}

// What is left for later is there when somebody asks, be it a reader or another node, and a copy
// has it too.
TEST(GraphShapes, AppendLeavesConstantsForLater) {
  Graph g = Import(Placeholder("x", "2?"));
  const std::vector<int32_t> sizes = {3, 4};
  const auto constant = [&](std::string_view name, const Tensor& value) {
    return *g.AddNode(name, "Const", {}, *ConstAttrs(value));
  };
  const NodeId dims = constant("dims", Tensor::Of<int32_t>(DataType::kInt32, sizes, {2}));
  const NodeId same = constant("same", Tensor::Of<int32_t>(DataType::kInt32, sizes, {2}));
  const NodeId zero = constant("zero", Tensor::Of<float>(DataType::kFloat, {0.f}, {}));
  const NodeId fill = *g.AddNode("fill", "Fill", std::array{Output{dims, 0}, Output{zero, 0}},
                                 {{"T", attr::Type(DataType::kFloat)}});
  GraphShapes shapes;
  while (shapes.num_nodes() < g.num_node_ids())
    ASSERT_TRUE(shapes.Append(g, {.late_constants = true}).ok());
  const GraphShapes copy = shapes;
  for (const GraphShapes* s : {&std::as_const(shapes), &copy}) {
    EXPECT_EQ(s->shape({fill, 0}).ToString(), "[3,4]");
    EXPECT_EQ(s->shape({same, 0}).ToString(), "[2]");
    ASSERT_NE(s->info({same, 0}).value, nullptr);
    EXPECT_EQ(s->info({same, 0}).value->IntAt(1), 4);
    EXPECT_EQ(&s->info({same, 0}), &s->info({dims, 0}));
    EXPECT_EQ(s->shape({zero, 0}).ToString(), "[]");
  }
  TensorInfo other;
  other.shape = PartialShape{kUnknownDim};
  shapes.Set({same, 0}, other);
  EXPECT_EQ(shapes.info({same, 0}).value, nullptr);
  EXPECT_NE(shapes.info({dims, 0}).value, nullptr);
  ExpectFresh(g, copy);
}

// A value that does not decode is an error of its node, at once.
TEST(GraphShapes, AppendLeavesNoBadConstantForLater) {
  Graph g = Import(Placeholder("x", "2?"));
  std::string wire = *TensorToWire(Tensor::Of<int32_t>(DataType::kInt32, {1, 2}, {2}));
  wire[wire.size() - 9] = 4;  // of the 8 bytes of the elements
  wire.resize(wire.size() - 4);
  ASSERT_TRUE(
      g.AddNode("bad", "Const", {},
                {{"dtype", attr::Type(DataType::kInt32)}, {"value", attr::TensorWire(wire)}})
          .ok());
  GraphShapes shapes;
  ASSERT_TRUE(shapes.Append(g, {.late_constants = true}).ok());
  EXPECT_FALSE(shapes.Append(g, {.late_constants = true}).ok());
}

// The node that failed stays unknown, and the next call does not report it again.
TEST(GraphShapes, AppendGoesOnBehindAnError) {
  Graph g = Import(Placeholder("x", "23"));
  absl::StatusOr<GraphShapes> shapes = GraphShapes::Infer(g);
  ASSERT_TRUE(shapes.ok());
  const Output x = {g.FindNode("x"), 0};
  const Graph::NewAttr t = {"T", attr::Type(DataType::kFloat)};
  const NodeId wrong = *g.AddNode("wrong", "MatMul", std::array{x, x}, {t});
  const NodeId right = *g.AddNode("right", "Neg", std::array{x}, {t});
  const absl::Status status = shapes->Append(g, {});
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("wrong"));
  ASSERT_TRUE(shapes->Append(g, {}).ok());
  EXPECT_EQ(shapes->shape({wrong, 0}).ToString(), "<unknown>");
  EXPECT_EQ(shapes->shape({right, 0}).ToString(), "[2,3]");
}

}  // namespace
}  // namespace tenon
