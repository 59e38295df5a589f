// Values are square matrices of one size, scalars, or vectors of a length that only the run knows.
// A scope is the graph, a branch or a loop: its nodes read at least one value of its own, so that
// they live when it does.
#include "tests/executor/run/random_graphs_util.h"

#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/executor/graph_text_util.h"

namespace tenon::testing {
namespace {

using Names = std::vector<std::string>;

std::string Int(std::string_view name, int64_t value) {
  return absl::StrCat("attr { key: '", name, "' value { i: ", value, " } } ");
}
std::string Flag(std::string_view name, bool value) {
  return absl::StrCat("attr { key: '", name, "' value { b: ", value ? "true" : "false", " } } ");
}
std::string Text(std::string_view name, std::string_view value) {
  return absl::StrCat("attr { key: '", name, "' value { s: '", value, "' } } ");
}
std::string Ints(std::string_view name, const std::vector<int>& values) {
  std::string text = absl::StrCat("tensor_shape { dim { size: ", values.size(), " } }");
  for (const int v : values) absl::StrAppend(&text, " int_val: ", v);
  return Const(name, "DT_INT32", text);
}
std::string Scalar(std::string_view name, std::string_view type, std::string_view value) {
  return Const(name, type, absl::StrCat("tensor_shape { } ", value));
}

class Maker {
 public:
  Maker(uint32_t seed, bool for_apu)
      : random_(seed), rows_(seed % 8 == 7 ? 48 : 4), for_apu_(for_apu) {}

  RandomGraph Run() {
    const std::string size = absl::StrCat("dim { size: ", rows_, " } ");
    text_ = Placeholder("x", size + size) + Placeholder("y", size + size) +
            Placeholder("p", "", "DT_BOOL");
    Constants();
    Scope graph;
    graph.own = {"x", "y"};
    const int blocks = 6 + Random(30);
    has_failures_ = Random(3) == 0;
    has_state_ = Random(3) == 0;
    if (has_state_) MakeVariable(graph);
    for (int i = 0; i < blocks; ++i) Block(graph, 2);
    return Finish(graph);
  }

 private:
  struct Scope {
    Names own;           // matrices that live only if the scope does
    Names outside;       // matrices that nodes of the scope may read beside these
    Names scalars;       // of the graph alone
    Names late;          // vectors; of the graph alone
    std::string handle;  // of the variable; empty: the scope cannot use it
    std::string zero, one, five, predicate;  // of a loop: what it has entered, and made of it
    bool is_graph = true;
  };

  int Random(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  const std::string& Pick(const Names& from) { return from[Random(static_cast<int>(from.size()))]; }
  std::string Own(const Scope& s) {  // mostly one of the last, so that there are chains
    const int count = static_cast<int>(s.own.size());
    return Random(2) == 0 ? Pick(s.own) : s.own[count - 1 - Random(std::min(count, 3))];
  }
  std::string Any(const Scope& s) {
    return s.outside.empty() || Random(3) > 0 ? Own(s) : Pick(s.outside);
  }
  static std::string WaitFor(const std::string& output) {
    return "^" + output.substr(0, output.find(':'));
  }
  std::string Name(std::string_view what) { return absl::StrCat(what, "_", ++names_); }
  std::string Add(std::string_view op, Names inputs, std::string_view attrs = "",
                  std::string_view type = "DT_FLOAT") {
    std::string name = Name(op);
    if (!control_.empty()) inputs.push_back(std::exchange(control_, ""));
    text_ += Node(name, op, std::move(inputs), attrs, type);
    return name;
  }

  void Constants() {
    text_ += Ints("axis0", {0}) + Ints("both_axes", {0, 1}) + Ints("flat", {-1}) +
             Ints("square", {rows_, rows_}) + Ints("perm", {1, 0}) + Ints("wrong_size", {7}) +
             Scalar("zero_index", "DT_INT32", "int_val: 0") +
             Scalar("far_index", "DT_INT32", "int_val: 100000") +
             Scalar("zero", "DT_FLOAT", "float_val: 0") +
             Scalar("one", "DT_FLOAT", "float_val: 1") +
             Scalar("five", "DT_FLOAT", "float_val: 5") +
             Scalar("message", "DT_STRING", "string_val: 'is not so'");
  }

  void MakeVariable(Scope& s) {
    text_ += VarHandle("handle", "variable");
    s.handle = "handle";
    // Each run begins with the same value.
    text_ += Op("assign", "AssignVariableOp", {"handle", "x"}, Type("dtype", "DT_FLOAT"));
    stateful_.push_back("^assign");
  }

  void Block(Scope& s, int depth) {
    const int kind = Random(s.is_graph ? 28 : 14);
    if (kind < 9) return AddMatrix(s);
    if (kind < 11) return depth > 0 ? AddBranch(s, depth) : AddMatrix(s);
    if (kind < 12) return depth > 0 ? AddLoop(s, depth) : AddMatrix(s);
    if (kind < 14) return has_state_ && !s.handle.empty() ? UseVariable(s) : AddMatrix(s);
    if (kind < 16) return AddScalar(s);
    if (kind < 18) return AddLate(s);
    if (kind < 20) return AddWide(s);
    if (kind < 21) return AddControl(s);
    if (kind < 22) return AddArray(s);
    if (kind < 24) return AddCall(s);
    if (kind < 26)
      return has_state_ ? (Random(2) == 0 ? AddQueue(s) : AddReference(s)) : AddWide(s);
    return has_failures_ ? AddFailure(s) : AddRandom(s);
  }

  void AddMatrix(Scope& s) {
    constexpr const char* kUnary[] = {"Neg",      "Tanh",      "Square",  "Relu",  "Sigmoid", "Abs",
                                      "Identity", "ZerosLike", "Softmax", "Floor", "Softsign"};
    constexpr const char* kBinary[] = {"AddV2",   "Mul",     "Sub",
                                       "Maximum", "Minimum", "SquaredDifference"};
    if (for_apu_ && Random(3) == 0) {
      s.own.push_back(Add("Relu", {Own(s)}));
      return;
    }
    switch (Random(7)) {
      case 0:
      case 1:
        s.own.push_back(Add(kUnary[Random(std::size(kUnary))], {Own(s)}));
        return;
      case 2:
      case 3:
        s.own.push_back(Add(kBinary[Random(std::size(kBinary))], {Own(s), Any(s)}));
        return;
      case 4: {
        const std::string product = Add("MatMul", {Own(s), Any(s)});
        s.own.push_back(Add("Tanh", {product}));  // keeps values finite
        return;
      }
      case 5:
        s.own.push_back(Add("AddN", {Own(s), Any(s), Any(s)}, Int("N", 3)));
        return;
      default: {
        const std::string a = Own(s), b = Any(s);
        const std::string less = Add("Less", {a, b});
        s.own.push_back(Add("SelectV2", {less, a, b}));
        return;
      }
    }
  }

  // Ops with several outputs, views and other layouts.
  void AddWide(Scope& s) {
    switch (Random(4)) {
      case 0: {
        const std::string both =
            Add("ConcatV2", {Own(s), Any(s), "zero_index"}, Int("N", 2) + Type("Tidx", "DT_INT32"));
        const std::string parts = Add("Split", {"zero_index", both}, Int("num_split", 2));
        s.own.push_back(parts + ":1");
        s.own.push_back(parts);
        return;
      }
      case 1: {
        const std::string both = Add("Pack", {Own(s), Any(s)}, Int("N", 2) + Int("axis", 0));
        const std::string parts = Add("Unpack", {both}, Int("num", 2) + Int("axis", 0));
        s.own.push_back(parts);
        s.own.push_back(parts + ":1");
        return;
      }
      case 2:
        s.own.push_back(Add("Transpose", {Own(s), "perm"}, Type("Tperm", "DT_INT32")));
        return;
      default: {
        const std::string flat = Add("Reshape", {Own(s), "flat"}, Type("Tshape", "DT_INT32"));
        const std::string twice = Add("AddV2", {flat, flat});
        s.own.push_back(
            Add("Reshape", {Random(2) == 0 ? flat : twice, "square"}, Type("Tshape", "DT_INT32")));
        return;
      }
    }
  }

  void AddScalar(Scope& s) {
    if (!s.scalars.empty() && Random(2) == 0) {
      s.own.push_back(Add("AddV2", {Own(s), Pick(s.scalars)}));
      return;
    }
    s.scalars.push_back(
        Add(Random(2) == 0 ? "Mean" : "Max", {Own(s), "both_axes"}, Type("Tidx", "DT_INT32")));
  }

  void AddLate(Scope& s) {
    if (s.late.empty() || Random(3) == 0) {
      if (Random(2) == 0) {
        const std::string a = Own(s);
        const std::string greater = Add("Greater", {a, Any(s)});
        const std::string where = Name("Where");
        text_ += Op(where, "Where", {greater}, Type("T", "DT_BOOL"));
        s.late.push_back(Name("GatherNd"));
        text_ += Op(s.late.back(), "GatherNd", {a, where},
                    Type("Tparams", "DT_FLOAT") + Type("Tindices", "DT_INT64"));
        return;
      }
      const std::string floor = Add("Floor", {Own(s)});
      const std::string flat = Add("Reshape", {floor, "flat"}, Type("Tshape", "DT_INT32"));
      s.late.push_back(Add("Unique", {flat}, Type("out_idx", "DT_INT32")));
      return;
    }
    switch (Random(4)) {
      case 0:
        s.late.push_back(Add("Tanh", {Pick(s.late)}));
        return;
      case 1: {
        const std::string a = Pick(s.late);
        s.late.push_back(Add("AddV2", {a, a}));
        return;
      }
      case 2: {
        const std::string a = Pick(s.late);
        const std::string shape = Add("Shape", {a}, Type("out_type", "DT_INT32"));
        const std::string fill = Name("Fill");
        text_ += Op(fill, "Fill", {shape, "five"},
                    Type("T", "DT_FLOAT") + Type("index_type", "DT_INT32"));
        const std::string sum = Add("AddV2", {fill, a});
        s.late.push_back(Add("Reshape", {sum, shape}, Type("Tshape", "DT_INT32")));
        return;
      }
      default:
        s.scalars.push_back(Add("Sum", {Pick(s.late), "axis0"}, Type("Tidx", "DT_INT32")));
        return;
    }
  }

  // The next node waits for two others, without reading them.
  void AddControl(Scope& s) {
    const std::string name = Name("NoOp");
    text_ += Op(name, "NoOp", {WaitFor(Own(s)), WaitFor(Own(s))});
    control_ = "^" + name;
  }

  void AddFailure(Scope& s) {
    switch (Random(5)) {
      case 0: {
        const std::string log = Add("Log", {Own(s)});
        s.own.push_back(Add("CheckNumerics", {log}, Text("message", absl::StrCat("at ", names_))));
        return;
      }
      case 1: {
        const std::string a = Add("Mean", {Own(s), "both_axes"}, Type("Tidx", "DT_INT32"));
        const std::string less = Add("Less", {a, "zero"});
        const std::string assertion = Name("Assert");
        text_ += Op(assertion, "Assert", {less, "message"}, Types("T", {"DT_STRING"}));
        stateful_.push_back("^" + assertion);
        return;
      }
      case 2:
        if (s.late.empty()) return AddLate(s);
        s.late.push_back(Add("Reshape", {Pick(s.late), "wrong_size"}, Type("Tshape", "DT_INT32")));
        return;
      case 3:
        if (s.late.empty()) return AddLate(s);
        s.late.push_back(Add("AddV2", {Pick(s.late), Pick(s.late)}));
        return;
      default: {
        // Far away if the sum of a late vector is.
        if (s.late.empty()) return AddLate(s);
        const std::string size = Name("Size");
        text_ +=
            Op(size, "Size", {Pick(s.late)}, Type("T", "DT_FLOAT") + Type("out_type", "DT_INT32"));
        const std::string gather = Name("GatherV2");
        text_ += Op(
            gather, "GatherV2", {Pick(s.late), size, "zero_index"},
            Type("Tparams", "DT_FLOAT") + Type("Tindices", "DT_INT32") + Type("Taxis", "DT_INT32"));
        s.scalars.push_back(gather);
        return;
      }
    }
  }

  void AddRandom(Scope& s) {
    is_random_ = true;
    const std::string name = Name("Random");
    text_ += Op(
        name, Random(2) == 0 ? "RandomUniform" : "RandomStandardNormal",
        {"square", WaitFor(Own(s))},
        Type("dtype", "DT_FLOAT") + Type("T", "DT_INT32") + Int("seed", names_) + Int("seed2", 7));
    s.own.push_back(name);
  }

  // A body that the library keeps: a few ops on its arguments, of which it calls the first "a".
  std::string AddBody(const Names& args) {
    const std::string name = Name("body");
    std::string nodes;
    Names values = args;
    constexpr const char* kUnary[][2] = {{"Neg", "y"}, {"Tanh", "y"}, {"Sigmoid", "y"}};
    constexpr const char* kBinary[][2] = {{"AddV2", "z"}, {"Maximum", "z"}, {"Sub", "z"}};
    for (int i = 1 + Random(4); i > 0; --i) {
      const std::string node = absl::StrCat("node", i);
      const int op = Random(3);
      if (Random(2) == 0) {
        nodes += Node(node, kUnary[op][0], {Pick(values)});
        values.push_back(absl::StrCat(node, ":", kUnary[op][1], ":0"));
      } else {
        nodes += Node(node, kBinary[op][0], {Pick(values), Pick(values)});
        values.push_back(absl::StrCat(node, ":", kBinary[op][1], ":0"));
      }
    }
    library_.push_back(Function(name, args, {"r"}, nodes, Ret("r", values.back())));
    return name;
  }

  void AddCall(Scope& s) {
    const std::string two = Types("Tin", {"DT_FLOAT", "DT_FLOAT"});
    const std::string out = Types("Tout", {"DT_FLOAT"});
    const std::string a = Own(s), b = Any(s);
    std::string name = Name("Call");
    switch (Random(3)) {
      case 0:
        text_ += Op(name, Random(2) == 0 ? "PartitionedCall" : "StatefulPartitionedCall", {a, b},
                    two + out + Func("f", AddBody({"a", "b"})));
        break;
      case 1:
        text_ +=
            Op(name, Random(2) == 0 ? "If" : "StatelessIf", {Predicate(s), a, b},
               Type("Tcond", "DT_BOOL") + two + out + Func("then_branch", AddBody({"a", "b"})) +
                   Func("else_branch", AddBody({"a", "b"})));
        break;
      default: {
        const std::string body = Name("body"), condition = Name("condition");
        library_.push_back(Function(body, {"i", "a"}, {"j", "r"},
                                    Scalar("one", "DT_FLOAT", "float_val: 1") +
                                        Node("add", "AddV2", {"i", "one:output:0"}) +
                                        Node("tanh", "Tanh", {"a"}) +
                                        Node("twice", "AddV2", {"tanh:y:0", "a"}),
                                    Ret("j", "add:z:0") + Ret("r", "twice:z:0")));
        std::string less =
            Function(condition, {"i", "a"}, {"r"},
                     Scalar("end", "DT_FLOAT", absl::StrCat("float_val: ", Random(5))) +
                         Node("less", "Less", {"i", "end:output:0"}),
                     Ret("r", "less:z:0"));
        const std::string result = "output_arg { name: 'r' type: DT_FLOAT }";
        less.replace(less.find(result), result.size(), "output_arg { name: 'r' type: DT_BOOL }");
        library_.push_back(std::move(less));
        text_ +=
            Op(name, Random(2) == 0 ? "While" : "StatelessWhile", {"zero", a},
               Types("T", {"DT_FLOAT", "DT_FLOAT"}) + Func("cond", condition) + Func("body", body));
        name += ":1";
        break;
      }
    }
    // While and If give outputs without shapes, but of the size of the others.
    s.own.push_back(Add("Identity", {name}));
  }

  // A queue that takes two matrices and gives them back.
  void AddQueue(Scope& s) {
    const std::string queue = Name("Queue");
    text_ += Op(queue, "FIFOQueueV2", {},
                Types("component_types", {"DT_FLOAT"}) + Text("shared_name", queue));
    Names puts;
    for (int i = 0; i < 2; ++i) {
      puts.push_back(Name("Put"));
      Names inputs = {queue, Own(s)};
      if (i > 0) inputs.push_back("^" + puts[0]);
      text_ += Op(puts[i], "QueueEnqueueV2", inputs, Types("Tcomponents", {"DT_FLOAT"}));
    }
    std::string before = "^" + puts[1];
    for (int i = 0; i < 2; ++i) {
      const std::string get = Name("Get");
      text_ += Op(get, "QueueDequeueV2", {queue, before}, Types("component_types", {"DT_FLOAT"}));
      before = "^" + get;
      s.own.push_back(Add("Reshape", {get, "square"}, Type("Tshape", "DT_INT32")));
    }
  }

  // A variable of version 1: readers see it at their own place in the order.
  void AddReference(Scope& s) {
    const std::string variable = Name("Reference");
    const std::string size = absl::StrCat("dim { size: ", rows_, " } ");
    text_ += Op(variable, "VariableV2", {},
                absl::StrCat(Type("dtype", "DT_FLOAT"), "attr { key: 'shape' value { shape { ",
                             size, size, "} } } "));
    const std::string assign = Name("Assign");
    text_ += Node(assign, "Assign", {variable, Own(s)});
    const std::string before = Name("Read");
    text_ += Node(before, "Identity", {variable, "^" + assign});
    const std::string change = Name("AssignAdd");
    text_ += Node(change, "AssignAdd", {variable, Own(s), "^" + before});
    const std::string after = Name("Read");
    text_ += Node(after, "Identity", {variable, "^" + change});
    stateful_.push_back("^" + after);
    s.own.push_back(before);
    s.own.push_back(Add("Tanh", {after}));
  }

  // Writes two elements of an array and reads them.
  void AddArray(Scope& s) {
    const std::string array = Name("Array");
    text_ += Scalar(array + "/size", "DT_INT32", "int_val: 2") +
             Scalar(array + "/i1", "DT_INT32", "int_val: 1") +
             Op(array, "TensorArrayV3", {array + "/size"}, Type("dtype", "DT_FLOAT"));
    std::string flow = array + ":1";
    const Names indices = {"zero_index", array + "/i1"};
    for (const std::string& i : indices) {
      const std::string write = Name("Write");
      text_ += Op(write, "TensorArrayWriteV3", {array, i, Own(s), flow}, Type("T", "DT_FLOAT"));
      flow = write;
    }
    for (const std::string& i : indices) {
      const std::string read = Name("Read");
      text_ += Op(read, "TensorArrayReadV3", {array, i, flow}, Type("dtype", "DT_FLOAT"));
      s.own.push_back(Add("Identity", {read}));
    }
  }

  void UseVariable(Scope& s) {
    const std::string name = Name("Variable");
    // In the graph's own scope in the order of edges; in branches and loops as they come.
    Names inputs = {s.handle};
    const std::string dtype = Type("dtype", "DT_FLOAT");
    if (Random(2) == 0) {
      const std::string change = Add("Softsign", {Own(s)});
      inputs.push_back(change);
      if (s.is_graph) inputs.push_back(stateful_.back());
      text_ += Op(name, Random(3) == 0 ? "AssignVariableOp" : "AssignAddVariableOp", inputs, dtype);
      if (s.is_graph) stateful_.push_back("^" + name);
      return;
    }
    inputs.push_back(s.is_graph ? stateful_.back() : WaitFor(Own(s)));
    text_ += Op(name, "ReadVariableOp", inputs, dtype);
    if (s.is_graph) stateful_.push_back("^" + name);
    if (Random(3) == 0) return;  // nobody reads it, perhaps
    s.own.push_back(Add("Tanh", {name}));
  }

  std::string Predicate(Scope& s) {
    if (Random(3) == 0 && s.is_graph) return "p";
    const std::string a = Add("ArgMax", {Own(s), "zero_index"},
                              Type("Tidx", "DT_INT32") + Type("output_type", "DT_INT32"));
    const std::string most = Add("Max", {a, "axis0"}, Type("Tidx", "DT_INT32"), "DT_INT32");
    const std::string half = Name("Middle");
    text_ += Scalar(half, "DT_INT32", absl::StrCat("int_val: ", Random(rows_)));
    return Add("Greater", {most, half}, "", "DT_INT32");
  }

  void AddBranch(Scope& s, int depth) {
    // A predicate needs constants, which a loop has only as values that it enters.
    const std::string p = s.is_graph ? Predicate(s) : s.predicate;
    if (p.empty()) return AddMatrix(s);
    const std::string data = Add("Switch", {Own(s), p});
    const bool has_numbers = s.is_graph || !s.one.empty();
    Names numbers;  // switched, for a loop in the branch
    if (has_numbers) {
      for (const std::string& from :
           s.is_graph ? Names{"zero", "one", "five"} : Names{s.zero, s.one, s.five})
        numbers.push_back(Add("Switch", {from, p}));
    }
    Names results;
    for (const int way : {0, 1}) {
      Scope inner;
      inner.is_graph = false;
      inner.predicate = s.is_graph ? p : s.predicate;
      inner.handle = s.handle;
      inner.outside = s.own;
      inner.outside.insert(inner.outside.end(), s.outside.begin(), s.outside.end());
      const std::string port = way == 0 ? "" : ":1";
      inner.own = {data + port};
      if (has_numbers) {
        inner.zero = numbers[0] + port;
        inner.one = numbers[1] + port;
        inner.five = numbers[2] + port;
      }
      inner.own.push_back(Add("Identity", {inner.own[0]}));
      for (int i = Random(4); i > 0; --i) Block(inner, depth - 1);
      results.push_back(inner.own.back());
    }
    s.own.push_back(Add("Merge", results, Int("N", 2)));
  }

  // A loop of a number and a matrix, with matrices that it only reads.
  void AddLoop(Scope& s, int depth) {
    const std::string frame = Name("loop");
    const auto enter = [&](const std::string& from, bool constant, std::string_view type) {
      std::string name = Name("Enter");
      text_ += Node(name, "Enter", {from},
                    Text("frame_name", frame) + Flag("is_constant", constant), type);
      return name;
    };
    if (!s.is_graph && s.one.empty()) return AddMatrix(s);
    const std::string zero = s.is_graph ? "zero" : s.zero, one = s.is_graph ? "one" : s.one;
    const std::string five = s.is_graph ? "five" : s.five;
    Scope inner;
    inner.is_graph = false;
    const std::string first = enter(zero, false, "DT_FLOAT"),
                      start = enter(Own(s), false, "DT_FLOAT");
    inner.zero = enter(zero, true, "DT_FLOAT");
    inner.one = enter(one, true, "DT_FLOAT");
    inner.five = enter(five, true, "DT_FLOAT");
    inner.outside = {enter(Own(s), true, "DT_FLOAT"), enter(Own(s), true, "DT_FLOAT")};
    if (s.is_graph && !s.handle.empty()) inner.handle = enter(s.handle, true, "DT_RESOURCE");
    const std::string i = frame + "/i", x = frame + "/x";
    text_ += Node(i, "Merge", {first, i + "/next"}, Int("N", 2)) +
             Node(x, "Merge", {start, x + "/next"}, Int("N", 2));
    const std::string less = Add("Less", {i, inner.five});
    text_ += Op(frame + "/cond", "LoopCond", {less});
    const std::string switch_i = Add("Switch", {i, frame + "/cond"});
    const std::string switch_x = Add("Switch", {x, frame + "/cond"});
    inner.own = {switch_x + ":1"};
    inner.own.push_back(Add("Tanh", {inner.own[0]}));
    // Every second pass, to the branches within.
    const std::string two = Add("AddV2", {inner.one, inner.one});
    const std::string odd = Add("FloorMod", {switch_i + ":1", two});
    inner.predicate = Add("Less", {odd, inner.one});
    for (int k = 1 + Random(5); k > 0; --k) Block(inner, depth - 1);
    const std::string step = Add("AddV2", {switch_i + ":1", inner.one});
    text_ += Node(i + "/next", "NextIteration", {step});
    text_ += Node(x + "/next", "NextIteration", {inner.own.back()});
    const std::string exit = Name("Exit");
    text_ += Node(exit, "Exit", {switch_x});
    s.own.push_back(exit);
  }

  RandomGraph Finish(Scope& s) {
    control_.clear();
    RandomGraph made;
    std::shuffle(s.own.begin() + 2, s.own.end(), random_);
    for (size_t i = 0; i < s.own.size(); ++i) {
      if (i < 4 || Random(3) == 0) made.fetches.push_back(s.own[i]);
    }
    for (const Names* others : {&s.scalars, &s.late}) {
      for (const std::string& name : *others) {
        if (Random(3) > 0) made.fetches.push_back(name);
      }
    }
    Names last = {s.own.back()};
    last.insert(last.end(), stateful_.begin(), stateful_.end());
    text_ += Node("last", "Identity", last);
    made.fetches.push_back("last");
    made.text = text_ + (library_.empty() ? "" : Library(library_));
    made.feeds = {"x", "y", "p"};
    std::vector<float> x, y;
    for (int i = 0; i < rows_ * rows_; ++i) {
      x.push_back(static_cast<float>(Random(200) - 100) / 32);
      y.push_back(static_cast<float>(Random(200) - 100) / 32);
    }
    const Shape shape({rows_, rows_});
    made.values = {Floats(x, shape), Floats(y, shape), Bool(Random(2) == 0)};
    made.has_state = has_state_ || is_random_;
    return made;
  }

  std::mt19937 random_;
  const int rows_;
  const bool for_apu_;
  std::string text_, control_;
  Names stateful_, library_;
  int names_ = 0;
  bool has_failures_ = false, has_state_ = false, is_random_ = false;
};

}  // namespace

RandomGraph MakeRandomGraph(uint32_t seed, bool for_apu) { return Maker(seed, for_apu).Run(); }

}  // namespace tenon::testing
