// What OpDefs have beside signatures, against TensorFlow's.
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/op_defs/op_registry.h"
#include "gtest/gtest.h"
#include "proto/op_def.pb.h"

namespace tenon {
namespace {

// ARRAY[TENSOR[VAR=element_dtype]]
std::string PrintFullType(const pb::FullTypeDef& type) {
  std::string text = pb::FullTypeId_Name(type.type_id()).substr(sizeof("TFT_") - 1);
  if (!type.s().empty()) absl::StrAppend(&text, "=", type.s());
  std::string args;
  for (const pb::FullTypeDef& arg : type.args())
    absl::StrAppend(&args, args.empty() ? "[" : ",", PrintFullType(arg));
  return args.empty() ? text : absl::StrCat(text, args, "]");
}

using OpsByText = std::map<std::string, std::set<std::string>>;

OpsByText TensorFlows() {
  std::ifstream golden("tests/golden/ops/full_types.txt");
  EXPECT_TRUE(golden.is_open());
  OpsByText ops;
  for (std::string line; std::getline(golden, line);) {
    if (line.starts_with('#')) continue;
    const std::vector<std::string> parts = absl::StrSplit(line, ": ");
    ops[parts.at(0)] = absl::StrSplit(parts.at(1), ' ');
  }
  return ops;
}

TEST(OpFullTypes, AreTensorFlows) {
  OpsByText ops;
  for (const std::string_view name : OpRegistry::Global().Names()) {
    pb::OpDef op;
    ASSERT_TRUE(op.ParseFromString(OpDefToWire(*OpRegistry::Global().Find(name)))) << name;
    if (op.is_distributed_communication()) ops["communicates"].emplace(name);
    for (int i = 0; i < op.output_arg_size(); ++i) {
      if (!op.output_arg(i).has_experimental_full_type()) continue;
      EXPECT_EQ(0, i) << name;
      ops[PrintFullType(op.output_arg(i).experimental_full_type())].emplace(name);
    }
  }
  EXPECT_EQ(TensorFlows(), ops);
}

}  // namespace
}  // namespace tenon
