#include "executor/op_headers/families.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "graph/ops/families.h"

namespace tenon::op_headers {
namespace {

struct Header {
  std::string_view name;
  std::string_view content;
};
constexpr Header kHeaders[] = {
    {"array", "Shapes, slices, gathering and scattering, constants and placeholders"},
    {"control_flow", "Branches, loops, calls of functions, assertions and printing"},
    {"data", "Datasets and iterators"},
    {"data_flow", "Queues, stacks, lists, tables, barriers and accumulators"},
    {"distributed", "Batches of calls, collectives, sends and receives, and what watches tensors"},
    {"image", "Images: decoding, encoding, resizing, colors and boxes"},
    {"io", "Files, checkpoints, and parsing of records"},
    {"linalg", "Solving, decompositions and functions of matrices"},
    {"math", "Elementwise math, reductions and products of matrices"},
    {"nn", "Layers of neural networks: activations, convolutions, pooling, losses"},
    {"quantized", "Quantized tensors"},
    {"random", "Random numbers and sampling"},
    {"signal", "Fourier transforms and audio"},
    {"sparse", "Sparse and ragged tensors, and sets"},
    {"state", "Variables and mutexes"},
    {"string", "Strings"},
    {"summary", "Summaries for TensorBoard"},
    {"training", "Steps of optimizers"},
};

// Ops of a table of graph/ops that stand in a header. The first row that fits an op counts.
struct Rule {
  absl::Span<const OpSpec> (*table)();
  std::string_view header;
  std::string_view ops;  // names; "Sparse*" is all that begin so
};
constexpr Rule kRules[] = {
    {ops::Arrays, "array", "*"},
    {ops::Basic, "array", "*"},
    {ops::Containers, "data_flow", "*"},
    {ops::ControlFlow, "control_flow", "*"},
    {ops::Data, "data", "*"},
    {ops::Distribution, "distributed", "*"},
    {ops::Elementwise, "array", "Bitcast"},
    {ops::Elementwise, "nn",
     "Elu EluGrad LeakyRelu LeakyReluGrad Relu Relu6 Relu6Grad ReluGrad Selu SeluGrad Softplus "
     "SoftplusGrad Softsign SoftsignGrad"},
    {ops::Elementwise, "math", "*"},
    {ops::Files, "io", "*"},
    {ops::Functions, "control_flow", "*"},
    {ops::Image, "image", "*"},
    {ops::Linalg, "math", "BatchMatMul* Cross Einsum MatMul SparseMatMul"},
    {ops::Linalg, "signal", "BatchFFT* BatchIFFT* FFT* IFFT* IRFFT* RFFT*"},
    {ops::Linalg, "linalg", "*"},
    {ops::Nn, "nn", "*"},
    {ops::Preprocess, "array",
     "Empty Fingerprint Inplace* ScatterNdNonAliasingAdd TensorStridedSliceUpdate"},
    {ops::Preprocess, "image",
     "DecodeBmp DecodePng EncodePng ExtractGlimpse* RandomCrop SampleDistortedBoundingBoxV2 "
     "StatelessSampleDistortedBoundingBox"},
    {ops::Preprocess, "math",
     "KMC2ChainInitialization KmeansPlusPlusInitialization NearestNeighbors"},
    {ops::Preprocess, "nn", "BatchNormWithGlobalNormalization Fused*"},
    {ops::Preprocess, "random", "LogUniformCandidateSampler SobolSample UniformCandidateSampler"},
    {ops::Preprocess, "signal", "AudioSpectrogram DecodeWav EncodeWav Mfcc"},
    {ops::Preprocess, "sparse", "DenseToDenseSetOperation"},
    {ops::Preprocess, "training", "SdcaFprint"},
    {ops::Preprocess, "io", "*"},
    {ops::Quantize, "quantized", "*"},
    {ops::QuantizedNn, "quantized", "*"},
    {ops::Random, "random", "*"},
    {ops::Reduction, "sparse", "Sparse* Ragged* DenseCountSparseOutput"},
    {ops::Reduction, "math", "*"},
    {ops::Selection, "data_flow", "DynamicPartition DynamicStitch ParallelDynamicStitch"},
    {ops::Selection, "nn", "NthElement TopKV2"},
    {ops::Selection, "sparse", "Sparse* Ragged*"},
    {ops::Selection, "array", "*"},
    {ops::Sparse, "array", "ScatterNd*"},
    {ops::Sparse, "sparse", "*"},
    {ops::Strings, "string", "*"},
    {ops::Summary, "training", "BoostedTrees*"},
    {ops::Summary, "summary", "*"},
    {ops::Training, "training", "*"},
    {ops::Variables, "data_flow", "*Accumulator*"},
    {ops::Variables, "state", "*"},
};

// `pattern` has '*' at its ends only.
bool Fits(std::string_view name, std::string_view pattern) {
  const bool from_anywhere = pattern.size() > 1 && absl::ConsumePrefix(&pattern, "*");
  if (!absl::ConsumeSuffix(&pattern, "*")) return name == pattern;
  return from_anywhere ? absl::StrContains(name, pattern) : absl::StartsWith(name, pattern);
}

}  // namespace

absl::StatusOr<std::vector<Family>> Families() {
  std::map<std::string_view, std::set<std::string_view>> ops;
  std::set<std::string_view> placed;
  for (const Rule& rule : kRules) {
    for (const std::string_view pattern : absl::StrSplit(rule.ops, ' ')) {
      bool fits = false;
      for (const OpSpec& spec : rule.table()) {
        const std::string_view name = spec.name;
        if (!absl::ascii_isalpha(static_cast<unsigned char>(name[0])) || !Fits(name, pattern))
          continue;
        if (!placed.insert(name).second) continue;
        fits = true;
        ops[rule.header].insert(name);
      }
      if (!fits)
        return absl::InternalError(
            absl::StrCat("No op for \"", pattern, "\" in the header ", rule.header));
    }
  }
  std::vector<Family> families;
  for (const Header& header : kHeaders) {
    const std::set<std::string_view>& names = ops[header.name];
    families.push_back({header.name, header.content, {names.begin(), names.end()}});
  }
  if (ops.size() != families.size())
    return absl::InternalError("A rule names no header of the table");
  return families;
}

}  // namespace tenon::op_headers
