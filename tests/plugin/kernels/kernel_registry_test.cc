// Choosing a kernel: constraints, labels, priorities, DEFAULT, and the messages when there is none
// or more than one.
#include "plugin/kernels/kernel_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plugin/host/c_api/kernel_node_util.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::shared_ptr<KernelDef> Def(const std::string& op, const std::string& device,
                               std::vector<DataType> types = {}) {
  auto def = std::make_shared<KernelDef>();
  def->op = op;
  def->device_type = device;
  if (!types.empty()) def->constraints.push_back({"T", std::move(types)});
  return def;
}

class KernelRegistryTest : public ::testing::Test {
 protected:
  ~KernelRegistryTest() override {
    for (const char* plugin : {"a.so", "b.so"}) KernelRegistry::Global().RemovePlugin(plugin);
  }
  std::shared_ptr<KernelDef> Add(std::shared_ptr<KernelDef> def,
                                 const std::string& plugin = "a.so") {
    def->plugin = plugin;
    KernelRegistry::Global().Register(def);
    return def;
  }
  absl::StatusOr<std::shared_ptr<const KernelDef>> Find(const std::string& op,
                                                        std::string_view device,
                                                        DataType type = DataType::kFloat,
                                                        std::string_view label = {},
                                                        std::string_view plugin = {}) {
    type_ = attr::Type(type);
    label_ = attr::String(label);
    std::vector<Attr> attrs;
    attrs.push_back({"T", AttrValue(type_)});
    if (!label.empty()) attrs.push_back({"_kernel", AttrValue(label_)});
    return KernelRegistry::Global().Find("y", op, AttrSet(std::move(attrs)), nullptr, device,
                                         plugin);
  }
  std::string type_, label_;
};

TEST_F(KernelRegistryTest, ConstraintsAndDevice) {
  const auto floats = Add(Def("Op1", "APU", {DataType::kFloat, DataType::kHalf}));
  const auto ints = Add(Def("Op1", "APU", {DataType::kInt32}));
  EXPECT_EQ(*Find("Op1", "APU", DataType::kHalf), floats);
  EXPECT_EQ(*Find("Op1", "APU", DataType::kInt32), ints);
  const absl::Status status = Find("Op1", "APU", DataType::kString).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(
      status.message(),
      StartsWith("No registered 'Op1' OpKernel for 'APU' devices compatible with node {{node y}}"));
  EXPECT_THAT(
      status.message(),
      HasSubstr(
          "(OpKernel was found, but attributes didn't match) Requested Attributes: T=DT_STRING"));
  EXPECT_THAT(status.message(), HasSubstr("  device='APU'; T in [DT_FLOAT, DT_HALF]\n"));
  EXPECT_THAT(Find("Op1", "CPU").status().message(), Not(HasSubstr("attributes didn't match")));
  EXPECT_THAT(Find("NoOp1", "CPU").status().message(), HasSubstr("  <no registered kernels>\n"));
}

TEST_F(KernelRegistryTest, NoKernelOnAnyDevice) {
  Add(Def("Op9", "APU", {DataType::kFloat}));
  const std::string type = attr::Type(DataType::kInt32), two = attr::Int(2);
  const AttrSet attrs(std::vector<Attr>{{"T", AttrValue(type)}, {"n", AttrValue(two)}});
  const std::string_view types[] = {"CPU", "APU"};
  const auto text = [&](std::string_view op, const AttrSet& attrs) {
    return KernelRegistry::Global().NoKernelText("y", op, attrs, nullptr, types);
  };
  EXPECT_EQ(text("Op9", attrs),
            "No OpKernel was registered to support Op 'Op9' used by {{node y}} with these attrs: "
            "[T=DT_INT32, n=2]\nRegistered devices: [CPU, APU]\nRegistered kernels:\n"
            "  device='APU'; T in [DT_FLOAT]\n");
  EXPECT_THAT(text("NoOp9", attrs), HasSubstr("  <no registered kernels>\n"));
  EXPECT_THAT(
      text("Op9", AttrSet()),
      StartsWith("OpKernel 'Op9' has constraint on attr 'T' not in NodeDef '[]', KernelDef: "
                 "'op: \"Op9\" device_type: \"APU\""));
}

TEST_F(KernelRegistryTest, BuiltInKernelsForEveryDevice) {
  const auto find = [](std::string_view op, std::string_view type, std::string_view plugin) {
    const std::string float_type = attr::Type(DataType::kFloat);
    const AttrSet attrs(std::vector<Attr>{{"dtype", AttrValue(float_type)}});
    return KernelRegistry::Global().Find("y", op, attrs, nullptr, type, plugin);
  };
  ASSERT_TRUE(find("ReadVariableOp", "APU", "a.so").ok());
  EXPECT_EQ((*find("ReadVariableOp", "APU", "a.so"))->device_type, "DEFAULT");
  EXPECT_THAT((*find("ReadVariableOp", "APU", "a.so"))->host_memory_args,
              ::testing::ElementsAre("resource"));
  EXPECT_EQ((*find("ReadVariableOp", "CPU", ""))->device_type, "CPU");
  EXPECT_FALSE(find("AssignAddVariableOp", "APU", "a.so").ok());
}

TEST_F(KernelRegistryTest, PriorityAndLabel) {
  const auto low = Add(Def("Op2", "APU"));
  auto high = Def("Op2", "APU", {DataType::kFloat});
  high->priority = 5;
  Add(high);
  auto special = Def("Op2", "APU");
  special->label = "special";
  Add(special);
  EXPECT_EQ(*Find("Op2", "APU"), high);
  EXPECT_EQ(*Find("Op2", "APU", DataType::kInt32), low);
  EXPECT_EQ(*Find("Op2", "APU", DataType::kFloat, "special"), special);
  EXPECT_FALSE(Find("Op2", "APU", DataType::kFloat, "other").ok());
  EXPECT_THAT(Find("Op2", "CPU").status().message(),
              HasSubstr("  device='APU'; label='special'\n"));
}

TEST_F(KernelRegistryTest, TwoOfOnePluginAtTheSamePriority) {
  Add(Def("Op3", "CPU"));
  Add(Def("Op3", "CPU", {DataType::kFloat}));
  EXPECT_EQ(
      Find("Op3", "CPU").status(),
      absl::InvalidArgumentError(
          "Multiple OpKernel registrations match NodeDef at the same priority '{{node y}}': 'op: "
          "\"Op3\" "
          "device_type: \"CPU\"' and 'op: \"Op3\" device_type: \"CPU\" constraint { name: \"T\" "
          "allowed_values { list { type: DT_FLOAT } } }' (both of plug-in a.so)"));
}

TEST_F(KernelRegistryTest, BetweenPluginsTheFirstLoadedAndBeforeOurOwn) {
  const auto first = Add(Def("Op4", "CPU"), "a.so");
  Add(Def("Op4", "CPU"), "b.so");
  EXPECT_EQ(*Find("Op4", "CPU"), first);
  const auto relu = Add(Def("Relu", "CPU", {DataType::kFloat}));
  EXPECT_EQ(*Find("Relu", "CPU"), relu);
  KernelRegistry::Global().RemovePlugin("a.so");
  const auto builtin = Find("Relu", "CPU");
  ASSERT_TRUE(builtin.ok()) << builtin.status();
  EXPECT_NE((*builtin)->cpu, nullptr);
}

TEST_F(KernelRegistryTest, PriorityBetweenPlugins) {
  Add(Def("Op9", "CPU"), "a.so");
  auto preferred = Def("Op9", "CPU", {DataType::kFloat});
  preferred->plugin_priority = 1;
  Add(preferred, "b.so");
  EXPECT_EQ(*Find("Op9", "CPU"), preferred);
  EXPECT_NE(*Find("Op9", "CPU", DataType::kInt32), preferred);
  Add(Def("Relu", "CPU", {DataType::kFloat}), "b.so");
  auto strong = Def("Neg", "CPU", {DataType::kFloat});
  strong->priority = 1;  // it goes first by its own priority
  Add(strong, "b.so");
  EXPECT_THAT(
      KernelRegistry::Global().Precedence("b.so"),
      ::testing::ElementsAre(
          StartsWith("at equal priority its kernels go before 1 of the built-in ones"),
          "at equal priority its kernels go before 1 of a.so (;priority=, else the order of "
          "loading, decides)"));
  EXPECT_THAT(KernelRegistry::Global().Precedence("a.so"),
              ::testing::ElementsAre(HasSubstr("go behind 1 of b.so")));
}

TEST_F(KernelRegistryTest, KnowsWhetherAPluginIsInUse) {
  Add(Def("Op10", "CPU"), "a.so");
  EXPECT_FALSE(KernelRegistry::Global().InUse("a.so"));
  const auto held = Find("Op10", "CPU");
  EXPECT_TRUE(KernelRegistry::Global().InUse("a.so"));
  EXPECT_FALSE(KernelRegistry::Global().InUse("b.so"));
}

TEST_F(KernelRegistryTest, SaysWhyNot) {
  const std::string type = attr::Type(DataType::kFloat);
  std::vector<Attr> list;
  list.push_back({"T", AttrValue(type)});
  const AttrSet attrs(std::move(list));
  const auto why = [&](const char* op) {
    return KernelRegistry::Global().WhyNot(op, attrs, nullptr, "APU", "");
  };
  EXPECT_EQ(why("Op6").why, "");
  EXPECT_FALSE(why("Op6").types);
  Add(Def("Op6", "APU", {DataType::kInt32}));
  EXPECT_TRUE(why("Op6").types);
  auto labelled = Def("Op7", "APU", {DataType::kInt32});
  labelled->label = "special";
  Add(labelled);
  EXPECT_EQ(why("Op7").why, "has the label 'special' where the node's _kernel is ''");
  EXPECT_FALSE(why("Op7").types);
  auto odd = Def("Op8", "APU");
  odd->constraints.push_back({"NoAttr", {DataType::kFloat}});
  Add(odd);
  EXPECT_EQ(why("Op8").why, "constrains 'NoAttr', which is no attribute of the node");
}

TEST_F(KernelRegistryTest, ServesTheDevicesOfItsPlugin) {
  const auto find = [&](const char* op, const char* plugin) {
    return Find(op, "APU", DataType::kFloat, "", plugin);
  };
  const auto a = Def("Op9", "APU"), b = Def("Op9", "APU");
  a->own_devices_only = b->own_devices_only = true;
  Add(a, "a.so");
  EXPECT_FALSE(find("Op9", "b.so").ok());
  Add(b, "b.so");
  EXPECT_TRUE(IsForDevicesOf(*a, "a.so"));
  EXPECT_FALSE(IsForDevicesOf(*a, "b.so"));
  EXPECT_EQ(*find("Op9", "a.so"), a);
  EXPECT_EQ(*find("Op9", "b.so"), b);
  const auto shared = Add(Def("Op10", "APU"), "a.so");  // a library of kernels alone
  EXPECT_EQ(*find("Op10", "b.so"), shared);
  EXPECT_FALSE(Find("Relu", "CPU", DataType::kFloat, "", "b.so").ok());  // not the host
}

TEST_F(KernelRegistryTest, DefaultServesEveryType) {
  const auto any = Add(Def("Op5", "DEFAULT"));
  EXPECT_EQ(*Find("Op5", "APU"), any);
  const auto own = Add(Def("Op5", "APU"));
  EXPECT_EQ(*Find("Op5", "APU"), own);
}

}  // namespace
}  // namespace tenon
