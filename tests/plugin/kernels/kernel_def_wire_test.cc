// KernelDefs as bytes: fields of other numbers and of wrong wire types.
#include "plugin/kernels/kernel_def_wire.h"

#include <gmock/gmock.h>

#include "graph/op_defs/attr_value.h"
#include "graph/wire/wire.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;

// Fields that no KernelDef has, of each kind.
std::string UnknownFields() {
  std::string wire;
  WireWriter writer(&wire);
  writer.Varint(20, 1);
  writer.Fixed32(21, 2);
  writer.Fixed64(22, 3);
  writer.Bytes(23, "four");
  return wire;
}

TEST(KernelDefWire, SkipsUnknownFields) {
  std::string constraint = UnknownFields();
  WireWriter inner(&constraint);
  inner.Bytes(1, "T");
  inner.Bytes(2, attr::TypeList({DataType::kFloat}));
  std::string wire = UnknownFields();
  WireWriter writer(&wire);
  writer.Bytes(1, "Neg");
  writer.Bytes(3, constraint + UnknownFields());
  const absl::StatusOr<KernelDef> kernel = KernelDefFromWire(wire + UnknownFields());
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  EXPECT_EQ(kernel->op, "Neg");
  ASSERT_EQ(kernel->constraints.size(), 1u);
  EXPECT_EQ(kernel->constraints[0].attr, "T");
  EXPECT_THAT(kernel->constraints[0].allowed, ElementsAre(DataType::kFloat));
}

TEST(KernelDefWire, RefusesFieldsOfAnotherWireType) {
  for (const uint32_t number : {1, 2, 3, 4, 5, 6}) {
    for (const WireType type : {WireType::kVarint, WireType::kFixed32, WireType::kFixed64}) {
      if (number == 6 && type == WireType::kVarint) continue;
      std::string wire;
      WireWriter writer(&wire);
      writer.Bytes(20, "not the text of the field behind it");
      if (type == WireType::kVarint) writer.Varint(number, 1);
      if (type == WireType::kFixed32) writer.Fixed32(number, 1);
      if (type == WireType::kFixed64) writer.Fixed64(number, 1);
      EXPECT_EQ(KernelDefFromWire(wire).status(),
                absl::InvalidArgumentError("Error parsing serialized KernelDef."))
          << number << " " << static_cast<int>(type);
    }
  }
  std::string wire;
  WireWriter(&wire).Bytes(6, "3");
  EXPECT_FALSE(KernelDefFromWire(wire).ok());
}

}  // namespace
}  // namespace tenon
