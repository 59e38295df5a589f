// Ops whose result is their input with other dimensions, in the same memory, and ops that ask for a
// shape.

#include <algorithm>

#include "../base/registry.h"
#include "families.h"

namespace opencl {
namespace {

class Reshape {
 public:
  Reshape(const Construction&, const PlainRow&) {}
  void Compute(Call& call) const {
    const Tensor in = call.In(0);
    Dims dims = call.HostInts(1);
    int64_t known = 1, known_without_zeros = 1;
    int open = -1;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] == -1) {
        if (open >= 0) {
          Refuse("Only one input size may be -1, not both " + std::to_string(open) + " and " +
                 std::to_string(d));
        }
        open = static_cast<int>(d);
      } else if (dims[d] < 0) {
        Refuse("Size " + std::to_string(d) + " must be non-negative, not " +
               std::to_string(dims[d]));
      } else {
        known = Times(known, dims[d]);
        known_without_zeros = Times(known_without_zeros, dims[d] == 0 ? 1 : dims[d]);
      }
    }
    if (open >= 0 && known == 0 && in.count == 0) {
      // As TensorFlow does for tensors without elements: dimensions of 0 are left out on both
      // sides.
      int64_t elements = 1;
      for (const int64_t size : in.dims) elements *= size == 0 ? 1 : size;
      dims[static_cast<size_t>(open)] = elements / known_without_zeros;
    } else if (open >= 0) {
      if (known == 0 || in.count % known != 0) {
        Refuse("Input to reshape is a tensor with " + std::to_string(in.count) +
               " values, but the requested shape requires a multiple of " + std::to_string(known));
      }
      dims[static_cast<size_t>(open)] = in.count / known;
      known = in.count;
    }
    if (known != in.count) {
      Refuse("Input to reshape is a tensor with " + std::to_string(in.count) +
             " values, but the requested shape has " + std::to_string(known));
    }
    call.OutIsInput(0, 0, dims);
  }
};

class ExpandDims {
 public:
  ExpandDims(const Construction&, const PlainRow&) {}
  void Compute(Call& call) const {
    Dims dims = call.In(0).dims;
    const std::vector<int64_t> axes = call.HostInts(1);
    if (axes.size() != 1) Refuse("'dim' must be a tensor with a single value");
    const int axis = NormalAxis(axes[0], static_cast<int>(dims.size()) + 1, "ExpandDims");
    dims.insert(dims.begin() + axis, 1);
    call.OutIsInput(0, 0, dims);
  }
};

class Squeeze {
 public:
  Squeeze(const Construction& node, const PlainRow&) : axes_(node.Ints("squeeze_dims")) {}
  void Compute(Call& call) const {
    const Dims in = call.In(0).dims;
    std::vector<bool> gone(in.size(), axes_.empty());
    for (const int64_t axis : axes_) {
      const auto d = static_cast<size_t>(NormalAxis(axis, static_cast<int>(in.size()), "Squeeze"));
      if (in[d] != 1) {
        Refuse("Can not squeeze dim[" + std::to_string(d) + "], expected a dimension of 1, got " +
               std::to_string(in[d]));
      }
      gone[d] = true;
    }
    Dims dims;
    for (size_t d = 0; d < in.size(); ++d) {
      if (!gone[d] || in[d] != 1) dims.push_back(in[d]);
    }
    call.OutIsInput(0, 0, dims);
  }

 private:
  const std::vector<int64_t> axes_;
};

class Identity {
 public:
  Identity(const Construction&, const PlainRow&) {}
  void Compute(Call& call) const {
    for (int i = 0; i < call.outputs(); ++i) call.OutIsInput(i, i, call.In(i).dims);
  }
};

// What is asked of the shape of each input; answers lie in host memory.
struct AskRow {
  OpRow row;
  enum What { kShape, kRank, kSize } what;
};
class Ask {
 public:
  Ask(const Construction&, const AskRow& row) : what_(row.what) {}
  void Compute(Call& call) const {
    for (int i = 0; i < call.outputs(); ++i) {
      const Tensor in = call.In(i);
      const bool vector = what_ == AskRow::kShape;
      const Dims answer = vector ? in.dims : Dims{what_ == AskRow::kRank ? in.rank() : in.count};
      const Tensor out = call.Out(i, vector ? Dims{in.rank()} : Dims{});
      for (size_t d = 0; d < answer.size(); ++d) {
        if (out.type == TF_INT64) {
          static_cast<int64_t*>(out.data)[d] = answer[d];
        } else {
          static_cast<int32_t*>(out.data)[d] = static_cast<int32_t>(answer[d]);
        }
      }
    }
  }

 private:
  const AskRow::What what_;
};

constexpr PlainRow kReshape[] = {{{"Reshape", kAll, "T", "shape"}}};
constexpr PlainRow kExpandDims[] = {{{"ExpandDims", kAll, "T", "dim"}}};
constexpr PlainRow kSqueeze[] = {{{"Squeeze", kAll}}};
constexpr PlainRow kIdentity[] = {{{"Identity", kAll}},
                                  {{"StopGradient", kAll}},
                                  {{"PreventGradient", kAll}},
                                  {{"Snapshot", kAll}},
                                  {{"IdentityN", 0}}};
constexpr AskRow kAsk[] = {{{"Shape", kAll, "T", "output"}, AskRow::kShape},
                           {{"ShapeN", kAll, "T", "output"}, AskRow::kShape},
                           {{"Rank", kAll, "T", "output"}, AskRow::kRank},
                           {{"Size", kAll, "T", "output"}, AskRow::kSize}};

}  // namespace

void RegisterReshape() {
  RegisterTable<Reshape, kReshape>();
  RegisterTable<ExpandDims, kExpandDims>();
  RegisterTable<Squeeze, kSqueeze>();
  RegisterTable<Identity, kIdentity>();
  RegisterTable<Ask, kAsk>();
}

}  // namespace opencl
