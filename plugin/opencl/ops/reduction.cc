// Reductions over any axes: Sum, Mean, Max, ...
//
// Neighbouring axes that are both kept or both reduced are one. Then each run of reduced axes is a
// stage: [outer, length, inner] becomes [outer, inner], from the last run on. All stages but the
// last leave accumulators. A stage with few results and much to add leaves one accumulator for each
// of several chunks, and a further stage adds these.

#include <algorithm>

#include "../base/launch.h"
#include "../base/registry.h"
#include "families.h"
#include "reduction.h"
#include "row_ends.h"

namespace opencl {

struct ReduceRow {
  OpRow row;
  const char* accumulator;  // C or U
  const char* init;         // LOWEST and HIGHEST stand for those of the type
  const char* take;
  const char* combine;
  const char* finish;
};

namespace {

constexpr const char* kAxes = "reduction_indices";
constexpr const char* kMaxOf = "((a) != (a) || (a) > (b) ? (a) : (b))";
constexpr const char* kMinOf = "((a) != (a) || (a) < (b) ? (a) : (b))";

constexpr ReduceRow kReductions[] = {
    {{"Sum", kNumbers, "T", kAxes}, "U", "0", "(v)", "((a) + (b))", "(a)"},
    {{"Mean", kFloats | kI32 | kI64, "T", kAxes}, "U", "0", "(v)", "((a) + (b))", "MEAN"},
    {{"Prod", kNumbers, "T", kAxes}, "U", "1", "(v)", "((a) * (b))", "(a)"},
    {{"Max", kNumbers, "T", kAxes}, "C", "LOWEST", "(v)", kMaxOf, "(a)"},
    {{"Min", kNumbers, "T", kAxes}, "C", "HIGHEST", "(v)", kMinOf, "(a)"},
    {{"EuclideanNorm", kFloats, "T", kAxes}, "C", "0", "((v) * (v))", "((a) + (b))", "sqrt(a)"},
    {{"All", 0, "T", kAxes}, "C", "1", "(v)", "((a) && (b))", "(a)"},
    {{"Any", 0, "T", kAxes}, "C", "0", "(v)", "((a) || (b))", "(a)"},
};
constexpr ReduceRow kLosses[] = {
    {{"L2Loss", kFloats}, "C", "0", "((v) * (v))", "((a) + (b))", "((a) / 2)"},
};
// The sum over all but the channels.
constexpr ReduceRow kBiasGradients[] = {
    {{"BiasAddGrad", kNumbers}, "U", "0", "(v)", "((a) + (b))", "(a)"},
};

struct Stage {
  int64_t outer, length, inner;
};

// What is reduced, as stages in order.
std::vector<Stage> StagesOf(const Dims& dims, const std::vector<bool>& reduced) {
  Dims merged;
  std::vector<bool> flags;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) continue;
    if (!merged.empty() && flags.back() == reduced[d]) {
      merged.back() *= dims[d];
    } else {
      merged.push_back(dims[d]);
      flags.push_back(reduced[d]);
    }
  }
  std::vector<Stage> stages;
  for (size_t d = merged.size(); d-- > 0;) {
    if (!flags[d]) continue;
    Stage stage{1, merged[d], 1};
    for (size_t k = 0; k < d; ++k) stage.outer *= merged[k];
    for (size_t k = d + 1; k < merged.size(); ++k) {
      if (!flags[k]) stage.inner *= merged[k];
    }
    stages.push_back(stage);
  }
  if (stages.empty()) stages.push_back({Count(dims), 1, 1});
  return stages;
}

class Reducer {
 public:
  // With a map there is one stage, of inner 1, and `in` has type and shape alone.
  Reducer(Call& call, const ReduceRow& row, const Tensor& in, const Tensor& out,
          const MapRows* map = nullptr)
      : call_(call), row_(row), in_(in), out_(out), map_(map), type_(TypeOf(in.type)) {}

  void Run(std::vector<Stage> stages, int64_t total) {
    total_ = total;
    const void* from = in_.data;
    for (size_t i = 0; i < stages.size(); ++i) {
      const Stage stage = stages[i];
      const int64_t chunks = ChunksOf(stage);
      const bool first = i == 0;
      if (chunks > 1)
        stages.insert(stages.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                      {stage.outer, chunks, stage.inner});
      const bool last = i + 1 == stages.size();
      const int64_t results = stage.outer * chunks * stage.inner;
      void* to = last ? out_.data
                      : call_.TempBytes(static_cast<size_t>(std::max<int64_t>(results, 1)) *
                                        AccumulatorBytes());
      RunStage(stage, chunks, from, to, first, last);
      from = to;
    }
  }

 private:
  size_t AccumulatorBytes() const { return type_.bytes > 4 ? 8 : 4; }

  // Enough pieces of work to fill the device, each of them worth a work-group.
  int64_t ChunksOf(const Stage& stage) const {
    const Device& device = call_.device();
    const int64_t wanted =
        device.is_gpu() ? int64_t{device.compute_units()} * 8 : int64_t{device.compute_units()};
    const int64_t least = device.is_gpu() ? 4096 : 65536;  // elements in a chunk
    int64_t have = stage.outer;
    if (stage.inner > 1) have = stage.outer * ((stage.inner + 255) / 256);
    if (have >= wanted || stage.length * std::min<int64_t>(stage.inner, 256) < 2 * least) return 1;
    const int64_t most = stage.length * std::min<int64_t>(stage.inner, 256) / least;
    return std::clamp<int64_t>(std::min(wanted / std::max<int64_t>(have, 1), most), 1,
                               stage.length);
  }

  std::string Prologue(bool first, bool last, int group, int lanes) const {
    std::string init = row_.init;
    if (init == "LOWEST") init = type_.lowest;
    if (init == "HIGHEST") init = type_.highest;
    const std::string c = type_.computed, a = row_.accumulator[0] == 'U' ? type_.wrapping : c;
    const ElementType stored{0,         in_.type,  0,       type_.kind, a.c_str(),
                             a.c_str(), a.c_str(), "PLAIN", "",         ""};
    std::string text = DefineType("X", first ? type_ : stored) +
                       DefineType("O", last ? TypeOf(out_.type) : stored);
    std::string finish = row_.finish;
    if (finish == "MEAN") {
      finish = type_.kind == Kind::kFloat ? "((a) / (" + c + ")total)"
                                          : "(total == 0 ? 0 : (" + c + ")(a) / (" + c + ")total)";
    }
    text += "#define A " + a + "\n#define INIT ((A)" + init + ")\n";
    text += "#define TAKE(v) " +
            (first ? "((A)" + std::string(row_.take) + ")" : std::string("(v)")) +
            "\n#define COMBINE(a, b) ((A)" + row_.combine + ")\n";
    text += "#define FINISH(a) " + (last ? finish : std::string("(a)")) + "\n";
    return text + "#define GROUP " + std::to_string(group) + "\n#define LANES " +
           std::to_string(lanes) + "\n";
  }

  void RunStage(const Stage& stage, int64_t chunks, const void* from, void* to, bool first,
                bool last) {
    const bool gpu = call_.device().is_gpu();
    const MapRows* const map = first ? map_ : nullptr;
    const bool rows = map != nullptr || (stage.inner == 1 && stage.length >= 32);
    const int group = !gpu ? 1 : stage.length / chunks >= 1024 ? 256 : 64;
    const char* entry = rows ? "reduce_rows" : "reduce_columns";
    KernelKey key(entry);
    key.Text(row_.row.op).Number(in_.type).Number(out_.type).Number(first).Number(last);
    key.Number(rows ? group : 1).Number(map != nullptr);
    if (map != nullptr) map->AddTo(&key);
    const int64_t count = stage.outer * chunks * stage.inner;
    const size_t in_bytes = first ? type_.bytes : AccumulatorBytes();
    const size_t out_bytes = last ? TypeOf(out_.type).bytes : AccumulatorBytes();
    Launch launch(call_, key, [&] {
      return Source{"reduce.cl",
                    Prologue(first, last, rows ? group : 1, rows && !gpu ? 16 : 1) +
                        (map == nullptr ? "" : map->Prologue()),
                    entry};
    });
    if (map == nullptr) {
      launch.Memory(from, static_cast<size_t>(stage.outer * stage.length * stage.inner) * in_bytes,
                    in_bytes);
    } else {
      map->AddInputs(&launch);
    }
    launch.Memory(to, static_cast<size_t>(count) * out_bytes, out_bytes);
    launch.Value(static_cast<cl_ulong>(stage.length))
        .Value(static_cast<cl_ulong>((stage.length + chunks - 1) / chunks))
        .Int(chunks)
        .Value(static_cast<cl_ulong>(total_));
    if (map != nullptr) map->AddLoop(&launch);
    if (rows) {
      launch.Run({static_cast<size_t>(count * group), 1, 1}, {static_cast<size_t>(group), 1, 1});
    } else {
      launch.Int(stage.inner).Value(static_cast<cl_ulong>(count)).Run(count, gpu ? 256 : 64);
    }
  }

  Call& call_;
  const ReduceRow& row_;
  const Tensor in_, out_;
  const MapRows* const map_;
  const ElementType& type_;
  int64_t total_ = 0;
};

class Reduction {
 public:
  Reduction(const Construction& node, const ReduceRow& row)
      : row_(row), keep_(node.Bool("keep_dims")) {}

  void Compute(Call& call) const {
    const Tensor in = call.In(0);
    std::vector<bool> reduced(in.dims.size(), false);
    for (const int64_t axis : call.HostInts(1)) {
      const auto d = static_cast<size_t>(NormalAxis(axis, in.rank(), row_.row.op));
      if (reduced[d]) {
        Refuse(std::string(row_.row.op) +
               ": Invalid reduction arguments: Axes contains duplicate dimension: " +
               std::to_string(d));
      }
      reduced[d] = true;
    }
    Dims dims;
    int64_t total = 1;
    for (size_t d = 0; d < in.dims.size(); ++d) {
      if (reduced[d]) total *= in.dims[d];
      if (!reduced[d] || keep_) dims.push_back(reduced[d] ? 1 : in.dims[d]);
    }
    const Tensor out = call.Out(0, dims);
    if (out.count == 0) return;
    Reducer(call, row_, in, out).Run(StagesOf(in.dims, reduced), total);
  }

 private:
  const ReduceRow& row_;
  const bool keep_;
};

class L2Loss {
 public:
  L2Loss(const Construction&, const ReduceRow& row) : row_(row) {}
  void Compute(Call& call) const {
    const Tensor in = call.In(0);
    const Tensor out = call.Out(0, {});
    Reducer(call, row_, in, out).Run({{1, in.count, 1}}, in.count);
  }

 private:
  const ReduceRow& row_;
};

class BiasAddGrad {
 public:
  BiasAddGrad(const Construction& node, const ReduceRow& row)
      : row_(row), channels_first_(node.String("data_format") == "NCHW") {}
  void Compute(Call& call) const {
    const Tensor in = call.In(0);
    if (in.rank() < 2) Refuse("Input tensor must be at least 2D: " + ShapeText(in.dims));
    const size_t channel = channels_first_ ? 1 : in.dims.size() - 1;
    std::vector<bool> reduced(in.dims.size(), true);
    reduced[channel] = false;
    const Tensor out = call.Out(0, {in.dims[channel]});
    if (out.count == 0) return;
    Reducer(call, row_, in, out).Run(StagesOf(in.dims, reduced), in.count / out.count);
  }

 private:
  const ReduceRow& row_;
  const bool channels_first_;
};

}  // namespace

void SumMiddle(Call& call, const Tensor& in, int64_t length, int64_t inner, const Tensor& out) {
  Reducer(call, kReductions[0], in, out).Run({{out.count / inner, length, inner}}, length);
}

const ReduceRow* FindReduction(std::string_view op, TF_DataType type) {
  const ElementType* const found = FindType(type);
  for (const ReduceRow& row : kReductions) {
    if (row.row.op == op && found != nullptr && (row.row.types & found->bit) != 0) return &row;
  }
  return nullptr;
}

void RunReduction(Call& call, const ReduceRow& reduction, const Rows& rows, const Tensor& out) {
  if (out.count == 0) return;
  const int64_t length = rows.tensor.count / out.count;
  Reducer(call, reduction, rows.tensor, out, rows.map).Run({{out.count, length, 1}}, length);
}

void RegisterReductions() {
  RegisterTable<Reduction, kReductions>();
  RegisterTable<L2Loss, kLosses>();
  RegisterTable<BiasAddGrad, kBiasGradients>();
}

}  // namespace opencl
