// Elements by index: gathers, one-hot, the place of the largest.

#include <algorithm>
#include <climits>
#include <optional>

#include "../base/launch.h"
#include "../base/map.h"
#include "../base/registry.h"
#include "../base/report.h"
#include "../base/strided.h"
#include "families.h"
#include "locked_variables.h"

namespace opencl {
namespace {

struct GatherRow {
  OpRow row;
  bool axis = false;      // an input tells the axis
  bool variable = false;  // params are the value of a variable
};

// Input 0, or the variable behind it, which stays locked as long as the object lives.
class Params {
 public:
  Params(Call& call, bool variable) {
    if (variable) locked_.emplace(call, 1, false);
    tensor_ = variable ? locked_->tensors()[0] : call.In(0);
  }
  const Tensor& tensor() const { return tensor_; }

 private:
  std::optional<LockedVariables> locked_;
  Tensor tensor_;
};

// Kernel `entry` of gather.cl, whose rows of indices have `depth` numbers.
Launch LaunchGather(Call& call, const char* entry, const Tensor& elements, const Tensor& indices,
                    size_t depth) {
  const size_t bytes = TypeOf(elements.type).bytes;
  const KernelKey key = KernelKey(entry)
                            .Number(static_cast<int64_t>(bytes))
                            .Number(indices.type)
                            .Number(static_cast<int64_t>(depth));
  return Launch(call, key, [&] {
    return Source{"gather.cl",
                  std::string("#define E ") + UnsignedOf(bytes) + "\n" +
                      DefineType("L", TypeOf(indices.type)) + "#define DEPTH " +
                      std::to_string(depth) + "\n",
                  entry};
  });
}

int64_t Product(const Dims& dims, size_t begin, size_t end) {
  return Count(Dims(dims.begin() + static_cast<std::ptrdiff_t>(begin),
                    dims.begin() + static_cast<std::ptrdiff_t>(end)));
}

class Gather {
 public:
  Gather(const Construction& node, const GatherRow& row)
      : node_(node.NodeText(row.row.op)),
        axis_(row.axis),
        variable_(row.variable),
        batch_dims_(row.axis || row.variable ? node.Int("batch_dims") : 0) {}

  void Compute(Call& call) const {
    const Params source(call, variable_);
    const Tensor &params = source.tensor(), indices = call.In(1);
    if (params.rank() < 1) Refuse("params must be at least 1 dimensional");
    const int64_t batches = batch_dims_ < 0 ? batch_dims_ + indices.rank() : batch_dims_;
    const std::vector<int64_t> axes =
        axis_ ? call.HostInts(2) : std::vector<int64_t>{variable_ ? batches : 0};
    if (axes.size() != 1) Refuse("axis must be scalar");
    const auto axis = static_cast<size_t>(NormalAxis(axes[0], params.rank(), "GatherV2"));
    if (batches < 0 || batches > indices.rank() || batches > static_cast<int64_t>(axis)) {
      Refuse("batch_dims (" + std::to_string(batch_dims_) +
             ") must be at most the rank of indices and axis (" + std::to_string(axis) + ")");
    }
    const auto batch = static_cast<size_t>(batches);
    for (size_t d = 0; d < batch; ++d) {
      if (params.dims[d] != indices.dims[d]) {
        Refuse("params.shape[" + std::to_string(d) + "]: " + std::to_string(params.dims[d]) +
               " should be equal to indices.shape[" + std::to_string(d) +
               "]: " + std::to_string(indices.dims[d]));
      }
    }
    Dims dims(params.dims.begin(), params.dims.begin() + static_cast<std::ptrdiff_t>(axis));
    dims.insert(dims.end(), indices.dims.begin() + batches, indices.dims.end());
    dims.insert(dims.end(), params.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1,
                params.dims.end());
    const Tensor out = call.Out(0, dims);
    if (out.count == 0) return;
    const int64_t size = params.dims[axis];
    Launch launch = LaunchGather(call, "gather", params, indices, 1);
    launch.Memory(params).Memory(indices).Memory(out).Value(static_cast<cl_ulong>(out.count));
    launch.Int(Product(params.dims, batch, axis)).Int(size);
    launch.Int(Product(indices.dims, batch, indices.dims.size()));
    launch.Int(Product(params.dims, axis + 1, params.dims.size()));
    launch.Errors(report_.Number(call.device().errors(), {size}, [&] {
      return "indices: %lld is not in [0, " + std::to_string(size) + ") in " + node_;
    }));
    launch.Run(out.count);
  }

 private:
  const std::string node_;
  const bool axis_, variable_;
  const int64_t batch_dims_;
  const Report report_;
};

class GatherNd {
 public:
  GatherNd(const Construction& node, const GatherRow& row)
      : node_(node.NodeText(row.row.op)), variable_(row.variable) {
    if (node.Has("bad_indices_policy")) {
      const std::string policy = node.String("bad_indices_policy");
      if (policy != "" && policy != "DEFAULT" && policy != "ERROR")
        NotImplemented("GatherNd with bad_indices_policy " + policy + " on OPENCL");
    }
  }
  void Compute(Call& call) const {
    const Params source(call, variable_);
    const Tensor &params = source.tensor(), indices = call.In(1);
    if (params.rank() < 1) Refuse("params must be at least a vector");
    if (indices.rank() < 1) Refuse("indices must be at least a vector");
    const int64_t rows = CheckedCount(Dims(indices.dims.begin(), indices.dims.end() - 1));
    for (const auto& [name, count] :
         {std::pair("params", params.count), std::pair("indices", rows)}) {
      if (indices.type == TF_INT32 && count > INT_MAX) {
        Refuse(std::string(name) + " has too many elements for int indexing: " +
               std::to_string(count) + " > " + std::to_string(INT_MAX));
      }
    }
    const auto depth = static_cast<size_t>(indices.dims.back());
    if (depth > params.dims.size()) {
      Refuse("index innermost dimension length must be <= params rank; saw: " +
             std::to_string(depth) + " vs. " + std::to_string(params.rank()));
    }
    Dims dims(indices.dims.begin(), indices.dims.end() - 1);
    dims.insert(dims.end(), params.dims.begin() + static_cast<std::ptrdiff_t>(depth),
                params.dims.end());
    const Tensor out = call.Out(0, dims);
    if (out.count == 0) return;
    if (params.count == 0)
      Refuse("Requested more than 0 entries, but params is empty.  Params shape: " +
             ShapeText(params.dims));
    Dims sizes(params.dims.begin(), params.dims.begin() + static_cast<std::ptrdiff_t>(depth));
    sizes.resize(std::max<size_t>(depth, 1), 1);
    Launch launch = LaunchGather(call, "gather_nd", params, indices, sizes.size());
    launch.Memory(params).Memory(indices).Memory(out).Value(static_cast<cl_ulong>(out.count));
    launch.Int(Product(params.dims, depth, params.dims.size())).Int(static_cast<int64_t>(depth));
    launch.Bytes(sizes.data(), sizes.size() * sizeof(int64_t));
    launch.Errors(report_.Number(call.device().errors(), params.dims, [&] {
      return "indices[%lld] does not index into param shape " + ShapeText(params.dims) + " in " +
             node_;
    }));
    launch.Run(out.count);
  }

 private:
  const std::string node_;
  const bool variable_;
  const Report report_;
};

class OneHot {
 public:
  OneHot(const Construction& node, const GatherRow&) : axis_(node.Int("axis")) {}
  void Compute(Call& call) const {
    const Tensor indices = call.In(0), on = call.In(2), off = call.In(3);
    const std::vector<int64_t> depth = call.HostInts(1);
    if (axis_ < -1 || axis_ > indices.rank())
      Refuse("Expected axis to be -1 or between [0, " + std::to_string(indices.rank() + 1) +
             ").  But received: " + std::to_string(axis_));
    if (depth.size() != 1) Refuse("depth must be a scalar");
    if (depth[0] < 0) Refuse("depth must be non-negative, got: " + std::to_string(depth[0]));
    if (on.rank() != 0) Refuse("on_value must be a scalar, but got: " + ShapeText(on.dims));
    if (off.rank() != 0) Refuse("off_value must be a scalar, but got: " + ShapeText(off.dims));
    const size_t axis = axis_ == -1 ? indices.dims.size() : static_cast<size_t>(axis_);
    Dims dims = indices.dims;
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), depth[0]);
    const Tensor out = call.Out(0, dims);
    if (out.count == 0) return;
    Tensor spread = indices;
    spread.dims.insert(spread.dims.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    // The place along the axis comes from the element's number.
    const int64_t step = RowMajorStrides(dims)[axis];
    RunBroadcastMap(call, {"r = (long)x0 == (long)i / n0 % n1 ? x1 : x2;", "", {step, depth[0]}},
                    {spread, on, off}, out);
  }

 private:
  const int64_t axis_;
};

struct ArgRow {
  OpRow row;
  const char* better;
};

class ArgBest {
 public:
  ArgBest(const Construction&, const ArgRow& row) : row_(row) {}
  void Compute(Call& call) const {
    const Tensor in = call.In(0);
    const std::vector<int64_t> axes = call.HostInts(1);
    if (axes.size() != 1) Refuse("dim must be a scalar");
    const auto axis = static_cast<size_t>(NormalAxis(axes[0], in.rank(), row_.row.op));
    if (in.dims[axis] == 0) {
      Refuse("Reduction axis " + std::to_string(axis) + " is empty in shape " + ShapeText(in.dims));
    }
    Dims dims = in.dims;
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
    const Tensor out = call.Out(0, dims);
    if (out.count == 0) return;
    const KernelKey key = KernelKey("arg_best").Number(in.type).Number(out.type).Text(row_.better);
    Launch launch(call, key, [&] {
      return Source{"gather.cl",
                    DefineType("X", TypeOf(in.type)) + DefineType("O", TypeOf(out.type)) +
                        "#define BETTER(a, b) " + row_.better + "\n",
                    "arg_best"};
    });
    launch.Memory(in).Memory(out).Value(static_cast<cl_ulong>(out.count)).Int(in.dims[axis]);
    launch.Int(Product(in.dims, axis + 1, in.dims.size())).Run(out.count, 64);
  }

 private:
  const ArgRow& row_;
};

constexpr TypeSet kMoved = kAll;

constexpr GatherRow kGather[] = {{{"Gather", kMoved, "Tparams"}, false},
                                 {{"GatherV2", kMoved, "Tparams", "axis"}, true}};
constexpr GatherRow kGatherNd[] = {{{"GatherNd", kMoved, "Tparams"}}};
constexpr GatherRow kResourceGather[] = {{{"ResourceGather", kMoved, "dtype"}, false, true}};
constexpr GatherRow kResourceGatherNd[] = {{{"ResourceGatherNd", kMoved, "dtype"}, false, true}};
constexpr GatherRow kOneHot[] = {{{"OneHot", kAll, "T", "depth"}}};
constexpr ArgRow kArg[] = {{{"ArgMax", kNumbers | kBool, "T", "dimension"}, "((a) > (b))"},
                           {{"ArgMin", kNumbers | kBool, "T", "dimension"}, "((a) < (b))"}};

}  // namespace

void RegisterSelection() {
  RegisterTable<Gather, kGather>();
  RegisterTable<GatherNd, kGatherNd>();
  if (HasVariables()) {
    RegisterTable<Gather, kResourceGather>();
    RegisterTable<GatherNd, kResourceGatherNd>();
  }
  RegisterTable<OneHot, kOneHot>();
  RegisterTable<ArgBest, kArg>();
}

}  // namespace opencl
