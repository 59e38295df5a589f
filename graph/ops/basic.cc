// Constants, placeholders, function arguments and ops that hand their input on.
#include "graph/ops/families.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kOps[] = {
    {"AccumulateNV2", "inputs: N * T", "sum: T", "N: int; T: numbertype; shape: shape", nullptr,
     kCommutative | kAggregate},
    {"_Arg", "", "output: T", "T: type; index: int >= 0", nullptr, kStateful},
    {"Const", "", "output: dtype", "value: tensor; dtype: type", nullptr},
    {"Copy", "input: T", "output: T",
     "T: type; tensor_name: string = ''; debug_ops_spec: list(string) = []", nullptr,
     kUninitializedInput},
    {"CopyHost", "input: T", "output: T",
     "T: type; tensor_name: string = ''; debug_ops_spec: list(string) = []", nullptr,
     kUninitializedInput},
    {"DebugGradientIdentity", "input: T", "output: T", "T: type", nullptr, kUninitializedInput},
    {"DebugGradientRefIdentity", "input: Ref(T)", "output: Ref(T)", "T: type", nullptr,
     kUninitializedInput},
    {"DeepCopy", "x: T", "y: T", "T: type", nullptr, kStateful},
    {"_DeviceArg", "", "output: T", "T: type; index: int >= 0", nullptr, kStateful},
    {"_DeviceRetval", "input: T", "", "T: type; index: int >= 0", nullptr, kStateful},
    {"EnsureShape", "input: T", "output: T", "shape: shape; T: type", nullptr},
    {"GuaranteeConst", "input: T", "output: T", "T: type", nullptr, kStateful},
    {"_HostCast", "x: SrcT", "y: DstT", "SrcT: type; DstT: type; Truncate: bool = false", nullptr},
    {"Identity", "input: T", "output: T", "T: type", nullptr},
    {"IdentityN", "input: T", "output: T", "T: list(type)", nullptr},
    {"ImmutableConst", "", "tensor: dtype", "dtype: type; shape: shape; memory_region_name: string",
     nullptr},
    {"OnesLike", "x: T", "y: T",
     "T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, "
     "uint64, complex64, complex128, bool}",
     nullptr},
    {"Placeholder", "", "output: dtype", "dtype: type; shape: shape = { unknown_rank: true }",
     nullptr},
    {"PlaceholderV2", "", "output: dtype", "dtype: type; shape: shape", nullptr, 0, 23,
     "Placeholder now behaves the same as PlaceholderV2."},
    {"PlaceholderWithDefault", "input: dtype", "output: dtype", "dtype: type; shape: shape",
     nullptr},
    {"PreventGradient", "input: T", "output: T", "T: type; message: string = ''", nullptr},
    {"RefIdentity", "input: Ref(T)", "output: Ref(T)", "T: type", nullptr, kUninitializedInput},
    {"_Retval", "input: T", "", "T: type; index: int >= 0", nullptr, kStateful},
    {"Snapshot", "input: T", "output: T", "T: type", nullptr},
    {"StopGradient", "input: T", "output: T", "T: type", nullptr},
    {"ZerosLike", "x: T", "y: T", "T: type", nullptr},
};

}  // namespace

absl::Span<const OpSpec> Basic() { return kOps; }

}  // namespace tenon::ops
