// Results of functions that nobody reads, and whose computation fails.
#include <gmock/gmock.h>

#include "tests/e2e/process_util.h"

namespace tenon::testing::unread_result_test {
namespace {

using ::testing::HasSubstr;

std::string Attr(const std::string& name, const std::string& value) {
  return "attr { key: '" + name + "' value { " + value + " } } ";
}

const std::string kFloat = Attr("T", "type: DT_FLOAT");
const std::string kMarked = Attr("_lower_using_switch_merge", "b: true");
const std::string kMarkedNoinline = Attr("_noinline", "b: true");
const std::string kArgs = Attr("Tin", "list { type: [DT_FLOAT, DT_INT32] } ");
const std::string kResults = Attr("Tout", "list { type: [DT_FLOAT, DT_FLOAT] } ");

// "y: e^p" and "z: p at i", or with `fits` another z.
std::string Function(const std::string& name, const std::string& attrs, bool fits = false) {
  const std::string z =
      fits ? "node_def { name: 'z' op: 'Neg' input: 'p' " + kFloat + "} "
           : "node_def { name: 'axis' op: 'Const' " + Attr("dtype", "type: DT_INT32") +
                 Attr("value", "tensor { dtype: DT_INT32 tensor_shape { } }") +
                 "} node_def { name: 'z' op: 'GatherV2' input: 'p' input: 'i' "
                 "input: 'axis:output:0' " +
                 Attr("Tparams", "type: DT_FLOAT") + Attr("Tindices", "type: DT_INT32") +
                 Attr("Taxis", "type: DT_INT32") + "} ";
  return "function { signature { name: '" + name +
         "' input_arg { name: 'p' type: DT_FLOAT } input_arg { name: 'i' type: DT_INT32 } "
         "output_arg { name: 'y' type: DT_FLOAT } output_arg { name: 'z' type: DT_FLOAT } } "
         "node_def { name: 'e' op: 'Exp' input: 'p' " +
         kFloat + "} " + z + "ret { key: 'y' value: 'e:y:0' } ret { key: 'z' value: '" +
         (fits ? "z:y:0" : "z:output:0") + "' } " + attrs + "} ";
}

// One that calls f and gives no more than its y.
std::string Outer(const std::string& call) {
  return "function { signature { name: 'outer' input_arg { name: 'p' type: DT_FLOAT } "
         "input_arg { name: 'i' type: DT_INT32 } output_arg { name: 'y' type: DT_FLOAT } } "
         "node_def { name: 'in' op: '" +
         call + "' input: 'p' input: 'i' " + Attr("f", "func { name: 'f' }") + kArgs + kResults +
         "} ret { key: 'y' value: 'in:output:0' } } ";
}

std::string Call(const std::string& op, const std::string& function, const std::string& results) {
  return "op: '" + op + "' input: 'p' input: 'i' " +
         (op == "f" ? "" : Attr("f", "func { name: '" + function + "' }") + kArgs + results);
}

std::string If(const std::string& attrs) {
  return "op: 'StatelessIf' input: 'c' input: 'p' input: 'i' " + Attr("Tcond", "type: DT_BOOL") +
         kArgs + kResults + Attr("then_branch", "func { name: 'f' }") +
         Attr("else_branch", "func { name: 'fits' }") + attrs;
}

// One that passes on both results of `in`.
std::string Passing(std::string in) {
  const std::string choice = "input: 'c'";
  if (const size_t at = in.find(choice); at != in.npos)
    in.replace(at, choice.size(), "input: 'c:output:0'");
  return "function { signature { name: 'outer' input_arg { name: 'p' type: DT_FLOAT } "
         "input_arg { name: 'i' type: DT_INT32 } output_arg { name: 'y' type: DT_FLOAT } "
         "output_arg { name: 'z' type: DT_FLOAT } } node_def { name: 'c' op: 'Const' " +
         Attr("dtype", "type: DT_BOOL") +
         Attr("value", "tensor { dtype: DT_BOOL tensor_shape { } bool_val: true }") +
         "} node_def { name: 'in' " + in + "} node_def { name: 'y' op: 'Identity' " +
         "input: 'in:output:0' " + kFloat + "} node_def { name: 'z' op: 'Identity' " +
         "input: 'in:output:1' " + kFloat +
         "} ret { key: 'y' value: 'y:output:0' } ret { key: 'z' value: 'z:output:0' } } ";
}

std::string Case(const std::string& attrs) {
  return "op: 'StatelessCase' input: 'k' input: 'p' input: 'i' " + kArgs + kResults +
         Attr("branches", "list { func { name: 'fits' } func { name: 'f' } }") + attrs;
}

// One pass, of which nobody reads what becomes of the second variable.
std::string While(const std::string& attrs) {
  return "op: 'StatelessWhile' input: 'p' input: 'p' input: 'i' input: 'one' " +
         Attr("T", "list { type: [DT_FLOAT, DT_FLOAT, DT_INT32, DT_INT32] }") +
         Attr("cond", "func { name: 'cond' }") + Attr("body", "func { name: 'body' }") + attrs;
}

// With `first` it is the first variable.
std::string Loop(bool first = false) {
  const std::string args =
      "input_arg { name: 'p' type: DT_FLOAT } input_arg { name: 'z' type: DT_FLOAT } "
      "input_arg { name: 'i' type: DT_INT32 } input_arg { name: 'k' type: DT_INT32 } ";
  const auto number = [](const std::string& name, const std::string& value) {
    return "node_def { name: '" + name + "' op: 'Const' " + Attr("dtype", "type: DT_INT32") +
           Attr("value", "tensor { dtype: DT_INT32 tensor_shape { } int_val: " + value + " }") +
           "} ";
  };
  const std::string ints = Attr("T", "type: DT_INT32") + "} ";
  return "function { signature { name: 'cond' " + args +
         "output_arg { name: 'more' type: DT_BOOL } } " + number("three", "2") +
         "node_def { name: 'less' op: 'Less' input: 'k' input: 'three:output:0' " + ints +
         "ret { key: 'more' value: 'less:z:0' } } "
         "function { signature { name: 'body' " +
         args +
         "output_arg { name: 'a' type: DT_FLOAT } output_arg { name: 'b' type: DT_FLOAT } "
         "output_arg { name: 'c' type: DT_INT32 } output_arg { name: 'd' type: DT_INT32 } } " +
         number("one", "1") + number("axis", "0") + "node_def { name: 'e' op: 'Exp' input: 'p' " +
         kFloat +
         "} node_def { name: 'z1' op: 'GatherV2' input: 'p' input: 'i' input: 'axis:output:0' " +
         Attr("Tparams", "type: DT_FLOAT") + Attr("Tindices", "type: DT_INT32") +
         Attr("Taxis", "type: DT_INT32") +
         "} node_def { name: 'next' op: 'AddV2' input: 'k' input: 'one:output:0' " + ints +
         "ret { key: '" +
         (first ? "b' value: 'e:y:0' } ret { key: 'a" : "a' value: 'e:y:0' } ret { key: 'b") +
         "' value: 'z1:output:0' } "
         "ret { key: 'c' value: 'i' } ret { key: 'd' value: 'next:z:0' } } ";
}

struct Graph {
  std::string call, library;
  std::string read = "call";
};

Finished RunAt(const Graph& graph, const std::vector<std::string>& how, bool feeds_i = true) {
  const auto& [call, library, read] = graph;
  const auto feed = [](const std::string& name, const std::string& type) {
    return "node { name: '" + name + "' op: 'Placeholder' " + Attr("dtype", "type: " + type) + "} ";
  };
  const std::string file = TempFile(
      "unread.pbtxt",
      feed("p", "DT_FLOAT") + feed("i", "DT_INT32") + feed("c", "DT_BOOL") + feed("k", "DT_INT32") +
          "node { name: 'one' op: 'Const' " + Attr("dtype", "type: DT_INT32") +
          Attr("value", "tensor { dtype: DT_INT32 tensor_shape { } int_val: 1 }") + "} " +
          "node { name: 'call' " + call + "} node { name: 't' op: 'Tanh' input: '" + read + "' " +
          kFloat + "} node { name: 'y' op: 'Neg' input: 't' " + kFloat + "} library { " + library +
          Function("fits", "", true) + "} versions { producer: 1087 }");
  std::vector<std::string> args = {
      "run",     file,       "--input", "p=3xf32=0.1,0.2,0.3", "--input", "c=bool=true", "--input",
      "k=i32=1", "--output", "y"};
  if (feeds_i) args.insert(args.end(), {"--input", "i=3xi32=1,9,0"});
  args.insert(args.end(), how.begin(), how.end());
  return GraphRun(args);
}

const std::vector<std::vector<std::string>> kHow = {{"--opt-level", "0"},
                                                    {"--opt-level", "1"},
                                                    {"--opt-level", "2"},
                                                    {"--opt-level", "2", "--verify-each=numeric"}};

// TensorFlow 2.21's sessions, with its optimizer off, fail too.
TEST(UnreadResult, IsComputedAndFails) {
  std::vector<Graph> graphs;
  for (const std::string& mark : {std::string(), kMarkedNoinline}) {
    for (const char* op : {"PartitionedCall", "StatefulPartitionedCall", "f"})
      graphs.push_back({Call(op, "f", kResults), Function("f", mark)});
    for (const char* op : {"PartitionedCall", "StatefulPartitionedCall"}) {
      graphs.push_back({Call(op, "outer", Attr("Tout", "list { type: [DT_FLOAT] }")),
                        Function("f", mark) + Outer(op)});
    }
  }
  for (const std::string& in : {Call("PartitionedCall", "f", kResults), If(""), If(kMarked)}) {
    graphs.push_back({Call("PartitionedCall", "outer", kResults), Function("f", "") + Passing(in)});
  }
  graphs.push_back({If(""), Function("f", "")});
  graphs.push_back({Case(""), Function("f", "")});
  // What is written out calls such a function as a whole.
  graphs.push_back({If(kMarked), Function("f", kMarkedNoinline)});
  graphs.push_back({Case(kMarked), Function("f", kMarkedNoinline)});
  graphs.push_back({While(""), Loop()});
  // What is written out waits for the first variable.
  graphs.push_back({While(kMarked), Loop(/*first=*/true), "call:1"});
  for (const Graph& graph : graphs) {
    for (const std::vector<std::string>& how : kHow) {
      const Finished run = RunAt(graph, how);
      EXPECT_EQ(run.exit, 1) << graph.call << graph.library << how.back() << run.out << run.err;
      EXPECT_THAT(run.err, HasSubstr("indices[1] = 9 is not in [0, 3)"));
    }
  }
}

// And these give the same numbers: TensorFlow writes such branches and loops out, and then nothing
// needs what nobody reads.
TEST(UnreadResult, OfWhatIsWrittenOutIsNotComputed) {
  const std::vector<Graph> graphs = {{If(kMarked), Function("f", "")},
                                     {Case(kMarked), Function("f", "")},
                                     {While(kMarked), Loop()}};
  for (const Graph& graph : graphs) {
    for (std::vector<std::string> how : kHow) {
      how.insert(how.end(), {"--expect", "y=3xf32=-0.8023488,-0.8400674,-0.8740200"});
      const Finished run = RunAt(graph, how);
      EXPECT_EQ(run.exit, 0) << graph.call << graph.library << how[1] << run.out << run.err;
    }
  }
}

// An argument that nothing reads need not be there, for what is written out; nor for what a
// function does with it that nothing reads.
TEST(UnreadResult, OfWhatIsWrittenOutNeedsNoFeed) {
  const std::string expect = "y=3xf32=-0.8023488,-0.8400674,-0.8740200";
  for (const std::vector<std::string>& how : kHow) {
    std::vector<std::string> args = how;
    args.insert(args.end(), {"--expect", expect});
    for (const Graph& graph :
         {Graph{If(kMarked), Function("f", "")}, Graph{Case(kMarked), Function("f", "")},
          Graph{While(kMarked), Loop()}}) {
      const Finished run = RunAt(graph, args, /*feeds_i=*/false);
      EXPECT_EQ(run.exit, 0) << graph.call << how[1] << run.out << run.err;
    }
    for (const Graph& graph :
         {Graph{If(""), Function("f", "")}, Graph{If(kMarked), Function("f", kMarkedNoinline)},
          Graph{Call("PartitionedCall", "f", kResults), Function("f", "")},
          Graph{While(""), Loop()}}) {
      const Finished run = RunAt(graph, how, /*feeds_i=*/false);
      EXPECT_EQ(run.exit, 2) << graph.call << how[1] << run.out;
      EXPECT_THAT(run.err, HasSubstr("nothing is fed to Placeholder 'i'"));
    }
  }
}

}  // namespace
}  // namespace tenon::testing::unread_result_test
