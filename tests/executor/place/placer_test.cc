#include "executor/place/placer.h"

#include <algorithm>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/substitute.h"
#include "executor/place/reasons.h"
#include "gmock/gmock.h"
#include "graph/io/io.h"
#include "graph/op_defs/op_registry.h"
#include "gtest/gtest.h"
#include "tests/executor/bare_device_util.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A device that can be placed on, no more.
class NamedDevice : public testing::BareDevice {
 public:
  NamedDevice(std::string type, int ordinal, int priority)
      : type_(std::move(type)), ordinal_(ordinal), priority_(priority) {}
  std::string_view type() const override { return type_; }
  int ordinal() const override { return ordinal_; }
  std::string_view plugin() const override { return is_host() ? "" : "test"; }
  int priority() const override { return priority_; }
  bool is_host() const override { return type_ == "CPU"; }

 private:
  std::string type_;
  int ordinal_, priority_;
};

// The host, and two devices of type PLACER, which has kernels for Relu, Softplus, BiasAdd
// and an op of its own, of floats.
class PlacerTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    OpDefBuilder only("PlacerOnly");
    ASSERT_TRUE(only.AddAttr("T: type").ok() && only.AddInput("x: T").ok() &&
                only.AddOutput("y: T").ok());
    ASSERT_TRUE(OpRegistry::Global().Register(std::move(only).Finish().value()).ok());
    for (const char* op : {"Relu", "Softplus", "BiasAdd", "PlacerOnly"}) {
      auto kernel = std::make_shared<KernelDef>();
      kernel->op = op;
      kernel->device_type = "PLACER";
      kernel->plugin = "placer_test";
      kernel->constraints.push_back({"T", {DataType::kFloat}});
      KernelRegistry::Global().Register(std::move(kernel));
    }
  }
  static void TearDownTestSuite() {
    KernelRegistry::Global().RemovePlugin("placer_test");
    OpRegistry::Global().Remove("PlacerOnly");
  }

  absl::StatusOr<std::vector<NodePlacement>> PlaceText(const std::string& text) {
    absl::StatusOr<Imported> imported = ImportBytes(text, "test.pbtxt");
    if (!imported.ok()) return imported.status();
    graph_ = std::move(imported->graph);
    return Place(graph_, devices_, KernelRegistry::Global(), options_);
  }
  // "CPU:0 PRIORITY", or the error.
  std::string Where(const absl::StatusOr<std::vector<NodePlacement>>& placement,
                    std::string_view node) {
    if (!placement.ok()) return std::string(placement.status().message());
    const NodePlacement& p = (*placement)[graph_.FindNode(node)];
    return absl::StrCat(p.device->type(), ":", p.device->ordinal(), " ", PlaceCodeName(p.reason));
  }
  std::string Rejected(const absl::StatusOr<std::vector<NodePlacement>>& placement,
                       std::string_view node) {
    std::string text;
    for (const RejectedDevice& r : (*placement)[graph_.FindNode(node)].rejected) {
      absl::StrAppend(
          &text, text.empty() ? "" : " ",
          r.device == nullptr ? "?" : absl::StrCat(r.device->type(), ":", r.device->ordinal()), "=",
          PlaceCodeName(r.code));
    }
    return text;
  }

  NamedDevice cpu_{"CPU", 0, 60}, placer0_{"PLACER", 0, 220}, placer1_{"PLACER", 1, 220};
  std::vector<Device*> devices_ = {&cpu_, &placer0_, &placer1_};
  PlacerOptions options_;
  Graph graph_;
};

std::string X(std::string_view device = "", std::string_view type = "DT_FLOAT") {
  return absl::Substitute(
      "node { name: 'x' op: 'Placeholder' device: '$0' attr { key: 'dtype' value { type: $1 } } "
      "}\n",
      device, type);
}
std::string N(std::string_view name, std::string_view op, std::string_view input,
              std::string_view device = "", std::string_view beside = "",
              std::string_view type = "DT_FLOAT") {
  return absl::Substitute(
      "node { name: '$0' op: '$1' input: '$2' device: '$3' attr { key: 'T' value { type: $4 } } $5 "
      "}\n",
      name, op, input, device, type,
      beside.empty()
          ? ""
          : absl::StrCat("attr { key: '_class' value { list { s: 'loc:@", beside, "' } } }"));
}

struct Row {
  const char* about;
  std::string graph;
  bool soft;
  const char* node;
  const char* want;  // a placement, or a part of the error
};

TEST_F(PlacerTest, FollowsTensorFlowsRules) {
  const Row rows[] = {
      {"the device of highest priority", X() + N("a", "Relu", "x"), true, "a", "PLACER:0 PRIORITY"},
      {"a generator stays with its only consumer", X() + N("a", "Relu", "x"), true, "x",
       "PLACER:0 GREEDY"},
      {"a generator of several devices' consumers", X() + N("a", "Relu", "x") + N("b", "Tanh", "x"),
       true, "x", "CPU:0 GREEDY"},
      {"no kernel there", X() + N("a", "Tanh", "x"), true, "a", "CPU:0 PRIORITY"},
      {"no kernel for the type", X("", "DT_DOUBLE") + N("a", "Relu", "x", "", "", "DT_DOUBLE"),
       true, "a", "CPU:0 PRIORITY"},
      {"a request", X() + N("a", "Relu", "x", "/device:CPU:0"), true, "a", "CPU:0 PINNED"},
      {"short request", X() + N("a", "Relu", "x", "/cpu:0"), true, "a", "CPU:0 PINNED"},
      {"full request", X() + N("a", "Relu", "x", "/job:localhost/replica:0/task:0/device:PLACER:1"),
       true, "a", "PLACER:1 PINNED"},
      {"any ordinal", X() + N("a", "Relu", "x", "/device:PLACER:*"), true, "a", "PLACER:0 PINNED"},
      {"only a task", X() + N("a", "Relu", "x", "/task:0"), true, "a", "PLACER:0 PRIORITY"},
      {"an ordinal that is not there", X() + N("a", "Relu", "x", "/device:PLACER:3"), true, "a",
       "PLACER:0 UNAVAILABLE"},
      {"a CPU that is not there", X() + N("a", "Relu", "x", "/device:CPU:7"), true, "a",
       "CPU:0 UNAVAILABLE"},
      {"a type that is not there", X() + N("a", "Tanh", "x", "/device:GPU:0"), true, "a",
       "CPU:0 UNAVAILABLE"},
      {"a device without the kernel", X() + N("a", "Tanh", "x", "/device:PLACER:0"), true, "a",
       "CPU:0 NO_KERNEL"},
      {"a foreign job", X() + N("a", "Relu", "x", "/job:worker/device:CPU:0"), true, "a",
       "only /job:localhost"},
      {"a foreign task", X() + N("a", "Relu", "x", "/task:3"), true, "a", "'/task:3'"},
      {"a foreign job in a group",
       X() + N("a", "Relu", "x", "/job:worker/device:CPU:0") +
           N("b", "Relu", "a", "/job:localhost/device:CPU:0", "a"),
       true, "b", "node 'a' (Relu) on '/job:worker/device:CPU:0': there is only /job:localhost"},
      {"hard: a foreign task beside another",
       X() + N("a", "Relu", "x", "/task:0") + N("b", "Relu", "a", "/task:1", "a"), false, "b",
       "node 'b' (Relu) on '/task:1': there is only /job:localhost"},
      {"a constant where it is asked for", X("/device:PLACER:0") + N("a", "Tanh", "x"), true, "x",
       "PLACER:0 PINNED"},
      {"a group follows the request",
       X() + N("a", "Relu", "x", "/device:CPU:0") + N("b", "Relu", "a", "", "a"), true, "b",
       "CPU:0 COLOCATION"},
      {"a group is where all have kernels",
       X() + N("a", "Relu", "x", "/device:PLACER:0") + N("b", "Tanh", "a", "", "a"), true, "a",
       "CPU:0 COLOCATION"},
      {"a group of different requests",
       X() + N("a", "Relu", "x", "/device:PLACER:0") + N("b", "Relu", "a", "/device:CPU:0", "a"),
       true, "a", "CPU:0 COLOCATION"},
      {"a group as far as one node",
       X() + N("a", "Relu", "x") + N("b", "Tanh", "a", "", "a") + N("c", "Relu", "b", "", "b"),
       true, "c", "CPU:0 COLOCATION"},
      {"hard: an ordinal", X() + N("a", "Relu", "x", "/device:PLACER:3"), false, "a",
       "node 'a' (Relu) on '/device:PLACER:3': there is no such device"},
      {"hard: no kernel", X() + N("a", "Tanh", "x", "/device:PLACER:0"), false, "a", "no kernel"},
      {"hard: different requests",
       X() + N("a", "Relu", "x", "/device:PLACER:0") + N("b", "Relu", "a", "/device:CPU:0", "a"),
       false, "a",
       "its colocation group: 'a' (Relu) asks for '/device:PLACER:0', 'b' (Relu) asks for "
       "'/device:CPU:0'"},
      {"hard: a group without the kernel",
       X() + N("a", "Relu", "x", "/device:PLACER:0") + N("b", "Tanh", "a", "", "a"), false, "a",
       "'b' (Tanh)"},
      {"hard: a request that can be met", X() + N("a", "Relu", "x", "/device:PLACER:1"), false, "a",
       "PLACER:1 PINNED"},
      {"not a device", X() + N("a", "Relu", "x", "PLACER:0"), true, "a", "'PLACER:0' is no device"},
      {"metadata stays with its input", X() + N("a", "Relu", "x") + N("s", "Shape", "a"), true, "s",
       "CPU:0 PRIORITY"},
      {"a renaming stays with its input",
       X() + N("a", "Relu", "x", "/device:PLACER:1") + N("i", "Identity", "a"), true, "i",
       "PLACER:1 GREEDY"},
  };
  for (const Row& row : rows) {
    options_.soft_placement = row.soft;
    EXPECT_THAT(Where(PlaceText(row.graph), row.node), HasSubstr(row.want)) << row.about;
  }
}

// A chain of so many Relus of x, named PREFIX1, PREFIX2 and so on.
std::string Chain(std::string prefix, int length, std::string_view device = "") {
  std::string text;
  for (int i = 1; i <= length; ++i)
    text += N(absl::StrCat(prefix, i), "Relu", i == 1 ? "x" : absl::StrCat(prefix, i - 1), device);
  return text;
}

TEST_F(PlacerTest, SpreadsBranchesOverTheDevicesOfAType) {
  const std::string two = X() + Chain("a", 4) + Chain("b", 4);
  EXPECT_EQ(Where(PlaceText(two), "b4"), "PLACER:0 PRIORITY") << "only where it is asked for";
  options_.spread = true;
  const auto placement = PlaceText(two);
  for (const char* node : {"a1", "a4"}) EXPECT_EQ(Where(placement, node), "PLACER:0 PRIORITY");
  for (const char* node : {"b1", "b4"}) EXPECT_EQ(Where(placement, node), "PLACER:1 SPREAD");
  EXPECT_EQ(Rejected(placement, "b1"), "CPU:0=SPREAD PLACER:0=SPREAD");

  options_.spread_from = 1;
  const auto other = PlaceText(two);
  EXPECT_EQ(Where(other, "a4"), "PLACER:1 SPREAD");
  EXPECT_EQ(Where(other, "b4"), "PLACER:0 PRIORITY");
  options_.spread_from = 4;  // counted around
  EXPECT_EQ(Where(PlaceText(two), "a4"), "PLACER:0 PRIORITY");
  options_.spread_from = 0;

  const Row rows[] = {
      {"one chain stays together", X() + Chain("a", 9), true, "a9", "PLACER:0 PRIORITY"},
      {"an ordinal is kept", X() + Chain("a", 4, "/device:PLACER:1"), true, "a1",
       "PLACER:1 PINNED"},
      {"a type is no ordinal", X() + Chain("a", 4) + Chain("b", 4, "/device:PLACER:*"), true, "b4",
       "PLACER:1 SPREAD"},
      {"a group stays", X() + Chain("a", 4) + N("c", "Relu", "x") + N("d", "Relu", "x", "", "c"),
       true, "d", "PLACER:0 COLOCATION"},
      {"short branches of a node are not worth a copy",
       X() + Chain("a", 1) + N("b", "Relu", "a1") + N("c", "Relu", "a1"), true, "c",
       "PLACER:0 PRIORITY"},
      {"what the host computes stays", X() + Chain("a", 4) + N("t", "Tanh", "x"), true, "t",
       "CPU:0 PRIORITY"},
  };
  for (const Row& row : rows)
    EXPECT_THAT(Where(PlaceText(row.graph), row.node), HasSubstr(row.want)) << row.about;
}

// Whoever asks again, with the names of devices written into the graph, gets the same answer.
TEST_F(PlacerTest, SpreadBranchesStayAfterPasses) {
  options_.spread = true;
  const auto first = PlaceText(X() + Chain("a", 4) + Chain("b", 4));
  ASSERT_TRUE(first.ok()) << first.status();
  ApplyPlacement(graph_, *first);
  const auto second = Place(graph_, devices_, KernelRegistry::Global(), options_, *first);
  for (const char* node : {"a1", "b1", "b4"}) EXPECT_EQ(Where(second, node), Where(first, node));
}

// Only PLACER has a kernel for PlacerOnly, only the CPU one for Tanh.
TEST_F(PlacerTest, AGroupWithoutACommonDeviceIsNoneInAnyOrder) {
  const auto member = [](std::string_view name, std::string_view beside) {
    const std::string_view op = name == "only" ? "PlacerOnly" : name == "r" ? "Relu" : "Tanh";
    return N(name, op, "x", "", beside);
  };
  std::vector<std::string> names = {"only", "r", "t"};
  do {
    const std::string text =
        X() + member(names[0], "") + member(names[1], names[0]) + member(names[2], names[1]);
    options_.soft_placement = true;
    const auto placement = PlaceText(text);
    EXPECT_EQ(Where(placement, "only"), "PLACER:0 PRIORITY");
    EXPECT_EQ(Where(placement, "r"), "PLACER:0 PRIORITY");
    EXPECT_EQ(Where(placement, "t"), "CPU:0 PRIORITY");
    options_.soft_placement = false;
    EXPECT_THAT(Where(PlaceText(text), "t"), HasSubstr("no device has kernels for all"));
  } while (std::next_permutation(names.begin(), names.end()));
}

TEST_F(PlacerTest, SaysWhyOthersWereRejected) {
  const auto placement =
      PlaceText(X() + N("a", "Tanh", "x") + N("b", "Relu", "x", "/device:CPU:0") +
                N("c", "Relu", "x", "/device:GPU:0"));
  EXPECT_EQ(Rejected(placement, "a"), "PLACER:0=NO_KERNEL PLACER:1=NO_KERNEL");
  EXPECT_EQ(Rejected(placement, "b"), "PLACER:0=PINNED PLACER:1=PINNED");
  EXPECT_THAT(Rejected(placement, "c"), HasSubstr("?=UNAVAILABLE"));
  const auto types = PlaceText(X("", "DT_DOUBLE") + N("a", "Relu", "x", "", "", "DT_DOUBLE"));
  EXPECT_EQ(Rejected(types, "a"), "PLACER:0=DTYPE PLACER:1=DTYPE");
}

// "device code: detail" of each device that a node is not on.
TEST_F(PlacerTest, ReasonsAreTrueAndHaveDetails) {
  struct Row {
    std::string graph, want;
  } rows[] = {
      {X() + N("a", "Tanh", "x"),
       "x: PLACER:0 GREEDY beside its neighbours on /device:CPU:0 it "
       "causes fewer copies"},
      {X() + N("a", "Tanh", "x") + N("b", "Relu", "x"),
       "x: PLACER:0 GREEDY nothing computes it, so its value lies on the host"},
      {X("", "DT_STRING"),
       "x: PLACER:0 HOST_MEMORY strings, resources and variants lie in host memory"},
      {X() + N("a", "Relu", "x"),
       "a: CPU:0 PRIORITY its priority is 60, that of /device:PLACER:0 220"},
      {X() + N("a", "Relu", "x"), "a: PLACER:1 PRIORITY /device:PLACER:0 comes first"},
      {X() + N("a", "Relu", "x", "/cpu:0"), "a: PLACER:0 PINNED '/cpu:0' is asked for"},
      {X() + N("a", "Relu", "x", "/device:CPU:7"),
       "a: PLACER:0 PINNED '/device:CPU:7' is asked for"},
      {X() + N("a", "Relu", "x", "/device:CPU:7"), "a: ? UNAVAILABLE there is no such device"},
      {X() + N("a", "Relu", "x", "/cpu:0") + N("b", "Relu", "a", "", "a"),
       "b: PLACER:0 COLOCATION its group is on /device:CPU:0"},
      {X() + N("a", "Tanh", "x"), "a: PLACER:0 NO_KERNEL no Tanh kernel for PLACER"},
  };
  for (const Row& row : rows) {
    const auto placement = PlaceText(row.graph);
    ASSERT_TRUE(placement.ok()) << placement.status();
    std::string all;
    for (NodeId n = 0; n < graph_.num_node_ids(); ++n) {
      for (const RejectedDevice& r : (*placement)[n].rejected) {
        const std::string device =
            r.device == nullptr ? "?" : absl::StrCat(r.device->type(), ":", r.device->ordinal());
        absl::StrAppend(&all, graph_.name(n), ": ", device, " ", PlaceCodeName(r.code), " ",
                        r.detail, "\n");
        EXPECT_NE(r.detail, "");
      }
    }
    EXPECT_THAT(all, HasSubstr(row.want + "\n"));
  }
}

// The node could run on the CPU, which is passed over for each code as its row says.
TEST_F(PlacerTest, OnlyReasonsOfPriorityAreToldAsPriorities) {
  ASSERT_TRUE(PlaceText(X() + N("a", "Relu", "x")).ok());
  const NodeId a = graph_.FindNode("a");
  for (const PlaceCodeFacts& facts : AllPlaceCodes()) {
    Placing p{graph_,
              options_,
              DeviceTypes(devices_, KernelRegistry::Global()),
              {},
              Groups(graph_.num_node_ids()),
              std::vector<std::string_view>(graph_.num_node_ids(), "PLACER:0"),
              {}};
    ASSERT_TRUE(p.types.Check().ok());
    Group& group = p.groups.Of(a);
    group.mask = p.types.Support(graph_, a).mask;
    group.device = &placer0_;
    group.reason = facts.code;
    const std::vector<RejectedDevice> rejected = WhyNotOtherDevices(p, a);
    const auto cpu = std::ranges::find(rejected, &cpu_, &RejectedDevice::device);
    ASSERT_NE(cpu, rejected.end()) << facts.name;
    const bool by_priority = facts.passed_over == PassedOver::kByPriority;
    EXPECT_EQ(cpu->code == PlaceCode::kPriority, by_priority) << facts.name << " " << cpu->detail;
    EXPECT_EQ(absl::StrContains(cpu->detail, "priority"), by_priority) << facts.name;
    if (facts.passed_over != PassedOver::kByItself) continue;
    EXPECT_EQ(PlaceCodeName(cpu->code), facts.name);
    EXPECT_EQ(cpu->detail, facts.means);
    // A device that another member of the group cannot use is not the reason's doing.
    group.mask = p.types.Bit(&placer0_);
    EXPECT_EQ(WhyNotOtherDevices(p, a)[0].code, PlaceCode::kColocation) << facts.name;
  }
}

// Without soft placement every request is binding, without fallback those of the options.
TEST_F(PlacerTest, WhoMayRelax) {
  struct Row {
    bool soft, fallback;
    std::string in_graph, rule, by_default;
    absl::StatusCode want;
  } rows[] = {
      {true, true, "GPU:0", "", "", absl::StatusCode::kOk},
      {true, true, "", "GPU:0", "", absl::StatusCode::kOk},
      {true, true, "", "", "GPU:0", absl::StatusCode::kOk},
      {false, true, "GPU:0", "", "", absl::StatusCode::kInvalidArgument},
      {false, true, "", "GPU:0", "", absl::StatusCode::kInvalidArgument},
      {false, true, "", "", "GPU:0", absl::StatusCode::kInvalidArgument},
      {true, false, "GPU:0", "", "", absl::StatusCode::kOk},
      {true, false, "", "CPU:7", "", absl::StatusCode::kInvalidArgument},
      {true, false, "", "", "CPU:7", absl::StatusCode::kInvalidArgument},
      {false, true, "PLACER:0", "", "", absl::StatusCode::kInvalidArgument},
      {false, true, "", "PLACER:0", "", absl::StatusCode::kUnimplemented},
      {true, false, "", "PLACER:0", "", absl::StatusCode::kUnimplemented},
      {true, false, "", "", "PLACER:0", absl::StatusCode::kUnimplemented},
      {false, false, "CPU:0", "CPU:0", "CPU:0", absl::StatusCode::kOk},
  };
  for (const Row& row : rows) {
    options_ = {};
    options_.soft_placement = row.soft;
    options_.fallback = row.fallback;
    options_.default_device = row.by_default;
    if (!row.rule.empty()) options_.rules = {{"^a$", row.rule}};
    const std::string device = row.in_graph.empty() ? "" : "/device:" + row.in_graph;
    const auto placement = PlaceText(X() + N("a", "Tanh", "x", device));
    EXPECT_EQ(placement.status().code(), row.want)
        << row.soft << row.fallback << row.in_graph << row.rule << row.by_default << " "
        << placement.status();
  }
}

TEST_F(PlacerTest, KernelsThatContradictEachOtherAreAnError) {
  for (int i = 0; i < 2; ++i) {
    auto kernel = std::make_shared<KernelDef>();
    kernel->op = "Elu";
    kernel->device_type = "PLACER";
    kernel->plugin = "placer_test";
    KernelRegistry::Global().Register(std::move(kernel));
  }
  const absl::Status status = PlaceText(X() + N("a", "Elu", "x")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("node 'a' (Elu): Multiple OpKernel registrations match "
                                          "NodeDef at the same priority '{{node a}}'"));
}

TEST_F(PlacerTest, RulesAndDefaultsOfTheCommandLine) {
  const std::string text = X() + N("a", "Relu", "x") + N("b", "Relu", "x") + N("t", "Tanh", "x");
  options_.rules = {{"^b$", "PLACER:1"}};
  options_.default_device = "CPU";
  auto placement = PlaceText(text);
  EXPECT_EQ(Where(placement, "a"), "CPU:0 PINNED");
  EXPECT_EQ(Where(placement, "b"), "PLACER:1 PINNED");
  options_.default_device = "/PLACER:0";
  placement = PlaceText(text);
  EXPECT_EQ(Where(placement, "a"), "PLACER:0 PINNED");
  EXPECT_EQ(Where(placement, "t"), "CPU:0 NO_KERNEL");
  options_.fallback = false;
  EXPECT_THAT(Where(PlaceText(text), "t"), HasSubstr("'t' (Tanh)"));
  options_.rules = {{"(", "CPU"}};
  EXPECT_THAT(Where(PlaceText(text), "t"), HasSubstr("regular expression"));
}

// The nodes of the function ask for the default device themselves, and those that bring strings
// may be none that must be there.
TEST_F(PlacerTest, ACallAsksForTheDefaultDeviceWhereItsValuesMayBe) {
  options_.default_device = "PLACER";
  options_.fallback = false;
  const auto call = [](std::string_view name, std::string_view type) {
    return absl::Substitute(
        "node { name: '$0' op: 'PartitionedCall' attr { key: 'f' value { func { name: 'F' } } } "
        "attr { key: 'Tin' value { list { } } } attr { key: 'Tout' value { list { type: $1 } } } "
        "}\n",
        name, type);
  };
  const auto placement = PlaceText(call("f", "DT_FLOAT") + call("s", "DT_STRING"));
  EXPECT_EQ(Where(placement, "f"), "PLACER:0 PINNED");
  EXPECT_EQ(Where(placement, "s"), "CPU:0 GREEDY");
}

TEST_F(PlacerTest, RulesReadNamesOfAnyLength) {
  const std::string name(1'000'000, 'a');
  options_.rules = {{"^(a|b)*$", "PLACER:1"}};
  EXPECT_EQ(Where(PlaceText(X() + N(name, "Relu", "x")), name), "PLACER:1 PINNED");
}

TEST_F(PlacerTest, TheSecondPlacementKeepsTheFirst) {
  const auto first = PlaceText(X() + N("a", "Relu", "x") + N("b", "Tanh", "a"));
  ASSERT_TRUE(first.ok());
  ApplyPlacement(graph_, *first);
  const Output a[] = {{graph_.FindNode("a"), 0}};
  auto add = [&](std::string_view name, std::string_view op, std::string_view device) {
    std::vector<Graph::NewAttr> attrs;
    attrs.push_back({"T", attr::Type(DataType::kFloat)});
    return *graph_.AddNode(name, op, a, std::move(attrs), device);
  };
  add("moved", "Relu", placer1_.full_name());
  add("free", "Relu", "");
  add("unusable", "Tanh", placer1_.full_name());
  const auto second = Place(graph_, devices_, KernelRegistry::Global(), options_, *first);
  EXPECT_EQ(Where(second, "a"), "PLACER:0 PRIORITY");
  EXPECT_EQ(Where(second, "moved"), "PLACER:1 PASS_MOVED");
  EXPECT_EQ(Where(second, "free"), "PLACER:0 PRIORITY");
  EXPECT_EQ(Where(second, "unusable"), "CPU:0 NO_KERNEL");
}

TEST_F(PlacerTest, TheSecondPlacementLeavesReadersOfAVariableBesideIt) {
  for (const char* op : {"VarHandleOp", "ReadVariableOp"}) {
    auto kernel = std::make_shared<KernelDef>();
    kernel->op = op;
    kernel->device_type = "PLACER";
    kernel->plugin = "placer_test_variables";
    KernelRegistry::Global().Register(std::move(kernel));
  }
  const std::string dtype = "attr { key: 'dtype' value { type: DT_FLOAT } }";
  const auto first = PlaceText(
      absl::StrCat(X(), "node { name: 'v' op: 'VarHandleOp' ", dtype,
                   "attr { key: 'shape' value { shape {} } } }",
                   "node { name: 'add' op: 'AssignAddVariableOp' input: 'v' input: 'x' ", dtype,
                   "}", "node { name: 'get' op: 'ReadVariableOp' input: 'v' input: '^add' ", dtype,
                   "}", N("y", "Relu", "get")));
  EXPECT_EQ(Where(first, "get"), "CPU:0 RESOURCE");
  ApplyPlacement(graph_, *first);
  const auto second = Place(graph_, devices_, KernelRegistry::Global(), options_, *first);
  EXPECT_EQ(Where(second, "v"), "CPU:0 RESOURCE");
  EXPECT_EQ(Where(second, "get"), "CPU:0 RESOURCE");
  EXPECT_EQ(Where(second, "y"), "PLACER:0 PRIORITY");
  KernelRegistry::Global().RemovePlugin("placer_test_variables");
}

TEST_F(PlacerTest, AnotherOpHasOtherReasons) {
  const auto first = PlaceText(X() + N("a", "Relu", "x") + N("b", "Relu", "x", "/cpu:0") +
                               N("c", "Tanh", "x", "/device:PLACER:0") + N("d", "Tanh", "x"));
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(Rejected(first, "a"), "CPU:0=PRIORITY PLACER:1=PRIORITY");
  EXPECT_EQ(Where(first, "c"), "CPU:0 NO_KERNEL");
  ApplyPlacement(graph_, *first);
  auto become = [&](std::string_view node, std::string_view op) {
    graph_.SetKind(graph_.FindNode(node), op, {{"T", attr::Type(DataType::kFloat)}});
  };
  become("a", "PlacerOnly");
  become("b", "Softplus");
  become("c", "Relu");
  become("d", "Softplus");
  const auto second = Place(graph_, devices_, KernelRegistry::Global(), options_, *first);
  EXPECT_EQ(Where(second, "a"), "PLACER:0 PRIORITY");
  EXPECT_EQ(Rejected(second, "a"), "CPU:0=NO_KERNEL PLACER:1=PRIORITY");
  EXPECT_EQ(Where(second, "b"), "CPU:0 PINNED");
  EXPECT_EQ(Where(second, "c"), "CPU:0 PASS_MOVED");
  EXPECT_EQ(Rejected(second, "d"), "PLACER:0=PASS_MOVED PLACER:1=PASS_MOVED");
}

TEST_F(PlacerTest, NeighboursThatMoveAwayAreNoReasonAnyMore) {
  const auto first = PlaceText(X() + N("a", "Tanh", "x"));
  ASSERT_TRUE(first.ok());
  const auto detail = [&](const absl::StatusOr<std::vector<NodePlacement>>& placement) {
    return (*placement)[graph_.FindNode("x")].rejected[0].detail;
  };
  EXPECT_THAT(detail(first), HasSubstr("beside its neighbours"));
  ApplyPlacement(graph_, *first);
  const NodeId a = graph_.FindNode("a");
  graph_.SetKind(a, "Relu", {{"T", attr::Type(DataType::kFloat)}});
  graph_.SetDevice(a, placer0_.full_name());
  const auto second = Place(graph_, devices_, KernelRegistry::Global(), options_, *first);
  EXPECT_EQ(Where(second, "x"), "CPU:0 GREEDY");
  EXPECT_EQ(detail(second), "nothing computes it, so its value lies on the host");
  EXPECT_EQ(Where(second, "a"), "PLACER:0 PASS_MOVED");
}

TEST_F(PlacerTest, ANodeWithoutAnyKernelIsNoErrorYet) {
  const auto placement = PlaceText(X() + N("a", "CudnnRNN", "x"));
  EXPECT_EQ(Where(placement, "a"), "CPU:0 NO_KERNEL");
}

TEST(PlaceCodes, EveryCodeHasARowOfItsOwn) {
  const absl::Span<const PlaceCodeFacts> rows = AllPlaceCodes();
  ASSERT_EQ(rows.size(), static_cast<size_t>(PlaceCode::kCount));
  std::set<std::string_view> names, meanings;
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(rows[i].code), i) << rows[i].name;
    EXPECT_EQ(&FactsOf(rows[i].code), &rows[i]);
    EXPECT_EQ(rows[i].name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_"), std::string::npos)
        << rows[i].name;
    EXPECT_TRUE(!rows[i].name.empty() && names.insert(rows[i].name).second) << rows[i].name;
    EXPECT_TRUE(!rows[i].means.empty() && meanings.insert(rows[i].means).second) << rows[i].name;
  }
}

TEST(PlaceGroups, EveryMemberKnowsAllMembers) {
  Groups groups(6);
  for (NodeId n = 0; n < 6; ++n) groups.Of(n).mask = 1;
  const NodePair first[] = {{4, 1}, {1, 4}, {3, 0}}, second[] = {{0, 4}, {3, 1}};
  EXPECT_THAT(groups.Members(4), ElementsAre(4));
  groups.Join(first, /*by_resource=*/false, /*splits=*/true);
  EXPECT_THAT(groups.Members(4), ElementsAre(1, 4));
  groups.Join(second, /*by_resource=*/false, /*splits=*/true);
  for (const NodeId n : {0, 1, 3, 4}) EXPECT_THAT(groups.Members(n), ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(groups.Members(5), ElementsAre(5));
}

TEST(DeviceRequest, Spellings) {
  for (const char* good :
       {"", "/", "/CPU:0", "/cpu:0", "CPU:0", "/GPU:0", "/device:APU:1", "/device:APU:*", "/task:0",
        "/device:CPU:0 ", "/job:localhost/replica:0/task:0/device:APU:0"}) {
    EXPECT_TRUE(ParseDeviceRequest(good).ok()) << good;
  }
  for (const char* bad :
       {"/APU:0", "APU:0", "APU", "/device:", "/device:APU:x", "/task:", "/device:APU:-1", "//",
        "/job:", "/job:1", "task:0", "/device:APU:99999999999", " "}) {
    EXPECT_FALSE(ParseDeviceRequest(bad).ok()) << bad;
  }
  for (const char* good : {"APU", "APU:0", "/APU:0", "/device:APU:0", "cpu", "CPU:0"})
    EXPECT_TRUE(ParseDeviceFlag(good).ok()) << good;
  for (const char* bad : {"", "/", "APU:", ":0", "A PU"})
    EXPECT_FALSE(ParseDeviceFlag(bad).ok()) << bad;
  EXPECT_EQ(ParseDeviceRequest("/device:APU:2")->ordinal, 2);
  EXPECT_EQ(ParseDeviceRequest("/cpu:1")->type, "CPU");
}

}  // namespace
}  // namespace tenon
