// Summaries for TensorBoard.
#include "graph/ops/families.h"
#include "graph/shapes/rank_rules.h"
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kSummaryOps[] = {
    {"AudioSummary",
     "tag: string; tensor: float",
     "summary: string",
     "sample_rate: float; max_outputs: int >= 1 = 3",
     ScalarShape,
     kPure,
     {},
     15,
     "Use AudioSummaryV2."},
    {"AudioSummaryV2", "tag: string; tensor: float; sample_rate: float", "summary: string",
     "max_outputs: int >= 1 = 3", ScalarShape},
    {"BoostedTreesBucketize",
     "float_values: num_features * float; bucket_boundaries: num_features * float",
     "buckets: num_features * int32", "num_features: int >= 0", BucketizeFeaturesShape},
    {"BoostedTreesMakeStatsSummary",
     "node_ids: int32; gradients: float; hessians: float; "
     "bucketized_features_list: num_features * int32",
     "stats_summary: float", "max_splits: int >= 1; num_buckets: int >= 1; num_features: int",
     StatsSummaryShape},
    {"CloseSummaryWriter", "writer: resource", "", "", nullptr, kStateful},
    {"CreateSummaryDbWriter",
     "writer: resource; db_uri: string; experiment_name: string; run_name: string; "
     "user_name: string",
     "", "", nullptr, kStateful},
    {"CreateSummaryFileWriter",
     "writer: resource; logdir: string; max_queue: int32; flush_millis: int32; "
     "filename_suffix: string",
     "", "", nullptr, kStateful},
    {"DebugNumericSummary", "input: T", "output: double",
     "T: type; device_name: string = ''; tensor_name: string = ''; debug_urls: list(string) = []; "
     "lower_bound: float = -inf; upper_bound: float = inf; mute_if_healthy: bool = false; "
     "gated_grpc: bool = false",
     nullptr, kUninitializedInput},
    {"DebugNumericSummaryV2", "input: T", "output: output_dtype",
     "output_dtype: {float, double} = DT_FLOAT; T: type; tensor_debug_mode: int = -1; "
     "tensor_id: int = -1",
     nullptr},
    {"ExperimentalStatsAggregatorSummary", "iterator: resource", "summary: string", "",
     RankRule<"-> []">, kStateful},
    {"FlushSummaryWriter", "writer: resource", "", "", nullptr, kStateful},
    {"HistogramSummary", "tag: string; values: T", "summary: string",
     "T: realnumbertype = DT_FLOAT", ScalarShape},
    {"ImageSummary", "tag: string; tensor: T", "summary: string",
     "max_images: int >= 1 = 3; T: {uint8, float, half, double} = DT_FLOAT; "
     "bad_color: tensor = { dtype: DT_UINT8 tensor_shape { dim { size: 4 } } int_val: 255 int_val: "
     "0 int_val: 0 int_val: 255 }",
     ScalarShape},
    {"ImportEvent", "writer: resource; event: string", "", "", nullptr, kStateful},
    {"MergeSummary", "inputs: N * string", "summary: string", "N: int", ScalarShape},
    {"ScalarSummary", "tags: string; values: T", "summary: string", "T: realnumbertype",
     ScalarShape},
    {"StatsAggregatorSetSummaryWriter", "stats_aggregator: resource; summary: resource", "", "",
     nullptr, kStateful},
    {"StatsAggregatorSummary", "iterator: resource", "summary: string", "", RankRule<"-> []">,
     kStateful},
    {"SummaryWriter", "", "writer: resource", "shared_name: string = ''; container: string = ''",
     RankRule<"-> []">, kStateful},
    {"TensorSummary", "tensor: T", "summary: string",
     "T: type; description: string = ''; labels: list(string) = []; display_name: string = ''",
     ScalarShape},
    {"TensorSummaryV2", "tag: string; tensor: T; serialized_summary_metadata: string",
     "summary: string", "T: type", ScalarShape},
    {"WriteAudioSummary",
     "writer: resource; step: int64; tag: string; tensor: float; sample_rate: float", "",
     "max_outputs: int >= 1 = 3", nullptr, kStateful},
    {"WriteGraphSummary", "writer: resource; step: int64; tensor: string", "", "", nullptr,
     kStateful},
    {"WriteHistogramSummary", "writer: resource; step: int64; tag: string; values: T", "",
     "T: {realnumbertype, bool} = DT_FLOAT", nullptr, kStateful},
    {"WriteImageSummary", "writer: resource; step: int64; tag: string; tensor: T; bad_color: uint8",
     "", "max_images: int >= 1 = 3; T: {uint8, double, float, half} = DT_FLOAT", nullptr,
     kStateful},
    {"WriteRawProtoSummary", "writer: resource; step: int64; tensor: string", "", "", nullptr,
     kStateful},
    {"WriteScalarSummary", "writer: resource; step: int64; tag: string; value: T", "",
     "T: realnumbertype", nullptr, kStateful},
    {"WriteSummary",
     "writer: resource; step: int64; tensor: T; tag: string; summary_metadata: string", "",
     "T: type", nullptr, kStateful},
};

}  // namespace

absl::Span<const OpSpec> Summary() { return kSummaryOps; }

}  // namespace tenon::ops
