// Strings.
#include "graph/ops/families.h"
#include "graph/shapes/shapes.h"

namespace tenon::ops {
namespace {

constexpr OpSpec kStringsOps[] = {
    {"AsString", "input: T", "output: string",
     "T: {realnumbertype, complex64, complex128, bool, variant, string}; precision: int = -1; "
     "scientific: bool = false; shortest: bool = false; width: int = -1; fill: string = ''",
     UnchangedShape},
    {"DecodeBase64", "input: string", "output: string", "", UnchangedShape},
    {"DecodePaddedRaw", "input_bytes: string; fixed_length: int32", "output: out_type",
     "out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, bfloat16}; "
     "little_endian: bool = true",
     DecodePaddedRawShape},
    {"DecodeRaw", "bytes: string", "output: out_type",
     "out_type: {half, float, double, int32, uint16, uint8, int16, int8, int64, complex64, "
     "complex128, bool, bfloat16}; little_endian: bool = true",
     DecodeRawShape},
    {"EditDistance",
     "hypothesis_indices: int64; hypothesis_values: T; hypothesis_shape: int64; "
     "truth_indices: int64; truth_values: T; truth_shape: int64",
     "output: float", "normalize: bool = true; T: type", EditDistanceShape, kPure,
     OpFacts{.cost = {CostRule::kPairs}}},
    {"EncodeBase64", "input: string", "output: string", "pad: bool = false", UnchangedShape},
    {"ReduceJoin", "inputs: string; reduction_indices: int32", "output: string",
     "keep_dims: bool = false; separator: string = ''", ReduceJoinShape},
    {"RegexFullMatch", "input: string; pattern: string", "output: bool", "", RegexShape},
    {"RegexReplace", "input: string; pattern: string; rewrite: string", "output: string",
     "replace_global: bool = true", RegexShape},
    {"StaticRegexFullMatch", "input: string", "output: bool", "pattern: string", UnchangedShape},
    {"StaticRegexReplace", "input: string", "output: string",
     "pattern: string; rewrite: string; replace_global: bool = true", UnchangedShape},
    {"StringFormat", "inputs: T", "output: string",
     "T: list(type) >= 0; template: string = '%s'; placeholder: string = '%s'; summarize: int = 3",
     StringFormatShape},
    {"StringJoin", "inputs: N * string", "output: string", "N: int >= 0; separator: string = ''",
     StringJoinShape},
    {"StringLength", "input: string", "output: int32", "unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'",
     UnchangedShape},
    {"StringLower", "input: string", "output: string", "encoding: string = ''", UnchangedShape},
    {"StringNGrams", "data: string; data_splits: Tsplits", "ngrams: string; ngrams_splits: Tsplits",
     "separator: string; ngram_widths: list(int) >= 0; left_pad: string; right_pad: string; "
     "pad_width: int; preserve_short_sequences: bool; Tsplits: {int32, int64} = DT_INT64",
     NGramsShape},
    {"StringSplit", "input: string; delimiter: string",
     "indices: int64; values: string; shape: int64", "skip_empty: bool = true", StringSplitShape},
    {"StringSplitV2", "input: string; sep: string", "indices: int64; values: string; shape: int64",
     "maxsplit: int = -1", StringSplitShape},
    {"StringStrip", "input: string", "output: string", "", UnchangedShape},
    {"StringToHashBucket", "string_tensor: string", "output: int64", "num_buckets: int >= 1",
     UnchangedShape},
    {"StringToHashBucketFast", "input: string", "output: int64", "num_buckets: int >= 1",
     UnchangedShape},
    {"StringToHashBucketStrong", "input: string", "output: int64",
     "num_buckets: int >= 1; key: list(int)", UnchangedShape},
    {"StringToNumber", "string_tensor: string", "output: out_type",
     "out_type: {float, double, int32, int64, uint32, uint64} = DT_FLOAT", UnchangedShape},
    {"StringUpper", "input: string", "output: string", "encoding: string = ''", UnchangedShape},
    {"Substr", "input: string; pos: T; len: T", "output: string",
     "T: {int32, int64}; unit: {'BYTE', 'UTF8_CHAR'} = 'BYTE'", SubstrShape},
    {"_TensorToHashBucketFast", "input: T", "output: int64",
     "T: {int8, uint8, int16, uint16, int32, uint32, int64, uint64}; num_buckets: int >= 1",
     UnchangedShape},
    {"UnicodeDecode", "input: string", "row_splits: Tsplits; char_values: int32",
     "input_encoding: string; errors: {'strict', 'replace', 'ignore'} = 'replace'; "
     "replacement_char: int = 65533; replace_control_characters: bool = false; "
     "Tsplits: {int32, int64} = DT_INT64",
     UnicodeDecodeShape},
    {"UnicodeDecodeWithOffsets", "input: string",
     "row_splits: Tsplits; char_values: int32; char_to_byte_starts: int64",
     "input_encoding: string; errors: {'strict', 'replace', 'ignore'} = 'replace'; "
     "replacement_char: int = 65533; replace_control_characters: bool = false; "
     "Tsplits: {int32, int64} = DT_INT64",
     UnicodeDecodeShape},
    {"UnicodeEncode", "input_values: int32; input_splits: Tsplits", "output: string",
     "errors: {'ignore', 'replace', 'strict'} = 'replace'; "
     "output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}; replacement_char: int = 65533; "
     "Tsplits: {int32, int64} = DT_INT64",
     UnicodeEncodeShape},
    {"UnicodeScript", "input: int32", "output: int32", "", UnchangedShape},
    {"UnicodeTranscode", "input: string", "output: string",
     "input_encoding: string; output_encoding: {'UTF-8', 'UTF-16-BE', 'UTF-32-BE'}; "
     "errors: {'strict', 'replace', 'ignore'} = 'replace'; replacement_char: int = 65533; "
     "replace_control_characters: bool = false",
     UnchangedShape},
    {"UnsortedSegmentJoin", "inputs: string; segment_ids: Tindices; num_segments: Tnumsegments",
     "output: string",
     "separator: string = ''; Tindices: {int32, int64}; Tnumsegments: {int32, int64} = DT_INT32",
     UnsortedSegmentShape},
};

}  // namespace

absl::Span<const OpSpec> Strings() { return kStringsOps; }

}  // namespace tenon::ops
