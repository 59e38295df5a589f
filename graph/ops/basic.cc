// Constants, placeholders, function arguments and ops that hand their input on.
#include "graph/ops/families.h"
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kOps[] = {
    {"AccumulateNV2", "inputs: N * T", "sum: T", "N: int; T: numbertype; shape: shape",
     ExplicitShape, kCommutative | kAggregate},
    {"_Arg", "", "output: T", "T: type; index: int >= 0", ArgShape, kStateful},
    {"Const", "", "output: dtype", "value: tensor; dtype: type", ConstShape},
    {"Copy", "input: T", "output: T",
     "T: type; tensor_name: string = ''; debug_ops_spec: list(string) = []", IdentityShape,
     kUninitializedInput},
    {"CopyHost", "input: T", "output: T",
     "T: type; tensor_name: string = ''; debug_ops_spec: list(string) = []", IdentityShape,
     kUninitializedInput},
    {"DebugGradientIdentity", "input: T", "output: T", "T: type", IdentityShape,
     kUninitializedInput},
    {"DebugGradientRefIdentity", "input: Ref(T)", "output: Ref(T)", "T: type", IdentityShape,
     kUninitializedInput},
    {"DeepCopy", "x: T", "y: T", "T: type", IdentityShape, kStateful},
    {"_DeviceArg", "", "output: T", "T: type; index: int >= 0", nullptr, kStateful},
    {"_DeviceRetval", "input: T", "", "T: type; index: int >= 0", nullptr, kStateful},
    {"_EagerConst", "input: T", "output: T", "T: type", UnchangedShape},
    {"EnsureShape", "input: T", "output: T", "shape: shape; T: type", EnsureShapeShape},
    {"GuaranteeConst", "input: T", "output: T", "T: type", IdentityShape, kStateful},
    {"HostConst", "", "output: dtype", "value: tensor; dtype: type", nullptr},
    {"_HostCast", "x: SrcT", "y: DstT", "SrcT: type; DstT: type; Truncate: bool = false",
     IdentityShape},
    {"Identity", "input: T", "output: T", "T: type", IdentityShape},
    {"IdentityN", "input: T", "output: T", "T: list(type)", EachUnchangedShape},
    {"ImmutableConst", "", "tensor: dtype", "dtype: type; shape: shape; memory_region_name: string",
     ExplicitShape},
    {"IsTensorFloat32Enabled", "", "enabled: bool", "", nullptr, kStateful},
    {"OnesLike", "x: T", "y: T",
     "T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, "
     "uint64, complex64, complex128, bool}",
     UnchangedShape},
    {"Placeholder", "", "output: dtype", "dtype: type; shape: shape = { unknown_rank: true }",
     ExplicitShape},
    {"PlaceholderV2", "", "output: dtype", "dtype: type; shape: shape", ExplicitShape, 0, 23,
     "Placeholder now behaves the same as PlaceholderV2."},
    {"PlaceholderWithDefault", "input: dtype", "output: dtype", "dtype: type; shape: shape",
     PlaceholderWithDefaultShape},
    {"PreventGradient", "input: T", "output: T", "T: type; message: string = ''", IdentityShape},
    {"RefIdentity", "input: Ref(T)", "output: Ref(T)", "T: type", IdentityShape,
     kUninitializedInput},
    {"_Retval", "input: T", "", "T: type; index: int >= 0", nullptr, kStateful},
    {"Snapshot", "input: T", "output: T", "T: type", IdentityShape},
    {"StopGradient", "input: T", "output: T", "T: type", IdentityShape},
    {"ZerosLike", "x: T", "y: T", "T: type", UnchangedShape},
};

}  // namespace

absl::Span<const OpSpec> Basic() { return kOps; }

}  // namespace tenon::ops
