// Sending between devices and workers, batching, sessions, debugging.
#include "graph/ops/families.h"
#include "graph/shapes/rank_rules.h"
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kDistributionOps[] = {
    {"Batch", "in_tensors: T", "batched_tensors: T; batch_index: int64; id: int64",
     "num_batch_threads: int; max_batch_size: int; max_enqueued_batches: int = 10; "
     "batch_timeout_micros: int; allowed_batch_sizes: list(int) = []; grad_timeout_micros: int; "
     "container: string = ''; shared_name: string = ''; batching_queue: string = ''; T: list(type)",
     BatchShape},
    {"BatchFunction", "in_tensors: Tin; captured_tensors: Tcaptured", "out_tensors: Tout",
     "f: func; num_batch_threads: int; max_batch_size: int; batch_timeout_micros: int; "
     "max_enqueued_batches: int = 10; allowed_batch_sizes: list(int) = []; "
     "container: string = ''; shared_name: string = ''; batching_queue: string = ''; "
     "low_priority_max_batch_size: int = 0; low_priority_batch_timeout_micros: int = 0; "
     "low_priority_allowed_batch_sizes: list(int) = []; "
     "low_priority_max_enqueued_batches: int = 0; "
     "mixed_priority_policy: {'low_priority_padding_with_max_batch_size', "
     "'low_priority_padding_with_next_allowed_batch_size', 'priority_isolation', "
     "'priority_merge'} = 'low_priority_padding_with_max_batch_size'; "
     "batch_padding_policy: {'PAD_UP', 'BATCH_DOWN', 'MINIMIZE_TPU_COST_PER_REQUEST'} = 'PAD_UP'; "
     "Tin: list(type); Tcaptured: list(type) >= 0; Tout: list(type); "
     "enable_large_batch_splitting: bool = false",
     nullptr},
    {"CollectiveAllToAllV2",
     "input: T; group_size: int32; group_key: int32; instance_key: int32; "
     "ordering_token: Nordering_token * resource",
     "data: T",
     "T: {bfloat16, float, half, double, int32, int64}; communication_hint: string = 'auto'; "
     "timeout_seconds: float = 0; is_stateless: bool = false; Nordering_token: int >= 0 = 0",
     RankRule<"-> =0">, kStateful},
    {"CollectiveAllToAllV3", "input: T; communicator: resource; group_assignment: int32", "data: T",
     "T: {bfloat16, float, half, double, int32, int64}; timeout_seconds: float = 0",
     RankRule<"-> =0">, kStateful},
    {"CollectiveAssignGroupV2", "group_assignment: int32; device_index: int32; base_key: int32",
     "group_size: int32; group_key: int32", "", RankRule<"-> [] []">, kStateful},
    {"CollectiveBcastRecv", "", "data: T",
     "T: {bool, float, half, double, int32, int64}; group_size: int; group_key: int; "
     "instance_key: int; shape: shape; communication_hint: string = 'auto'; "
     "timeout_seconds: float = 0",
     ExplicitShape, kStateful},
    {"CollectiveBcastRecvV2",
     "group_size: int32; group_key: int32; instance_key: int32; shape: Tshape", "data: T",
     "T: {bool, float, half, double, int32, int64}; Tshape: {int32, int64} = DT_INT32; "
     "communication_hint: string = 'auto'; timeout_seconds: float = 0",
     ReceivedShape, kStateful},
    {"CollectiveBcastSend", "input: T", "data: T",
     "T: {bool, float, half, double, int32, int64}; group_size: int; group_key: int; "
     "instance_key: int; shape: shape; communication_hint: string = 'auto'; "
     "timeout_seconds: float = 0",
     ExplicitShape, kStateful},
    {"CollectiveBcastSendV2", "input: T; group_size: int32; group_key: int32; instance_key: int32",
     "data: T",
     "T: {bool, float, half, double, int32, int64}; communication_hint: string = 'auto'; "
     "timeout_seconds: float = 0",
     RankRule<"-> =0">, kStateful},
    {"CollectiveGather", "input: T", "data: T",
     "T: {float, half, double, int32, int64}; group_size: int; group_key: int; instance_key: int; "
     "shape: shape; communication_hint: string = 'auto'; timeout_seconds: float = 0",
     CollectiveGatherShape, kStateful},
    {"CollectiveGatherV2",
     "input: T; group_size: int32; group_key: int32; instance_key: int32; "
     "ordering_token: Nordering_token * resource",
     "data: T",
     "T: {float, half, double, int32, int64}; communication_hint: string = 'auto'; "
     "timeout_seconds: float = 0; is_stateless: bool = false; Nordering_token: int >= 0 = 0",
     CollectiveRowsShape, kStateful},
    {"CollectiveInitializeCommunicator", "group_key: int32; rank: int32; group_size: int32",
     "communicator: resource", "communication_hint: string = 'auto'; timeout_seconds: float = 0",
     RankRule<"-> []">, kStateful},
    {"CollectivePermute", "input: T; source_target_pairs: int32", "output: T", "T: numbertype",
     RankRule<"-> =0">, kStateful},
    {"CollectiveReduce", "input: T", "data: T",
     "T: {bfloat16, float, half, double, int32, int64}; group_size: int; group_key: int; "
     "instance_key: int; merge_op: {'Min', 'Max', 'Mul', 'Add'}; final_op: {'Id', 'Div'}; "
     "subdiv_offsets: list(int); wait_for: list(int) = []; communication_hint: string = 'auto'; "
     "timeout_seconds: float = 0",
     RankRule<"-> =0">, kStateful},
    {"CollectiveReduceScatterV2",
     "input: T; group_size: int32; group_key: int32; instance_key: int32; "
     "ordering_token: Nordering_token * resource",
     "data: T",
     "T: {bfloat16, float, half, double, int32, int64}; merge_op: {'Min', 'Max', 'Mul', 'Add'}; "
     "final_op: {'Id', 'Div'}; communication_hint: string = 'auto'; timeout_seconds: float = 0; "
     "is_stateless: bool = false; Nordering_token: int >= 0 = 0; max_subdivs_per_device: int = -1",
     CollectiveRowsShape, kStateful},
    {"CollectiveReduceV2",
     "input: T; group_size: int32; group_key: int32; instance_key: int32; "
     "ordering_token: Nordering_token * resource",
     "data: T",
     "T: {bfloat16, float, half, double, int32, int64}; merge_op: {'Min', 'Max', 'Mul', 'Add'}; "
     "final_op: {'Id', 'Div'}; communication_hint: string = 'auto'; timeout_seconds: float = 0; "
     "is_stateless: bool = false; Nordering_token: int >= 0 = 0; max_subdivs_per_device: int = -1",
     RankRule<"-> =0">, kStateful},
    {"CollectiveReduceV3", "input: T; communicator: resource; group_assignment: int32", "data: T",
     "T: {bfloat16, float, half, double, int32, int64}; reduction: {'Min', 'Max', 'Mul', 'Add'}; "
     "timeout_seconds: float = 0",
     RankRule<"-> =0">, kStateful},
    {"DebugIdentity", "input: T", "output: T",
     "T: type; device_name: string = ''; tensor_name: string = ''; debug_urls: list(string) = []; "
     "gated_grpc: bool = false",
     UnchangedShape, kUninitializedInput},
    {"DebugIdentityV2", "input: T", "output: T",
     "T: type; tfdbg_context_id: string = ''; op_name: string = ''; output_slot: int = -1; "
     "tensor_debug_mode: int = -1; debug_urls: list(string) = []; "
     "circular_buffer_size: int = 1000; tfdbg_run_id: string = ''",
     UnchangedShape, kStateful},
    {"DebugIdentityV3", "input: T", "output: T",
     "T: type; device_name: string = ''; tensor_name: string = ''; io_of_node: string = ''; "
     "is_input: bool = false; io_index: int = -1; debug_urls: list(string) = []; "
     "gated_grpc: bool = false",
     UnchangedShape, kStateful | kUninitializedInput},
    {"DebugNanCount", "input: T", "output: int64",
     "T: type; device_name: string = ''; tensor_name: string = ''; debug_urls: list(string) = []; "
     "gated_grpc: bool = false",
     nullptr, kUninitializedInput},
    {"DeleteSessionTensor", "handle: string", "", "", RankRule<"0 ->">, kStateful},
    {"GetSessionHandle", "value: T", "handle: string", "T: type", RankRule<"-> []">, kStateful},
    {"GetSessionHandleV2", "value: T", "handle: resource", "T: type", RankRule<"-> []">, kStateful},
    {"GetSessionTensor", "handle: string", "value: dtype", "dtype: type", RankRule<"0 ->">,
     kStateful},
    {"_HostRecv", "", "tensor: tensor_type",
     "tensor_type: type; tensor_name: string; send_device: string; send_device_incarnation: int; "
     "recv_device: string; client_terminated: bool = false",
     nullptr, kStateful},
    {"_HostSend", "tensor: T", "",
     "T: type; tensor_name: string; send_device: string; send_device_incarnation: int; "
     "recv_device: string; client_terminated: bool = false",
     nullptr, kStateful},
    {"NcclAllReduce", "input: T", "data: T",
     "reduction: {'min', 'max', 'prod', 'sum'}; T: {half, float, double, int32, int64}; "
     "num_devices: int; shared_name: string",
     RankRule<"-> =0">, kStateful},
    {"NcclBroadcast", "input: T", "output: T",
     "T: {half, float, double, int32, int64}; shape: shape", RankRule<"-> =0">, kStateful},
    {"_NcclBroadcastRecv", "shape: int32", "output: T",
     "T: {half, float, double, int32, int64}; num_devices: int; shared_name: string", ReceivedShape,
     kStateful},
    {"_NcclBroadcastSend", "input: T", "",
     "T: {half, float, double, int32, int64}; num_devices: int; shared_name: string", nullptr,
     kStateful},
    {"NcclReduce", "input: num_devices * T", "data: T",
     "reduction: {'min', 'max', 'prod', 'sum'}; T: {half, float, double, int32, int64}; "
     "num_devices: int",
     RankRule<"-> =0">, kStateful},
    {"_NcclReduceRecv", "input: T", "data: T",
     "reduction: {'min', 'max', 'prod', 'sum'}; T: {half, float, double, int32, int64}; "
     "num_devices: int; shared_name: string",
     RankRule<"-> =0">, kStateful},
    {"_NcclReduceSend", "input: T", "",
     "reduction: {'min', 'max', 'prod', 'sum'}; T: {half, float, double, int32, int64}; "
     "num_devices: int; shared_name: string",
     nullptr, kStateful},
    {"RecordInput", "", "records: string",
     "file_pattern: string; file_random_seed: int = 301; file_shuffle_shift_ratio: float = 0; "
     "file_buffer_size: int = 10000; file_parallelism: int = 16; batch_size: int = 32; "
     "compression_type: string = ''",
     nullptr, kStateful},
    {"Recv", "", "tensor: tensor_type",
     "tensor_type: type; tensor_name: string; send_device: string; send_device_incarnation: int; "
     "recv_device: string; client_terminated: bool = false",
     nullptr, kStateful},
    {"_Recv", "", "tensor: tensor_type",
     "tensor_type: type; tensor_name: string; send_device: string; send_device_incarnation: int; "
     "recv_device: string; client_terminated: bool = false",
     nullptr, kStateful},
    {"_ScopedAllocator", "", "output: T",
     "shapes: list(shape); shape: shape; T: type; sa_name: string; id: int; "
     "expected_call_count: int",
     ExplicitShape, kStateful},
    {"_ScopedAllocatorConcat", "backing: T; inputs: N * T", "output: T",
     "shape: shape; T: type; reshape: bool = false; sa_name: string; id: int; N: int >= 2",
     ExplicitShape, kStateful},
    {"_ScopedAllocatorSplit", "concat: T; split: N * T", "output: N * T",
     "T: type; sa_name: string; id: int; N: int >= 2; shapes: list(shape)",
     ScopedAllocatorSplitShape, kStateful},
    {"Send", "tensor: T", "",
     "T: type; tensor_name: string; send_device: string; send_device_incarnation: int; "
     "recv_device: string; client_terminated: bool = false",
     nullptr, kStateful},
    {"_Send", "tensor: T", "",
     "T: type; tensor_name: string; send_device: string; send_device_incarnation: int; "
     "recv_device: string; client_terminated: bool = false",
     nullptr, kStateful},
    {"Timestamp", "", "ts: double", "", ScalarShape, kStateful},
    {"Unbatch", "batched_tensor: T; batch_index: int64; id: int64", "unbatched_tensor: T",
     "timeout_micros: int; container: string = ''; shared_name: string = ''; T: type",
     UnbatchShape},
    {"UnbatchGrad", "original_input: T; batch_index: int64; grad: T; id: int64", "batched_grad: T",
     "container: string = ''; shared_name: string = ''; T: type", UnbatchGradShape},
};

}  // namespace

absl::Span<const OpSpec> Distribution() { return kDistributionOps; }

}  // namespace tenon::ops
