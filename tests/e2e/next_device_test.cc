// The NextPluggableDevice plug-in of the tree: opaque tensors, variables, several devices, the
// order of calls, and the switch to StreamExecutor.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "tests/e2e/document_util.h"
#include "tests/e2e/process_util.h"
#include "tests/support/paths.h"

namespace tenon::testing::next_device_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string NextDevice() { return Built("lib/plugins/libnext_device.so"); }
using Variables = std::map<std::string, std::string>;

Finished RunWith(std::vector<std::string> args, const Variables& variables) {
  args.insert(args.end(), {"--plugin", NextDevice()});
  return GraphRun({args, "", variables});
}

std::string Written(const std::string& name, const std::string& text) {
  const std::string path = TempPath("next_device_" + name + ".pbtxt");
  std::ofstream(path) << text;
  return path;
}

std::string Node(const std::string& name, const std::string& op, const std::string& inputs,
                 const std::string& type_attr, const std::string& device = "") {
  std::string text = "node { name: '" + name + "' op: '" + op + "' ";
  std::istringstream all(inputs);
  for (std::string input; all >> input;) text += "input: '" + input + "' ";
  if (!device.empty()) text += "device: '" + device + "' ";
  return text + "attr { key: '" + type_attr + "' value { type: DT_FLOAT } } }\n";
}

std::string Constant(const std::string& name, const std::string& values) {
  return "node { name: '" + name +
         "' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'value' value { "
         "tensor { dtype: DT_FLOAT tensor_shape { dim { size: 3 } } " +
         values + " } } } }\n";
}

const char kFeed[] =
    "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: "
    "'shape' value { shape { dim { size: 3 } } } } }\n";
const char kOneTwoThree[] = "float_val: 1 float_val: 2 float_val: 3";

std::string Variable() {
  return "node { name: 'v' op: 'VarHandleOp' attr { key: 'dtype' value { type: DT_FLOAT } } attr { "
         "key: 'shape' value { shape { dim { size: 3 } } } } attr { key: 'shared_name' value { s: "
         "'v' } } }\n" +
         Constant("start", kOneTwoThree) +
         Constant("delta", "float_val: 10 float_val: 20 float_val: 30") +
         Node("init", "AssignVariableOp", "v start", "dtype") +
         Node("add", "AssignAddVariableOp", "v delta ^init", "dtype") +
         Node("read", "ReadVariableOp", "v ^add", "dtype") + Node("out", "Neg", "read", "T");
}

// A kernel of the plug-in, one of the host, and one of the plug-in again.
TEST(NextDevice, RunsKernelsOnOpaqueTensors) {
  const std::string graph =
      Written("kernels", kFeed + Constant("c", kOneTwoThree) + Node("sum", "AddV2", "x c", "T") +
                             Node("neg", "Neg", "sum", "T") + Node("abs", "Abs", "neg", "T") +
                             Node("out", "Neg", "abs", "T"));
  const Finished run = RunWith({"run", graph, "--device", "NEXT:0", "--input", "x=3xf32=1,1,-5",
                                "--expect", "out=3xf32=-2,-3,-2", "--expect", "neg=3xf32=-2,-3,2",
                                "--abi-check=strict", "--opt-level", "0"},
                               {});
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
}

TEST(NextDevice, KeepsVariablesAndObjectsOfThePlugin) {
  const std::string graph = Written("variable", Variable());
  for (const char* next : {"1", "0"}) {
    const Finished run =
        RunWith({"run", graph, "--device", "NEXT:0", "--expect", "out=3xf32=-11,-22,-33",
                 "--expect", "read=3xf32=11,22,33", "--session-runs", "3"},
                {{"TENON_NEXT_DEVICE", next}, {"TENON_NEXT_DEVICE_TRACE", "1"}});
    EXPECT_EQ(run.exit, 0) << run.out << run.err;
    EXPECT_THAT(run.err, HasSubstr("3 additions to variables"));
  }
}

TEST(NextDevice, CopiesBetweenItsDevices) {
  const std::string graph =
      Written("two", kFeed + Node("first", "Neg", "x", "T", "/device:NEXT:0") +
                         Node("out", "AddV2", "first first", "T", "/device:NEXT:1"));
  const Finished run = RunWith({"run", graph, "--input", "x=3xf32=1,2,-3", "--expect",
                                "out=3xf32=-2,-4,6", "--verbose", "--opt-level", "0"},
                               {{"TENON_NEXT_DEVICE_COUNT", "2"}});
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("copy /device:NEXT:0 -> /device:NEXT:1"));
  EXPECT_THAT(run.err, HasSubstr("Created 2 TensorFlow NextPluggableDevices. Physical device type: "
                                 "NEXT"));
}

// What has another shape than its buffer goes by way of the host.
TEST(NextDevice, GivesNoKernelABufferOfAnotherShape) {
  const std::string shape =
      "node { name: 's' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } } attr { key: "
      "'value' value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } int_val: 3 "
      "int_val: "
      "1 } } } }\n";
  const std::string reshape =
      "node { name: 'r' op: 'Reshape' input: 'neg' input: 's' attr { key: 'T' value { type: "
      "DT_FLOAT "
      "} } attr { key: 'Tshape' value { type: DT_INT32 } } }\n";
  const std::string graph = Written("reshape", kFeed + shape + Node("neg", "Neg", "x", "T") +
                                                   reshape + Node("out", "AddV2", "r r", "T"));
  const Finished run = RunWith({"run", graph, "--device", "NEXT:0", "--input", "x=3xf32=1,2,-3",
                                "--expect", "out=3x1xf32=-2,-4,6", "--opt-level", "0"},
                               {});
  EXPECT_EQ(run.exit, 0) << run.out << run.err;
}

// Ops without a kernel are compiled, each for itself, or with --xla together with all others.
TEST(NextDevice, MixesKernelsAndPrograms) {
  const std::string graph =
      Written("mixed", kFeed + Constant("c", kOneTwoThree) + Node("sum", "AddV2", "x c", "T") +
                           Node("abs", "Abs", "sum", "T") + Node("square", "Square", "abs", "T") +
                           Node("neg", "Neg", "square", "T") + Node("out", "Sqrt", "square", "T"));
  const auto clusters = [&](const std::vector<std::string>& more, const char* on_demand) {
    const Variables variables = {{"TENON_NEXT_DEVICE_ON_DEMAND", on_demand}};
    std::vector<std::string> args = {"explain", graph,         "--device", "NEXT:0",
                                     "--json",  "--opt-level", "0"};
    args.insert(args.end(), more.begin(), more.end());
    const Finished explained = RunWith(args, variables);
    EXPECT_EQ(explained.exit, 0) << explained.err;
    std::vector<std::string> run_args = {"run",          graph,
                                         "--device",     "NEXT:0",
                                         "--input",      "x=3xf32=1,1,-5",
                                         "--expect",     "out=3xf32=2,3,2",
                                         "--expect",     "neg=3xf32=-4,-9,-4",
                                         "--xla-errors", "fail",
                                         "--opt-level",  "0"};
    run_args.insert(run_args.end(), more.begin(), more.end());
    const Finished run = RunWith(run_args, variables);
    EXPECT_EQ(run.exit, 0) << run.out << run.err;
    const json doc = json::parse(explained.out);
    return doc.contains("clusters") ? doc["clusters"].size() : 0;
  };
  EXPECT_EQ(clusters({}, "0"), 0u);
  EXPECT_EQ(clusters({}, "1"), 3u);
  EXPECT_EQ(clusters({"--xla", "all"}, "1"), 1u);
}

// TensorFlow's order of calls.
TEST(NextDevice, IsCalledInTensorFlowsOrder) {
  const Finished run = RunWith({"devices"}, {{"TENON_NEXT_DEVICE_TRACE", "1"}});
  ASSERT_EQ(run.exit, 0) << run.err;
  std::vector<std::string> calls;
  std::istringstream lines(run.err);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("get_device_count") != line.npos) continue;
    if (line.starts_with("next_device: ")) calls.push_back(line.substr(13));
  }
  calls.resize(std::min<size_t>(calls.size(), 6));
  EXPECT_THAT(calls, ElementsAre("SE_InitPlugin", "TFNPD_InitPlugin", "GetPjrtApi", "TF_InitKernel",
                                 "TFNPD_GetDeviceCount", "TFNPD_GetDeviceCount"));
  const size_t states = run.err.find("TFNPD_InitPluginInternalDeviceStates");
  ASSERT_NE(states, std::string::npos) << run.err;
  EXPECT_LT(run.err.find("TFNPD_GetDeviceCount"), states);
  EXPECT_NE(run.err.find("TFNPD_GetDeviceCount", states), std::string::npos);
}

// The environment decides by which interface one library shows its devices.
TEST(NextDevice, ShowsOneOfItsTwoFaces) {
  Finished run = RunWith({"devices"}, {});
  EXPECT_THAT(run.out, AllOf(HasSubstr("NEXT (1 device, next_pluggable)"),
                             HasSubstr("Created 1 TensorFlow NextPluggableDevices. Physical device "
                                       "type: NEXT"),
                             Not(HasSubstr("physical PluggableDevice"))));
  run = RunWith({"devices"}, {{"TENON_NEXT_DEVICE", "0"}});
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("NEXT (1 device, pluggable)"),
                    HasSubstr("-> physical PluggableDevice (device: 0, name: NEXT, pci bus id: "
                              "<undefined>)"),
                    Not(HasSubstr("TensorFlow NextPluggableDevices"))));
  for (const auto& [next, kind] : {std::pair("1", "next_pluggable"), std::pair("0", "pluggable")}) {
    run = RunWith({"devices", "--json"}, {{"TENON_NEXT_DEVICE", next}});
    const json doc = json::parse(run.out);
    ASSERT_EQ(doc["devices"].size(), 2u);
    EXPECT_EQ(doc["devices"][1]["name"], "/physical_device:NEXT:0");
    EXPECT_EQ(doc["devices"][1]["kind"], kind);
    EXPECT_EQ(doc["plugins"][0]["kind"], kind);
  }
}

}  // namespace
}  // namespace tenon::testing::next_device_test
